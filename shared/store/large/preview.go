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
	var x any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if d.Decode(&x) != nil {
		return text(string(v), maxPreview)
	}
	return short(abridged(x))
}

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
