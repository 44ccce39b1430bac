package inbound

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Decode reads JSON into a struct. Its Refusal names the wrong field, prefixed with name.
func Decode(b []byte, into any, name string) error {
	err := json.Unmarshal(b, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		// The path also names the structs of Go that are embedded on the way, which begin with a capital letter.
		path := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(s string) bool { return s != "" && s[0] <= 'Z' })
		return Bad("%s.%s must not be a JSON %s", name, strings.Join(path, "."), wrong.Value)
	case err != nil:
		return Bad("%s is not a JSON object", name)
	}
	return nil
}

var idForm = language.Regexp{Text: `^[A-Za-z0-9._:-]{1,64}$`}

// CheckIDs is CheckID for several fields, given as pairs of name and value.
func CheckIDs(fields ...string) error {
	for pair := range slices.Chunk(fields, 2) {
		if err := CheckID(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// CheckTS refuses a value that is no timestamp of Slack's.
func CheckTS(field, ts string) error {
	if _, err := aggregate.ParseTS(ts); err != nil {
		return Bad("%s must be a Slack timestamp like 1713450000.000100", field)
	}
	return nil
}

// CheckID refuses a value that can't be an id of Slack's. Ids become parts of mentions and keys, so they must have no
// character with a meaning there.
func CheckID(field, id string) error {
	if !idForm.Get().MatchString(id) {
		return Bad("%s must have 1 to 64 letters, digits or ._:-", field)
	}
	return nil
}
