package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// Value is a part of a step's result as surfaces other than Slack show it: one text or several, or a table. Personal
// data is masked where cards mask it.
type Value struct {
	Name  string   // the names that lead to the value
	Texts []string // empty for a table
	Table *Table
}

// Table shows a list of objects or of lists.
type Table struct {
	Columns []string
	Rows    [][]string
}

// ResultValues returns a step's result, with personal data masked. ok is false if the result isn't JSON.
func ResultValues(text []byte) (values []Value, ok bool) {
	v, read := decoded(string(text))
	if !read {
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

// mostMade is how many characters say what was made.
const mostMade = 200

// Made says what the results of writes name, each in its turn: its address, or else its ids and numbers with what
// people call them.
func Made(locale string, result aggregate.JSON) (all []string) {
	v, read := decoded(string(result))
	members, isObject := v.(map[string]any)
	if !read || !isObject {
		return nil
	}
	if url, _ := members["url"].(string); Linked(url) != "" {
		return []string{url}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, is := members[name].(string)
		if n, number := members[name].(json.Number); number {
			text, is = n.String(), true
		}
		if is && text != "" && rules.Identifies(name) {
			all = append(all, legible.OneLine(explain.PartOfResult(locale, name))+" "+legible.OneLine(legible.Mask(text)))
		}
	}
	return all
}

// MadeBy is what all that was made is called, in a line.
func MadeBy(all []string) string { return legible.Beginning(strings.Join(all, " · "), mostMade) }

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
		several := len(v) > 1 && !slices.ContainsFunc(v,
			func(x any) bool { return !isScalar(x) || strings.Contains(scalar(x), "\n") })
		for i, x := range v {
			if several {
				texts = append(texts, scalar(x))
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
		texts = []string{scalar(v)}
	}
	return append(out, Value{Name: name, Texts: texts})
}

// tableOf makes a table of a list if all its items are objects or all are lists.
func tableOf(list []any) *Table {
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
	t := &Table{}
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
					row[i] = scalar(v)
				}
			}
		case []any:
			for i, v := range item {
				row[i] = scalar(v)
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
