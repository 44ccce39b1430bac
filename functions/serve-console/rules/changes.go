package rules

import (
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
)

// day is what differs from a day on.
type day struct {
	Title, Sum string
	Rows       []changedRow
	More       int
	Leaving    int // people, if they are so many that the file may lack some
}

// changedRow is a difference: of whom or what, in which respect.
type changedRow struct{ Of, What, Was, Is string }

// differing writes the rows of a day. It writes no more of each kind than are shown.
type differing struct {
	t       texts
	was, is *organisation.Chart
	day     day
}

// day says what differs from a day on.
func (t texts) day(x organisation.DayDifferences, today organisation.Date, was, is *organisation.Organisation) day {
	if was == nil {
		was = &organisation.Organisation{}
	}
	d := differing{t, was.Chart(x.From), is.Chart(x.From), day{Title: t.Say("changes_on", "day", x.From)}}
	if x.From == today {
		d.day.Title = t.Say("changes_now")
	}
	if n := len(x.PeopleGone); n >= 10 {
		d.day.Leaving = n
	}
	counted(&d, "new", x.PeopleAdded, d.added)
	counted(&d, "gone", x.PeopleGone, func(p organisation.Person) []changedRow {
		return []changedRow{{t.person(p), t.In("sums", "gone"), t.posts(d.was, p.Number), ""}}
	})
	counted(&d, "changed", x.PeopleChanged, func(p organisation.PersonDifference) []changedRow {
		return d.rows(called(p.Name, p.Number), p.Differences)
	})
	counted(&d, "departments_new", x.DepartmentsAdded, func(x organisation.Department) []changedRow {
		return []changedRow{{t.department(x), t.In("sums", "departments_new"), "", t.below(d.is, x.Parent)}}
	})
	counted(&d, "departments_gone", x.DepartmentsGone, func(x organisation.Department) []changedRow {
		return []changedRow{{t.department(x), t.In("sums", "departments_gone"), t.below(d.was, x.Parent), ""}}
	})
	counted(&d, "departments_changed", x.DepartmentsChanged, func(x organisation.DepartmentDifference) []changedRow {
		return d.rows(called(x.Name, x.Code), x.Differences)
	})
	counted(&d, "reranked", x.Reranked, func(x organisation.Reranked) []changedRow {
		return []changedRow{{x.Position, t.column(organisation.ColumnRank), web.Count(int64(x.Was)), web.Count(int64(x.Is))}}
	})
	return d.day
}

// below says where a department is, unless it is at the top.
func (t texts) below(c *organisation.Chart, parent string) string {
	if parent == "" {
		return ""
	}
	return t.Say("below", "department", t.departmentOf(c, parent))
}

// counted adds the rows of one kind of difference and its number.
func counted[T any](d *differing, kind string, all []T, rows func(T) []changedRow) {
	if len(all) == 0 {
		return
	}
	if d.day.Sum != "" {
		d.day.Sum += " · "
	}
	d.day.Sum += d.t.In("sums", kind) + " " + web.Count(int64(len(all)))
	for _, x := range all[:min(len(all), mostLines)] {
		d.day.Rows = append(d.day.Rows, rows(x)...)
	}
	d.day.More += max(0, len(all)-mostLines)
}

// posts says where somebody works, the main post first.
func (t texts) posts(c *organisation.Chart, number string) string {
	return web.Joined(c.Posts(number), func(p organisation.Post) string {
		return strings.TrimSpace(t.departmentOf(c, p.Department) + " " + p.Position)
	}, t.Say("and"))
}

// added says where a new person works, the manager whom the file names, and the kind of one who is no employee.
func (d differing) added(p organisation.Person) []changedRow {
	rows := []changedRow{{d.t.person(p), d.t.In("sums", "new"), "", d.t.posts(d.is, p.Number)}}
	if p.Manager != "" {
		rows = append(rows, changedRow{d.t.person(p), d.t.column(organisation.ColumnManager), "", d.t.of(d.is, p.Manager)})
	}
	if p.Kind != organisation.Employee {
		rows = append(rows, changedRow{d.t.person(p), d.t.column(organisation.ColumnEmployment), "", d.t.kind(p.Kind)})
	}
	return rows
}

// rows says each difference of a person or a department. Codes and numbers have their names.
func (d differing) rows(of string, all []organisation.Difference) (out []changedRow) {
	for _, x := range all {
		was, is := d.values(d.was, x.Column, x.Was), d.values(d.is, x.Column, x.Is)
		out = append(out, changedRow{of, d.t.column(x.Column), was, is})
	}
	return out
}

func (d differing) values(c *organisation.Chart, column organisation.Column, values []string) string {
	values = slices.Clone(values)
	for i, v := range values {
		switch column {
		case organisation.ColumnDepartment, organisation.ColumnParent:
			values[i] = d.t.departmentOf(c, v)
		case organisation.ColumnManager:
			values[i] = d.t.of(c, v)
		case organisation.ColumnEmployment:
			values[i] = d.t.kind(organisation.Kind(v))
		case organisation.ColumnPosition:
			if v == "" {
				values[i] = d.t.Say("no_position")
			}
		}
	}
	return strings.Join(values, d.t.Say("and"))
}
