package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ringi/shared/words/legible"
	"ringi/shared/words/mask"
)

// Part is a value in what a model was sent, with the names that lead to it.
type Part struct{ Path, Text string }

// maxParts and maxSent bound what a page shows of what a model was sent: in values, and in bytes of them together.
const (
	maxParts = 2000
	maxSent  = 1 << 20
)

// Parts are the values of a JSON text, personal data masked as on cards; left are those that are not shown.
func Parts(text []byte) (parts []Part, left int) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return []Part{{"", legible.Spelled(mask.Text(legible.Beginning(string(text), maxSent)))}}, 0
	}
	room := maxSent
	walk(mask.All(v), "", func(path, text string) {
		if len(parts) == maxParts || len(text) > room {
			left++
			return
		}
		room -= len(text)
		parts = append(parts, Part{legible.OneLine(path), legible.Spelled(text)})
	})
	return parts, left
}

func walk(v any, path string, say func(path, text string)) {
	under := func(name string) string {
		if path == "" {
			return name
		}
		return path + " › " + name
	}
	switch v := v.(type) {
	case nil: // what is not set was not sent
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], under(name), say)
		}
	case []any:
		for i, x := range v {
			walk(x, under(fmt.Sprint(i+1)), say)
		}
	case string:
		say(path, v)
	default:
		b, _ := json.Marshal(v) // of decoded JSON it can't fail
		say(path, string(b))
	}
}
