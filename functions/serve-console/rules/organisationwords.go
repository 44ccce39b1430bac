package rules

import (
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
)

// texts are the texts of these pages in the viewer's language.
type texts struct{ web.Texts }

// people says how many people something concerns.
func (t texts) people(n int) string { return t.Say("people", "n", web.Count(int64(n))) }

// kind names how somebody is employed.
func (t texts) kind(k organisation.Kind) string { return t.In("kinds", k) }

// facts count what a chart has.
func (t texts) facts(c *organisation.Chart) []fact {
	n := map[organisation.Kind]int{}
	for _, p := range c.People() {
		n[p.Kind]++
	}
	var kinds []string
	for _, k := range []organisation.Kind{organisation.Employee, organisation.Contractor, organisation.Temporary} {
		if n[k] > 0 {
			kinds = append(kinds, t.In("counted_kinds", k)+" "+web.Count(int64(n[k])))
		}
	}
	all := t.people(len(c.People()))
	if len(kinds) > 0 {
		all += t.Say("of_kinds", "kinds", strings.Join(kinds, t.Say("and")))
	}
	return []fact{{t.Say("works_here"), all}, {t.Say("departments"), web.Count(int64(len(c.Departments())))}}
}

// person names a person.
func (t texts) person(p organisation.Person) string { return called(p.Name, p.Number) }

func called(name, id string) string {
	if name == "" {
		return id
	}
	return name + " (" + id + ")"
}

// numbered names the person of a number on a day, or of another day on which there is one.
func (t texts) numbered(o *organisation.Organisation, day organisation.Date, number string) string {
	return called(o.Name(number, day), number)
}

// of names the person of a number in a chart.
func (t texts) of(c *organisation.Chart, number string) string {
	p, _ := c.Person(number)
	return called(p.Name, number)
}

// department names a department.
func (t texts) department(d organisation.Department) string { return called(d.Name, d.Code) }

// departmentOf names the department of a code in a chart.
func (t texts) departmentOf(c *organisation.Chart, code string) string {
	if path := c.Path(code); len(path) > 0 {
		return t.department(path[0])
	}
	return code
}

// accountOf names an account.
func (t texts) accountOf(names map[string]string) func(id string) string {
	return func(id string) string { return called(names[id], id) }
}

// joined says what belongs to one thing.
func (t texts) joined(one string, all []string, named func(string) string) string {
	var said []string
	for _, x := range all {
		said = append(said, named(x))
	}
	return one + ": " + strings.Join(said, t.Say("and"))
}

// matched names somebody's accounts.
func (t texts) matched(all []organisation.Matched, named func(id string) string) string {
	var said []string
	for _, a := range all {
		text := named(a.ID)
		if a.Guest {
			text += " " + t.Say("guest")
		}
		said = append(said, text)
	}
	if said == nil {
		return t.Say("no_account")
	}
	return strings.Join(said, t.Say("and"))
}

// nameChange says that a number has another name from a day on.
func (t texts) nameChange(x organisation.NameChange) string {
	return t.Say("renamed", "number", x.Number, "was", x.Was, "is", x.Is, "day", x.On)
}

// gaps lists what is missing today, and what else is missing from the next day on which anything changes.
func (t texts) gaps(o *organisation.Organisation, today organisation.Date) []peopleList {
	chart, known := o.Chart(today), map[string]bool{}
	now := chart.Gaps()
	all := []peopleList{listOf("gaps", t.Say("gaps"), t.Say("gaps_note"), now, t.gapOf(chart))}
	if next, ok := o.NextChange(today); ok {
		for _, g := range now {
			known[fmt.Sprint(g)] = true
		}
		later := o.Chart(next)
		others := slices.DeleteFunc(later.Gaps(), func(g organisation.Gap) bool { return known[fmt.Sprint(g)] })
		title := t.Say("gaps_later", "day", next)
		all = append(all, listOf("gaps-later", title, t.Say("gaps_note"), others, t.gapOf(later)))
	}
	return filledLists(all...)
}

// gapOf says what is missing on a chart's day.
func (t texts) gapOf(c *organisation.Chart) func(organisation.Gap) string {
	return func(g organisation.Gap) string {
		var all []string
		for _, number := range g.Numbers {
			all = append(all, t.of(c, number))
		}
		about := t.departmentOf(c, g.Department)
		if g.Number != "" {
			about = t.of(c, g.Number)
		}
		return t.In("gap_rules", g.Rule, "about", about, "people", strings.Join(all, t.Say("and")))
	}
}

// column names a column as files do, in the viewer's language.
func (t texts) column(c organisation.Column) string {
	return c.Header(t.Locale())
}

// problem is what is wrong with a cell.
type fileProblem struct{ Row, Column, Value, Text string }

// problem says what is wrong, where, and what another row has to do with it.
func (t texts) problem(p organisation.Problem) fileProblem {
	out := fileProblem{Row: t.Say("whole_file"), Value: p.Value,
		Text: t.In("rules", p.Rule, "limit", web.Count(int64(p.Limit)))}
	if p.Row > 0 {
		out.Row = fmt.Sprint(p.Row)
	}
	if p.Column != "" {
		out.Column = t.column(p.Column)
	}
	if p.Other > 0 {
		out.Text += " " + t.Say("see_row", "n", p.Other)
	}
	if p.On > 0 {
		out.Text += " " + t.Say("from_day", "day", p.On)
	}
	return out
}
