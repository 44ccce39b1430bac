package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// Value is a part of a step's result as surfaces other than Slack show it: one text or several, or a table. Personal
// data is masked where cards mask it.
type Value struct {
	Name  string   // the names that lead to the value
	Texts []string // empty for a table
	Table *Sheet
}

// Sheet shows a list of objects or of lists.
type Sheet struct {
	Columns []string
	Rows    [][]string
}

// ResultValues returns a step's result, with personal data masked. ok is false if the result isn't JSON.
func ResultValues(text []byte) (values []Value, ok bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return nil, false
	}
	members, isObject := legible.MaskAll(v).(map[string]any)
	if !isObject {
		members = map[string]any{"result": legible.MaskAll(v)}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		values = flatten(values, memberName(name), members[name])
	}
	return values, true
}

// flatten adds all values of v. Different ones give different lists.
func flatten(out []Value, name string, v any) []Value {
	texts := []string{}
	switch v := v.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			out = flatten(out, name+explain.PathSign+memberName(member), v[member])
		}
		if len(v) > 0 {
			return out
		}
		texts = []string{"{}"}
	case []any:
		if t := tableOf(v); t != nil {
			return append(out, Value{Name: name, Table: t})
		}
		several := len(v) > 1 && !slices.ContainsFunc(v, func(x any) bool {
			switch x.(type) {
			case map[string]any, []any:
				return true
			}
			return strings.Contains(plainly(x), "\n")
		})
		for i, x := range v {
			if several {
				texts = append(texts, plainly(x))
				continue
			}
			out = flatten(out, name+explain.PathSign+fmt.Sprint(i+1), x)
		}
		switch {
		case len(v) == 0:
			texts = []string{"[]"}
		case !several:
			return out
		}
	default:
		texts = []string{plainly(v)}
	}
	return append(out, Value{Name: name, Texts: texts})
}

// tableOf makes a table of a list if all its items are objects or all are lists.
func tableOf(list []any) *Sheet {
	var keys []string
	width, objects := 0, 0
	for _, item := range list {
		switch item := item.(type) {
		case map[string]any:
			objects++
			keys = slices.AppendSeq(keys, maps.Keys(item))
		case []any:
			width = max(width, len(item))
		default:
			return nil
		}
	}
	if len(keys) == 0 && width == 0 || objects > 0 && objects < len(list) {
		return nil
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	keys = slices.Compact(keys)
	t := &Sheet{}
	for _, key := range keys {
		t.Columns = append(t.Columns, memberName(key))
	}
	for i := range width {
		t.Columns = append(t.Columns, fmt.Sprint(i+1))
	}
	for _, item := range list {
		row := make([]string, len(t.Columns))
		switch item := item.(type) {
		case map[string]any:
			for i, key := range keys {
				if v, had := item[key]; had {
					row[i] = plainly(v)
				}
			}
		case []any:
			for i, v := range item {
				row[i] = plainly(v)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rank orders columns: ids that identify a row come first, then names.
func rank(key string) int {
	switch lower := strings.ToLower(key); {
	case lower == "id" || lower == "num" || strings.HasSuffix(lower, "_id"):
		return 0
	case strings.Contains(lower, "name") || lower == "title" || lower == "label":
		return 1
	}
	return 2
}

// plainly shows a value. A text stands in quotation marks only if it could be taken for another type, as "5".
func plainly(v any) string {
	switch v := v.(type) {
	case string:
		return legible.Literal(v)
	case json.Number:
		return v.String()
	}
	return compact(v)
}

// memberName quotes a member's name that could be taken for an item's number or for two names.
func memberName(name string) string {
	if strings.Contains(name, strings.TrimSpace(explain.PathSign)) {
		return legible.Quoted(name)
	}
	return legible.Literal(name)
}

func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // can't fail for decoded JSON
	return strings.TrimSpace(b.String())
}
