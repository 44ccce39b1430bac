package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/legible"
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

// flattened are all values of arguments in one order: destinations first. Two calls with
// different arguments have different lists.
func flattened(shown map[string]any) []argument {
	var out []argument
	for _, name := range sorted(shown) {
		out = flatten(out, argument{name: name, path: []string{memberName(name)}}, shown[name])
	}
	slices.SortStableFunc(out, func(a, b argument) int { return cmp.Compare(turn(a.name), turn(b.name)) })
	return out
}

// turn is an argument's position among the destinations; other arguments come after them.
func turn(name string) int {
	if i := slices.Index(destinations, name); i >= 0 {
		return i
	}
	return len(destinations)
}

func flatten(out []argument, a argument, v any) []argument {
	deeper := func(name string) argument {
		return argument{name: a.name, path: append(slices.Clone(a.path), name)}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			out = flatten(out, deeper(memberName(name)), v[name])
		}
		if len(v) > 0 {
			return out
		}
		a.values = []string{"{}"}
	case []any:
		if t, ok := tableOf(strings.Join(a.path, pathSign), v); ok {
			a.table = &t
			return append(out, a)
		}
		several := len(v) > 1 && !slices.ContainsFunc(v,
			func(x any) bool { return !isScalar(x) || strings.Contains(scalar(x), "\n") })
		for i, x := range v {
			if several {
				a.values = append(a.values, scalar(x))
				continue
			}
			out = flatten(out, deeper(fmt.Sprint(i+1)), x)
		}
		switch {
		case len(v) == 0:
			a.values = []string{"[]"}
		case !several:
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

// scalar is a value as it is shown. A text is shown as it is, but between quotation marks if it
// could be taken for another value: the text 5 for the number.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, `"`) || v == "" || json.Valid([]byte(v)) {
			return inQuotes(v)
		}
		return v
	case json.Number:
		return v.String()
	}
	return compact(v)
}

// pathSign stands between the names that lead to a value.
const pathSign = " › "

// memberName is a member's name as it is shown: quoted if it could be taken for an item's number or for two names.
func memberName(name string) string {
	if strings.Contains(name, strings.TrimSpace(pathSign)) {
		return inQuotes(name)
	}
	return scalar(name)
}

// inQuotes puts a text between quotation marks, with those inside escaped.
func inQuotes(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func sorted[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// label is an argument's name for people; the arguments of Ringi's own tools have translated names.
func (d drawing) label(path string) string {
	if known, ok := d.w.ArgumentNames[path]; ok && !d.foreign {
		return "*" + known + "*"
	}
	return "*" + inlineCode(path) + "*"
}

// inlineCode shows a text sign by sign within a line.
func inlineCode(s string) string { return coded(legible.OneLine(s)) }

// coded is a spelled text as inline code; backticks in it are replaced, so that it can't end the code.
func coded(spelled string) string {
	s := unticked(escape(spelled))
	if strings.ContainsFunc(s, legible.RightToLeft) {
		s = isolate + s + endIsolate
	}
	return "`" + s + "`"
}

// unticked is a spelled text without what would end code.
func unticked(spelled string) string { return strings.ReplaceAll(spelled, "`", "⟨U+0060⟩") }

// asWritten shows the whole of a spelled text: as it is, or as code if a sign in it would format or is
// one of the marks that cards use.
func asWritten(spelled string) string {
	s := unformatted(spelled, len(spelled))
	if strings.ReplaceAll(s, joiner, "") != escape(spelled) {
		return " " + coded(spelled) + " "
	}
	return bounded(s, units(s)+2)
}

// destinationLines has one line for each place that a call goes to.
func (d drawing) destinationLines(a argument) []string {
	var out []string
	for _, v := range a.values {
		line := d.label(strings.Join(a.path, pathSign)) + ": "
		if a.name == "recipient" && idForm().MatchString(v) {
			line += d.w.mention(v) + " "
		}
		out = append(out, line+inlineCode(v))
	}
	return out
}

// argumentParts are an argument's lines; a long text stands in a block of its own.
func (d drawing) argumentParts(a argument) []string {
	label := d.label(strings.Join(a.path, pathSign)) + ":"
	short, used := make([]string, len(a.values)), 0
	for i, v := range a.values {
		short[i] = inlineCode(v)
		used += units(v) + 1
	}
	switch long := used > maxInlineCode; {
	case len(a.values) == 1 && (long || strings.Contains(a.values[0], "\n")):
		fences, _ := fenced(unticked(legible.Spelled(a.values[0])), maxSection-200, everything)
		return append([]string{label}, fences...)
	case !long:
		return []string{label + " " + strings.Join(short, " ")}
	}
	out := []string{label}
	for _, s := range short {
		out = append(out, "• "+s)
	}
	return out
}
