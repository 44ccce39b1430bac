package rules

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rows is the part of a pointer that stands for every row of a list.
const rows = "*"

// tokens returns the parts of a JSON pointer (RFC 6901), without its escapes.
func tokens(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

// at returns the values at a pointer, in the order of the rows. Lists are entered by * only, so that no row is left
// out.
func at(v any, path []string) ([]any, Why) {
	if len(path) == 0 {
		return []any{v}, ""
	}
	switch v := v.(type) {
	case map[string]any:
		member, ok := v[path[0]]
		switch _, ref := v["$ref"]; {
		case ref:
			return nil, WhyReference
		case path[0] == rows:
			return nil, WhyRows
		case !ok:
			return nil, WhyMissing
		}
		return at(member, path[1:])
	case []any:
		if path[0] != rows || len(v) == 0 {
			return nil, WhyRows // vendors may take an empty list for everything
		}
		var all []any
		for _, row := range v {
			values, why := at(row, path[1:])
			if why != "" {
				return nil, why
			}
			all = append(all, values...)
		}
		return all, ""
	}
	return nil, WhyMissing
}

// maxNested is how deep arguments may be nested for their amount to be read.
const maxNested = 32

// decode reads arguments. It refuses what vendors may read in two ways: a member that is there twice, also in other
// letters, text that isn't UTF-8, and a second value.
func decode(text string) (any, bool) {
	if !utf8.ValidString(text) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := value(d, maxNested)
	if err != nil {
		return nil, false
	}
	_, err = d.Token()
	return v, err == io.EOF
}

var (
	errTwice = errors.New("a member is there twice")
	errDeep  = errors.New("it is nested too deep")
)

func value(d *json.Decoder, deeper int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch _, nested := token.(json.Delim); {
	case nested && deeper == 0:
		return nil, errDeep
	case token == json.Delim('{'):
		return object(d, deeper-1)
	case nested:
		return list(d, deeper-1)
	}
	return token, nil
}

func object(d *json.Decoder, deeper int) (any, error) {
	members, seen := map[string]any{}, map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		folded := foldedCase(key)
		if seen[folded] {
			return nil, errTwice
		}
		seen[folded] = true
		if members[key], err = value(d, deeper); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return members, err
}

// foldedCase returns the same for all names that strings.EqualFold takes for one, as decoders of vendors may.
func foldedCase(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

func list(d *json.Decoder, deeper int) (any, error) {
	all := []any{}
	for d.More() {
		v, err := value(d, deeper)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	_, err := d.Token()
	return all, err
}
