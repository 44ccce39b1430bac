package large

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"ringi/shared/words/mask"
)

const (
	maxPreview = 1500 // characters
	maxText    = 120  // characters of one text in the preview
)

// previewArguments returns the preview of a call's arguments that a person reads before approving it. Personal data is
// masked except in destinations.
func previewArguments(members map[string]any) string {
	out := map[string]any{}
	for name, member := range members {
		out[name] = member
		if !mask.Destination(member) {
			out[name] = abridged(member)
		}
	}
	return short(out)
}

// preview shortens a value for people: it has every name, but texts are cut, and a list shows only its first element
// and the number of further ones. Personal data is masked.
func preview(v json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	x, err := abridgedOf(d, 0)
	if err != nil {
		return text(string(v), maxPreview)
	}
	return short(x)
}

// abridgedOf is abridged for the decoder's next value. Of a list it decodes the first element only, and leaves out what
// is too deep or too much to be seen: whole, a result of some megabytes takes some hundred.
func abridgedOf(d *json.Decoder, depth int) (any, error) {
	if depth > maxPreview {
		return "…", d.Decode(new(passed))
	}
	start, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch start {
	case json.Delim('['):
		return abridgedList(d, depth)
	case json.Delim('{'):
		return abridgedObject(d, depth)
	}
	return abridged(start), nil
}

func abridgedList(d *json.Decoder, depth int) (any, error) {
	out := []any{}
	more := 0
	for ; d.More(); more++ {
		if more > 0 {
			if err := d.Decode(new(passed)); err != nil {
				return nil, err
			}
			continue
		}
		first, err := abridgedOf(d, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, first)
	}
	if more > 1 {
		out = append(out, fmt.Sprintf("… +%d", more-1))
	}
	_, err := d.Token()
	return out, err
}

func abridgedObject(d *json.Decoder, depth int) (any, error) {
	out := map[string]any{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if len(out) > maxPreview {
			err = d.Decode(new(passed))
		} else {
			out[mask.Text(name.(string))], err = abridgedOf(d, depth+1)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}

// passed is a value that is read and not kept.
type passed struct{}

func (*passed) UnmarshalJSON([]byte) error { return nil }

func short(x any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil { // x was decoded from JSON, so this does not happen
		return ""
	}
	return cut(string(bytes.TrimSpace(out.Bytes())), maxPreview)
}

// text masks before it cuts: the rest of an e-mail address that was cut would not be recognised and masked.
func text(s string, limit int) string { return cut(mask.Text(cut(s, limit+400)), limit) }

func abridged(v any) any {
	switch v := v.(type) {
	case string:
		return text(v, maxText)
	case []any:
		if len(v) < 2 {
			return each(v)
		}
		return append(each(v[:1]), fmt.Sprintf("… +%d", len(v)-1))
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[mask.Text(name)] = abridged(member)
		}
		return out
	}
	return mask.Scalar(v)
}

func each(v []any) []any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = abridged(v[i])
	}
	return out
}

func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-3]) + "..."
}
