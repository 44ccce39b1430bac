package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/catalog"
)

// list is a tool whose file says how the demo plans with it: one call, whose rows go to the sheet and whose count is
// told.
type list struct {
	catalog.File
	asks *regexp.Regexp
	// departments says whether the tool takes one.
	departments bool
}

// people is the list that a month's records are about.
const people = "list_employees"

// allLists are those of the catalog, first the people; the i-th is the topic lists+i.
var allLists = sync.OnceValue(func() (all []*list) {
	files, _ := catalog.Files() // a test reads every file
	for _, f := range files {
		if f.Demo == nil {
			continue
		}
		var input struct{ Properties map[string]any }
		_ = json.Unmarshal(f.Input, &input) // then it takes no department
		at := len(all)
		if f.Name == people {
			at = 0
		}
		all = slices.Insert(all, at, &list{File: f, asks: regexp.MustCompile(`(?i)` + f.Demo.Asks),
			departments: input.Properties["department"] != nil})
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

// read is the list that is read first: the topic's own, or the people whom a month's records are about.
func (t topic) read() *list { return allLists()[max(0, t-lists)] }

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

// ofList is a text about a list, by its name in the list's own words or in those about any.
func (t words) ofList(l *list, form string) string {
	w := l.Demo.Words[t.Locale]
	return strings.NewReplacer("{things}", w.Things, "{tab}", w.Tab, "{from}", w.From, "{handled}",
		w.Handled).Replace(or(w.Forms[form], t.List[form]))
}

// listStep is the step that fetches a list.
func (t words) listStep(l *list) step {
	return step{l.Title.In(t.Locale), t.ofList(l, "description"), t.ofList(l, "expected")}
}

// examples say what could be asked for.
func (t words) examples() string {
	var known []string
	for _, l := range allLists() {
		known = append(known, t.ofList(l, "can"))
	}
	last := len(known) - 1
	return strings.Replace(t.Can, "{lists}", strings.Join(known[:last], t.CanAnd)+t.CanOr+known[last], 1)
}

// listing plans one table of a list, and returns what the notice says of it.
func (p *planner) listing(l *list, of part, about string, detail func(label, path string)) {
	if found := p.fetch(l, of, about); found != "" {
		detail(p.reading.words.ofList(l, "label"), found+"count")
		p.write(of, about, columnsOf(p.reading.topic), found+l.Demo.Rows, detail)
	}
}

// fetch is the step that reads a list, of a part's department. The people of a department are asked for once.
func (p *planner) fetch(l *list, of part, about string) string {
	input := maps.Clone(object(l.Demo.Input))
	if of.department != "" {
		input["department"] = of.department
	}
	if l.Name == people {
		args, _ := json.Marshal(input) // of texts
		for _, s := range p.steps {
			if s.Tool == people && s.ToolInput == string(args) {
				return s.StepID + ".result."
			}
		}
		if about = ""; len(p.reading.departments) > 1 {
			about = fmt.Sprintf(p.reading.words.About, of.department)
		}
	}
	return p.add(p.reading.words.listStep(l).of(about), l.Name, input)
}
