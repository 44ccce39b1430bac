package demo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/catalog"
)

// list is a tool whose file says how the demo plans with it: one call, whose rows go to the sheet and whose count is told.
type list struct {
	catalog.File
	asks *regexp.Regexp
	// departments says whether the tool takes one.
	departments bool
}

// allLists are those of the catalog; the i-th is the topic lists+i.
var allLists = sync.OnceValue(func() (all []*list) {
	files, _ := catalog.Files() // a test reads every file
	for _, f := range files {
		if f.Demo == nil {
			continue
		}
		var input struct{ Properties map[string]any }
		_ = json.Unmarshal(f.Input, &input) // then it takes no department
		all = append(all, &list{File: f, asks: regexp.MustCompile(`(?i)` + f.Demo.Asks), departments: input.Properties["department"] != nil})
	}
	return all
})

// list is what a topic lists, nil for every topic that is planned in code.
func (t topic) list() *list {
	if t < lists {
		return nil
	}
	return allLists()[t-lists]
}

// listOf is the list that a tool gives, nil for none.
func listOf(tool string) *list {
	i := slices.IndexFunc(allLists(), func(l *list) bool { return l.Name == tool })
	if i < 0 {
		return nil
	}
	return allLists()[i]
}

// takesDepartments reports whether the topic can be about some departments only.
func (t topic) takesDepartments() bool { return t < lists || t.list().departments }

// listForms are the texts about any list; {things}, {tab}, {from} and {handled} are the words of its file.
type listForms struct {
	Description, Expected, Title, Purpose, Count, Scope, ScopeOf, Read, Privacy, NoHistory, Done, Counted, Label, Sum string
}

// ofList is a text about a list.
func (t words) ofList(l *list, form string) string {
	w := l.Demo.Words[t.Locale]
	return strings.NewReplacer("{things}", w.Things, "{tab}", w.Tab, "{from}", w.From, "{handled}", w.Handled).Replace(form)
}

// listStep is the step that fetches a list.
func (t words) listStep(l *list) step {
	return step{l.Title.In(t.Locale), t.ofList(l, t.List.Description), t.ofList(l, t.List.Expected)}
}

// examples say what could be asked for.
func (t words) examples() string {
	var known []string
	for _, l := range allLists() {
		known = append(known, t.ofList(l, t.CanList))
	}
	last := len(known) - 1
	return strings.Replace(t.Can, "{lists}", strings.Join(append([]string{t.CanEmployees}, known[:last]...), t.CanAnd)+t.CanOr+known[last], 1)
}

// listing plans one table of a list, and returns what the notice says of it.
func (p *planner) listing(l *list, of part, about string, detail func(label, path string)) {
	t, input := p.reading.words, object{}
	for name, v := range l.Demo.Input {
		input[name] = v
	}
	if of.department != "" {
		input["department"] = of.department
	}
	if found := p.add(t.listStep(l).of(about), l.Name, input); found != "" {
		detail(t.ofList(l, t.List.Label), found+"count")
		p.write(of, about, columnsOf(p.reading.topic), found+l.Demo.Rows, detail)
	}
}
