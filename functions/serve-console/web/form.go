package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

// Answer returns the status of the page that shows a form again: somebody else saved meanwhile, something in it is
// wrong, or 0 if nothing is the matter.
func Answer(conflict, wrong bool) int {
	switch {
	case conflict:
		return http.StatusConflict
	case wrong:
		return http.StatusUnprocessableEntity
	}
	return 0
}

// RevisionOf returns the revision with which a form was opened; without one 0, which conflicts with all that is saved.
func RevisionOf(form url.Values) int {
	rev, _ := strconv.Atoi(form.Get("rev"))
	return rev
}

// Alike reports whether two values are written alike. They have only strings, numbers, booleans and lists of these.
func Alike(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// Ticked returns the values of ticked boxes, each once, without the empty one by which a form shows that it had boxes.
func Ticked(values []string) (out []string) {
	for _, v := range values {
		if strings.TrimSpace(v) != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Lines returns the lines of a text that aren't blank, without the blanks around them.
func Lines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// mostFaults bounds the faults that a page lists: a file may have tens of thousands, too many for an answer.
const mostFaults = 100

// Fault is what is wrong with a file or a form, and where: on a line, or at an address.
type Fault struct{ Line, At, Label, Text string }

// Box is a checkbox, or a radio button.
type Box struct {
	Value, Text, Note string
	On                bool
}

// Distinct writes its key behind each name that looks like another one.
func Distinct(names map[string]string) {
	for range 2 { // somebody may be called as somebody else is written then
		n := map[string]int{}
		for _, name := range names {
			n[language.Folded(name)]++
		}
		for key, name := range names {
			if n[language.Folded(name)] > 1 {
				names[key] = name + " (" + key + ")"
			}
		}
	}
}

// typed returns an input for a value, or for one of some choices. how has words: required, off, date, the class
// mono, number or currency, the rows of a longer text such as 8rows, the most characters such as 300most, and the mode
// of a keyboard.
func typed(name, label string, value any, how string) Field {
	e := Field{Name: name, Label: label}
	if e.Choices, _ = value.([]Choice); e.Choices == nil {
		e.Value = fmt.Sprint(value)
	}
	e.ID = strings.NewReplacer(".", "-", "_", "-").Replace(name)
	for word := range strings.FieldsSeq(how) {
		switch word {
		case "required":
			e.Required = true
		case "off":
			e.Off = true
		case "mono", "number":
			e.Class = word
		case "date":
			e.Type = word
		case "currency":
			e.Class, e.Most = word, 3
		default:
			if rows, long := strings.CutSuffix(word, "rows"); long {
				e.Rows = rows
			} else if most, is := strings.CutSuffix(word, "most"); is {
				e.Most, _ = strconv.Atoi(most)
			} else {
				e.Mode = word
			}
		}
	}
	return e
}

// hinted adds a hint, which the problems of an input stand behind.
func hinted(hint string, problems any, e Field) Field {
	if e.Hint, e.Problems = hint, problems; hint != "" {
		e.HintID = e.ID + "-about"
	}
	return e
}

// faulty returns the problem of a field, if it has one.
func faulty(all map[string]string, field string) (out []Fault) {
	if text := all[field]; text != "" {
		out = append(out, Fault{Text: text})
	}
	return out
}
