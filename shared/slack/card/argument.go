package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// argument is one leaf of a step's arguments: one text or several, or a table.
type argument struct {
	name   string   // of the top-level argument
	path   []string // the names that lead from the top level to the value
	values []string
	table  *table
}

// maxInlineCode is the greatest length of a value, in characters, that is shown within a line.
const maxInlineCode = 300

// flattened lists all values of the arguments, destinations first. Different arguments give different lists.
func flattened(shown map[string]any) []argument {
	var out []argument
	names := sorted(shown)
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(a, b)) })
	for _, name := range names {
		out = flatten(out, argument{name: name, path: []string{memberName(name)}}, shown[name])
	}
	return out
}

// turn sorts arguments: destinations come first, in their own order.
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

// scalar shows a value. A text stands in quotation marks only if it could be taken for another type, as "5" for the
// number.
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

const pathSign = " › "

// memberName quotes a member's name that could be taken for an item's number or for two names.
func memberName(name string) string {
	if strings.Contains(name, strings.TrimSpace(pathSign)) {
		return inQuotes(name)
	}
	return scalar(name)
}

// inQuotes puts a text in quotation marks and escapes those inside.
func inQuotes(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func sorted[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// label returns an argument's name for people. Only the arguments of Ringi's own tools have translated names.
func (d drawing) label(path string) string {
	if known, ok := d.w.ArgumentNames[path]; ok && !d.foreign {
		return "*" + known + "*"
	}
	return "*" + inlineCode(path) + "*"
}

// inlineCode shows a text as code within a line, with invisible characters spelled out.
func inlineCode(s string) string { return coded(legible.OneLine(s)) }

// coded formats a text as inline code. It replaces backticks, which would end the code. The caller has already spelled
// out invisible characters.
func coded(spelled string) string {
	s := unticked(escape(spelled))
	if strings.ContainsFunc(s, legible.RightToLeft) {
		s = isolate + s + endIsolate
	}
	return "`" + s + "`"
}

// tickedApart spells out backticks that would end a block of code. Fewer than three don't.
func tickedApart(spelled string) string {
	return fenceForm.Get().ReplaceAllStringFunc(spelled, unticked)
}

var fenceForm = language.Regexp{Text: "`{3,}"}

func unticked(spelled string) string { return strings.ReplaceAll(spelled, "`", "⟨U+0060⟩") }

// asWritten shows a text completely: as code if it has a character that would format or a mark that cards use, else as
// it is. The caller has already spelled out invisible characters.
func asWritten(spelled string) string {
	s := unformatted(spelled, len(spelled))
	if strings.ReplaceAll(s, joiner, "") != escape(spelled) {
		return " " + coded(spelled) + " "
	}
	return bounded(s, units(s)+2)
}

// destinationLines returns a line for each place that a call writes or sends to.
func (d drawing) destinationLines(a argument) []string {
	var out []string
	for _, v := range a.values {
		line := d.label(strings.Join(a.path, pathSign)) + ": "
		if a.name == "recipient" && idForm.Get().MatchString(v) {
			line += d.w.mention(v) + " "
		}
		out = append(out, line+inlineCode(v))
	}
	return out
}

// argumentParts returns an argument's lines. A long text, or one with a backtick, gets a block of its own.
func (d drawing) argumentParts(a argument) []string {
	label := d.label(strings.Join(a.path, pathSign)) + ":"
	short, used := make([]string, len(a.values)), 0
	for i, v := range a.values {
		short[i] = inlineCode(v)
		used += units(v) + 1
	}
	switch long := used > maxInlineCode; {
	case len(a.values) == 1 && (long || strings.ContainsAny(a.values[0], "\n`")):
		fences, _ := fenced(tickedApart(legible.Spelled(a.values[0])), maxSection-200, everything)
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
