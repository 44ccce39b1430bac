package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/catalog"
	"ringi/shared/words/lazy"
)

// list is a tool that the demo plans from its catalog file. Its rows go to the sheet, and the notice tells their
// number.
type list struct {
	catalog.File
	asks        *lazy.Regexp
	departments bool
	past        bool // it can be asked as of a past month
}

// people is the tool that lists the people for whom records of a month are read.
const people = "list_employees"

// allLists are the catalog's lists, people first. The i-th one has the topic lists+i.
var allLists = sync.OnceValue(func() (all []*list) {
	files, _ := catalog.Files() // a test reads every file
	for _, f := range files {
		if f.Demo == nil {
			continue
		}
		var input struct{ Properties map[string]any }
		_ = json.Unmarshal(f.Input, &input) // a tool without a readable schema takes no department
		at := len(all)
		if f.Name == people {
			at = 0
		}
		all = slices.Insert(all, at, &list{File: f, asks: &lazy.Regexp{Text: `(?i)` + f.Demo.Asks},
			departments: input.Properties["department"] != nil, past: input.Properties["as_of"] != nil})
	}
	return all
})

// list is the topic's list, nil for a topic that is planned in code.
func (t topic) list() *list {
	if t < lists {
		return nil
	}
	return allLists()[t-lists]
}

// read is the list that the first step reads: the topic's own, or the list of people for a topic about records.
func (t topic) read() *list { return allLists()[max(0, t-lists)] }

// listOf is the list of a tool's rows, nil if the tool has none.
func listOf(tool string) *list {
	i := slices.IndexFunc(allLists(), func(l *list) bool { return l.Name == tool })
	if i < 0 {
		return nil
	}
	return allLists()[i]
}

func (t topic) takesDepartments() bool {
	return t < meeting || t >= lists && t.list().departments
}

// ofList fills in the list's own form of that name, or else the form that all lists share.
func (t words) ofList(l *list, form string) string {
	w := l.Demo.Words[t.Locale]
	return strings.NewReplacer("{things}", w.Things, "{tab}", w.Tab, "{from}", w.From, "{handled}",
		w.Handled).Replace(cmp.Or(w.Forms[form], t.List[form]))
}

// listStep is the step that reads a list, as of a month unless that is 0.
func (t words) listStep(l *list, m month) step {
	form := "description"
	if m != 0 {
		form = "descriptionThen"
	}
	return step{l.Title.In(t.Locale), strings.ReplaceAll(t.ofList(l, form), "{when}", t.month(m)), t.ofList(l, "expected")}
}

// examples lists requests that the demo understands.
func (t words) examples() string {
	var known []string
	for _, l := range allLists() {
		known = append(known, t.ofList(l, "can"))
	}
	last := len(known) - 1
	return strings.Replace(t.Say["can"], "{lists}", strings.Join(known[:last], t.Say["canAnd"])+t.Say["canOr"]+known[last], 1)
}

// listing plans one table of a list, and returns the table's name for the notice.
func (p *planner) listing(l *list, of part, about string, detail func(label, path string)) {
	if found := p.fetch(l, of, about); found != "" {
		detail(p.reading.words.ofList(l, "label"), found+"count")
		p.write(of, about, columnsOf(p.reading.topic), found+l.Demo.Rows, detail)
	}
}

// fetch adds the step that reads a list for a part's department and month. Who was employed, and where, is asked as of
// the month, so that later changes don't count.
func (p *planner) fetch(l *list, of part, about string) string {
	input := maps.Clone(object(l.Demo.Input))
	if of.department != "" {
		input["department"] = of.department
	}
	if of.month != 0 && l.past {
		input["as_of"] = fmt.Sprintf("%d-%02d", of.month.year(), of.month.name())
	}
	return p.add(p.reading.words.listStep(l, of.month).of(about), l.Name, input)
}
