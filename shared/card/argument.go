package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/legible"
)

// argument is a value that is shown by itself: one text or several, or a table.
type argument struct {
	name   string   // of the first level
	path   []string // from there to the value
	values []string
	table  *table
}

// maxInlineCode is how long a value may be to stand in its line, in characters.
const maxInlineCode = 300

// flattened are all values of arguments in one order: where the call goes first. given are
// the arguments as they are, of which shown has parts masked.
func flattened(shown, given map[string]any) []argument {
	titles := columnTitles(given["columns"])
	var out []argument
	for _, name := range sorted(shown) {
		out = flatten(out, argument{name: name, path: []string{name}}, shown[name], titles)
	}
	slices.SortStableFunc(out, func(a, b argument) int { return cmp.Compare(turn(a.name), turn(b.name)) })
	return out
}

// turn is where an argument stands among those that say where a call goes, behind all of them if it does not.
func turn(name string) int {
	if i := slices.Index(destinations, name); i >= 0 {
		return i
	}
	return len(destinations)
}

func flatten(out []argument, a argument, v any, titles map[string]string) []argument {
	deeper := func(name string) argument {
		return argument{name: a.name, path: append(slices.Clone(a.path), name)}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			out = flatten(out, deeper(name), v[name], titles)
		}
		if len(v) > 0 {
			return out
		}
		a.values = []string{"{}"}
	case []any:
		if t, ok := tableOf(strings.Join(a.path, " › "), v, titles); ok {
			a.table = &t
			return append(out, a)
		}
		for i, x := range v {
			if isScalar(x) {
				a.values = append(a.values, scalar(x))
				continue
			}
			out = flatten(out, deeper(fmt.Sprint(i+1)), x, titles)
		}
		if len(v) == 0 {
			a.values = []string{"[]"}
		}
		if len(a.values) == 0 {
			return out
		}
	default:
		a.values = []string{scalar(v)}
	}
	return append(out, a)
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return or(v, `""`)
	case json.Number:
		return v.String()
	}
	return compact(v)
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// label is an argument's name for people: those of Ringi's tools have one of ours.
func (d drawing) label(path string) string {
	if known, ok := d.w.ArgumentNames[path]; ok && !d.foreign {
		return "*" + known + "*"
	}
	return "*" + inlineCode(path) + "*"
}

// spelled is a value of which nothing hides, and which ends no code.
func spelled(s string) string { return strings.ReplaceAll(legible.Spelled(s), "`", "⟨U+0060⟩") }

// inlineCode shows a text sign by sign within a line; it may be cut between lines only.
func inlineCode(s string) string {
	s = strings.ReplaceAll(escape(or(spelled(s), `""`)), "\n", "⟨U+000A⟩")
	if strings.ContainsFunc(s, legible.RightToLeft) {
		s = isolate + s + endIsolate
	}
	return "`" + s + "`"
}

// destinationLines are one line for each place that a call goes to.
func (d drawing) destinationLines(a argument) []string {
	var out []string
	for _, v := range a.values {
		line := d.label(strings.Join(a.path, " › ")) + ": "
		if a.name == "recipient" && idForm().MatchString(v) {
			line += d.w.mention(v) + " "
		}
		out = append(out, line+inlineCode(v))
	}
	return out
}

// argumentParts are an argument's lines; a long text stands in a block of its own.
func (d drawing) argumentParts(a argument) []string {
	label := d.label(strings.Join(a.path, " › "))
	var short []string
	long, used := false, 0
	for _, v := range a.values {
		short = append(short, inlineCode(v))
		used += units(v) + 1
		long = long || strings.Contains(v, "\n")
	}
	switch {
	case !long && used <= maxInlineCode:
		return []string{label + ": " + strings.Join(short, " ")}
	case len(a.values) > 1 && !long:
		out := []string{label + ":"}
		for _, s := range short {
			out = append(out, "• "+s)
		}
		return out
	}
	out := []string{label + ":"}
	for _, v := range a.values {
		fences, _ := fenced(spelled(v), maxSection-200, everything)
		out = append(out, fences...)
	}
	return out
}
