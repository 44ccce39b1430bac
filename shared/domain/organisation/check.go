package organisation

import (
	"cmp"
	"maps"
	"slices"
)

// maxDepth is how many departments, or people whose superior is named, may stand above each other.
const maxDepth = 50

// check makes an organisation of rows, and finds what only several rows together can break.
type check struct {
	problems    *Problems
	lines       []line
	people      map[string][]line
	departments map[string][]line
	above       map[above]int // the row that says what stands above something from a day on
}

// above is a department or a person from a day on.
type above struct {
	column Column
	of     string
	from   Date
}

// organisation returns what the rows say. It means nothing if there are problems.
func (c *check) organisation() *Organisation {
	c.people, c.departments, c.above = map[string][]line{}, map[string][]line{}, map[above]int{}
	codes := map[string]bool{} // also of departments that are only named as a parent
	for _, l := range c.lines {
		if l.number != "" {
			c.people[l.number] = append(c.people[l.number], l)
			c.few(len(c.people), MaxPeople, Problem{Row: l.row, Column: ColumnNumber, Rule: RulePeople})
		}
		if l.department != "" {
			c.departments[l.department] = append(c.departments[l.department], l)
			codes[l.department] = true
			c.few(len(codes), MaxDepartments, Problem{Row: l.row, Column: ColumnDepartment, Rule: RuleDepartments})
		}
		if l.parent != "" {
			codes[l.parent] = true
			c.few(len(codes), MaxDepartments, Problem{Row: l.row, Column: ColumnParent, Rule: RuleDepartments})
		}
	}
	c.zeros()
	o := &Organisation{positions: c.positions()}
	c.mails()
	for _, number := range slices.Sorted(maps.Keys(c.people)) {
		all := c.people[number]
		o.people = append(o.people, c.person(number, all)...)
		o.posts = append(o.posts, c.posts(all)...)
		c.mains(all)
	}
	for _, code := range slices.Sorted(maps.Keys(c.departments)) {
		o.departments = append(o.departments, c.department(code, c.departments[code])...)
	}
	o.sort()
	c.cycles(o)
	return o
}

// zeros adds a problem for each parent 0 that is no department of the file: a spreadsheet shows it for an empty cell
// that a formula names.
func (c *check) zeros() {
	for _, l := range c.lines {
		if l.parent == "0" && len(c.departments["0"]) == 0 {
			c.problems.add(Problem{Row: l.row, Column: ColumnParent, Rule: RuleFormula, Value: "0"})
		}
	}
}

// few adds a problem for the row at which there are too many.
func (c *check) few(n, most int, p Problem) {
	if n == most+1 {
		p.Limit = most
		c.problems.add(p)
	}
}

// positions returns all positions with their ranks.
func (c *check) positions() []Position {
	ranked, names := map[string]line{}, map[string]bool{}
	for _, l := range c.lines {
		if l.broken || l.position == "" {
			continue
		}
		names[l.position] = true
		switch first, ok := ranked[l.position]; {
		case l.rank == 0:
		case !ok:
			ranked[l.position] = l
		case first.rank != l.rank:
			c.problems.add(Problem{Row: l.row, Column: ColumnRank, Rule: RuleTwoRanks, Value: l.position, Other: first.row})
		}
	}
	var all []Position
	for name := range names {
		all = append(all, Position{name, ranked[name].rank})
	}
	return all
}

// mails checks that each address is one person's, on all days: accounts are matched by it.
func (c *check) mails() {
	owners := map[string]line{}
	for _, l := range c.lines {
		for _, mail := range l.mails {
			if first, ok := owners[mail]; !ok {
				owners[mail] = l
			} else if first.number != l.number {
				c.problems.add(Problem{Row: l.row, Column: ColumnMail, Rule: RuleMailUsed, Value: mail, Other: first.row})
			}
		}
	}
}

// statements returns what rows say by fields.
func statements(all []line, values func(line) []string) (out []statement) {
	for _, l := range all {
		if !l.broken {
			out = append(out, statement{l.row, l.during, values(l)})
		}
	}
	return out
}

// conflicts returns what to do about rows that don't agree on some columns.
func (c *check) conflicts(of ...Column) func(statement, int, int) {
	return func(x statement, field, other int) {
		c.problems.add(Problem{Row: x.row, Column: of[field], Rule: RuleConflict, Value: x.values[field], Other: other,
			On: x.during.From})
	}
}

// person returns what is said of one person.
func (c *check) person(number string, all []line) (out []Person) {
	said := statements(all, func(l line) []string { return []string{l.name, string(l.kind), l.manager, l.status} })
	if len(said) == 0 {
		return nil
	}
	mails := map[string]bool{}
	for _, l := range all {
		for _, mail := range l.mails {
			mails[mail] = true
		}
	}
	if len(mails) > MaxMails {
		c.problems.add(Problem{Row: all[len(all)-1].row, Column: ColumnMail, Rule: RuleMails, Limit: MaxMails})
	}
	addresses := slices.Sorted(maps.Keys(mails))
	found := phases(said, c.conflicts(ColumnName, ColumnEmployment, ColumnManager, ColumnStatus))
	for _, p := range found {
		if p.values[3] == statusHere {
			p.values[3] = "" // as if it were not said
		}
	}
	for _, p := range joined(found) {
		if len(said) == len(all) { // a row that can't be read may say it
			c.missing(p, 0, ColumnName)
			c.missing(p, 1, ColumnEmployment)
		}
		if manager := p.values[2]; manager != "" && c.people[manager] == nil {
			c.problems.add(Problem{Row: p.rows[2], Column: ColumnManager, Rule: RuleUnknown, Value: manager})
		}
		c.above[above{ColumnManager, number, p.during.From}] = p.rows[2]
		out = append(out, Person{number, p.values[0], addresses, Kind(p.values[1]), p.values[2], p.values[3] == statusAway,
			p.during})
	}
	return out
}

