package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const (
	maxPreview = 1500 // characters
	maxText    = 120  // characters of one text in it
)

// preview is a value in short, for people: every name is there, texts are cut, and
// a list shows its first element and how many more there are. What a person has to
// judge before a call (the recipient, the sheet) is short, and so stays whole.
func preview(v json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return cut(string(v), maxPreview)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(abridged(x)) != nil {
		return cut(string(v), maxPreview)
	}
	return cut(string(bytes.TrimSpace(out.Bytes())), maxPreview)
}

func abridged(v any) any {
	switch v := v.(type) {
	case string:
		return cut(v, maxText)
	case []any:
		if len(v) < 2 {
			return each(v)
		}
		return append(each(v[:1]), fmt.Sprintf("… +%d", len(v)-1))
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = abridged(member)
		}
		return out
	}
	return v
}

func each(v []any) []any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = abridged(v[i])
	}
	return out
}

// cut keeps the first n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-3]) + "..."
}
