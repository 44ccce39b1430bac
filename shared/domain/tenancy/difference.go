package tenancy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

// Difference is a field that two settings have otherwise. A field within another is named after it, with a dot between;
// a list is one field.
type Difference struct {
	Field string         `json:"-"`
	Was   aggregate.JSON `json:"was"`
	Is    aggregate.JSON `json:"is"`
}

// section is the field of the settings that the difference stands in.
func (d Difference) section() string {
	name, _, _ := strings.Cut(d.Field, ".")
	return name
}

// Differences are those between two settings, by name, nil when there are none.
func Differences(was, is Settings) []Difference { return differences(plain(was), plain(is)) }

// plain are settings without nil lists: an empty list may come as nil, and says the same.
func plain(x Settings) Settings {
	for _, f := range x.Fields() {
		if f.Value.Kind() == reflect.Slice && f.Value.IsNil() {
			f.Value.Set(reflect.MakeSlice(f.Value.Type(), 0, 0))
		}
	}
	return x
}

func differences(was, is any) (all []Difference) {
	before, after := leaves(was), leaves(is)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !bytes.Equal(before[name], after[name]) {
			all = append(all, Difference{Field: name, Was: aggregate.JSON(before[name]), Is: aggregate.JSON(after[name])})
		}
	}
	return all
}

// leaves are the values of an object and of objects within it.
func leaves(v any) map[string]json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode settings: %v", err)) // of texts, numbers, flags and lists of them
	}
	out := map[string]json.RawMessage{}
	var within func(before string, text json.RawMessage)
	within = func(before string, text json.RawMessage) {
		var members map[string]json.RawMessage
		if text[0] != '{' || json.Unmarshal(text, &members) != nil {
			out[before] = text
			return
		}
		for name, value := range members {
			within(strings.TrimPrefix(before+"."+name, "."), value)
		}
	}
	within("", text)
	return out
}

// detailsOf are what the audit log says of a change: the names of the fields, as always, and what each was and is.
// Settings hold no secrets.
func detailsOf(all []Difference) map[string]any {
	changes, fields := map[string]any{}, []string{}
	for _, d := range all {
		changes[d.Field] = map[string]any{"was": json.RawMessage(d.Was), "is": json.RawMessage(d.Is)}
		if !slices.Contains(fields, d.section()) {
			fields = append(fields, d.section())
		}
	}
	return map[string]any{"fields": fields, "changes": changes}
}

// ReadDifferences are those of an audit entry's details, by name; none of an entry of an earlier release, which names
// fields only, or of another action.
func ReadDifferences(details aggregate.JSON) (all []Difference, fields []string) {
	var d struct {
		Fields  []string `json:"fields"`
		Changes map[string]struct {
			Was json.RawMessage `json:"was"`
			Is  json.RawMessage `json:"is"`
		} `json:"changes"`
	}
	if json.Unmarshal([]byte(details), &d) != nil {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(d.Changes)) {
		all = append(all, Difference{Field: name, Was: aggregate.JSON(d.Changes[name].Was), Is: aggregate.JSON(d.Changes[name].Is)})
	}
	return all, d.Fields
}