// missing adds a problem if no row says a field.
func (c *check) missing(p phase, field int, column Column) {
	if p.values[field] == "" {
		c.problems.add(Problem{Row: p.row, Column: column, Rule: RuleRequired, On: p.during.From})
	}
}

// posts returns the posts of one person.
func (c *check) posts(all []line) (out []Post) {
	type place struct{ department, position string }
	same := map[place][]line{}
	for _, l := range all {
		if !l.broken {
			at := place{l.department, l.position}
			same[at] = append(same[at], l)
		}
	}
	for _, rows := range same {
		c.apart(rows, ColumnPosition, RuleSamePost)
		for _, main := range []bool{true, false} {
			for _, p := range union(periodsOf(rows, func(l line) bool { return l.main == main })) {
				out = append(out, Post{all[0].number, rows[0].department, rows[0].position, main, p})
			}
		}
	}
	return out
}

func periodsOf(all []line, which func(line) bool) (out []Period) {
	for _, l := range all {
		if which(l) {
			out = append(out, l.during)
		}
	}
	return out
}

// apart checks that no two of some rows hold on the same day.
func (c *check) apart(rows []line, column Column, rule Rule) {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b line) int {
		return cmp.Or(cmp.Compare(a.during.From, b.during.From), cmp.Compare(a.row, b.row))
	})
	longest := rows[0]
	for _, l := range rows[1:] {
		if l.during.From < longest.during.end() {
			c.problems.add(Problem{Row: l.row, Column: column, Rule: rule, Other: longest.row, On: l.during.From})
		}
		if l.during.end() > longest.during.end() {
			longest = l
		}
	}
}

// mains checks that a person has exactly one main post on each day.
func (c *check) mains(all []line) {
	if slices.ContainsFunc(all, func(l line) bool { return l.broken }) {
		return
	}
	mains := slices.DeleteFunc(slices.Clone(all), func(l line) bool { return !l.main })
	if len(mains) > 0 {
		c.apart(mains, ColumnPost, RuleTwoMains)
	}
	covered := union(periodsOf(mains, func(line) bool { return true }))
	for _, l := range all {
		if day, ok := uncovered(l.during, covered); ok {
			c.problems.add(Problem{Row: l.row, Column: ColumnPost, Rule: RuleNoMain, On: day})
		}
	}
}

// department returns what is said of one department.
func (c *check) department(code string, all []line) (out []Department) {
	said := statements(all, func(l line) []string { return []string{l.departmentName, l.parent} })
	if len(said) == 0 {
		return nil
	}
	for _, p := range joined(phases(said, c.conflicts(ColumnDepartmentName, ColumnParent))) {
		c.above[above{ColumnParent, code, p.during.From}] = p.rows[1]
		out = append(out, Department{Code: code, Name: p.values[0], Parent: p.values[1], Period: p.during})
	}
	return out
}

// cycles checks that no department and no person stands above itself on any day: on the day on which a cycle begins,
// a phase of one of its members begins.
func (c *check) cycles(o *Organisation) {
	byCode, byNumber := map[string][]Department{}, map[string][]Person{}
	for _, d := range o.departments {
		byCode[d.Code] = append(byCode[d.Code], d)
	}
	for _, p := range o.people {
		byNumber[p.Number] = append(byNumber[p.Number], p)
	}
	for _, d := range o.departments {
		c.cycle(d.Code, d.From, ColumnParent, func(code string) string {
			at, _ := on(byCode[code], d.From)
			return at.Parent
		})
	}
	for _, p := range o.people {
		c.cycle(p.Number, p.From, ColumnManager, func(number string) string {
			at, _ := on(byNumber[number], p.From)
			return at.Manager
		})
	}
}

// cycle goes up from a department or person. Where it comes into a cycle that it doesn't belong to, it says nothing.
func (c *check) cycle(from string, day Date, column Column, next func(string) string) {
	passed, row := []string{from}, c.above[above{column, from, day}]
	for at := next(from); at != ""; at = next(at) {
		switch {
		case at == from:
			c.problems.add(Problem{Row: row, Column: column, Rule: RuleCycle, Value: from, On: day})
			return
		case slices.Contains(passed, at):
			return
		case len(passed) > maxDepth:
			c.problems.add(Problem{Row: row, Column: column, Rule: RuleDepth, Limit: maxDepth,
				Value: from, On: day})
			return
		}
		passed = append(passed, at)
	}
}
