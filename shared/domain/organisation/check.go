package organisation

import (
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
	above       map[above]int // the row that says what stands above something
}

// above is a department or a person.
type above struct {
	column Column
	of     string
}

// organisation returns what the rows say. It means nothing if there are problems. Whole: the rows are all of the file.
func (c *check) organisation(whole bool) *Organisation {
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
	if !whole {
		return nil
	}
	o := &Organisation{positions: c.positions()}
	c.mails()
	for _, number := range slices.Sorted(maps.Keys(c.people)) {
		all := c.people[number]
		o.people = append(o.people, c.person(number, all))
		o.posts = append(o.posts, c.posts(all)...)
	}
	for _, code := range slices.Sorted(maps.Keys(c.departments)) {
		o.departments = append(o.departments, c.department(code, c.departments[code]))
	}
	o.sort()
	c.cycles(o)
	return o
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

// mails checks that each address is one person's: accounts are matched by it.
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

// said returns what the rows of a person or a department say of a column: those that say anything must agree.
func (c *check) said(all []line, column Column, value func(line) string) (is string, row int) {
	for _, l := range all {
		switch v := value(l); {
		case l.broken || v == "" || v == is:
		case is != "":
			c.problems.add(Problem{Row: l.row, Column: column, Rule: RuleConflict, Value: v, Other: row})
		default:
			is, row = v, l.row
		}
	}
	return is, row
}

// person returns what is said of one person.
func (c *check) person(number string, all []line) Person {
	p := Person{Number: number}
	for _, l := range all {
		if !l.broken {
			p.Mails = append(p.Mails, l.mails...)
		}
	}
	slices.Sort(p.Mails)
	if p.Mails = slices.Compact(p.Mails); len(p.Mails) > MaxMails {
		c.problems.add(Problem{Row: all[len(all)-1].row, Column: ColumnMail, Rule: RuleMails, Limit: MaxMails})
	}
	p.Name, _ = c.said(all, ColumnName, func(l line) string { return l.name })
	kind, _ := c.said(all, ColumnEmployment, func(l line) string { return string(l.kind) })
	p.Kind = Kind(kind)
	manager, row := c.said(all, ColumnManager, func(l line) string { return l.manager })
	if p.Manager = manager; manager != "" && c.people[manager] == nil {
		c.problems.add(Problem{Row: row, Column: ColumnManager, Rule: RuleUnknown, Value: manager})
	}
	c.above[above{ColumnManager, number}] = row
	if !slices.ContainsFunc(all, func(l line) bool { return l.broken }) { // a row that can't be read may say it
		for column, value := range map[Column]string{ColumnName: p.Name, ColumnEmployment: kind} {
			if value == "" {
				c.problems.add(Problem{Row: all[0].row, Column: column, Rule: RuleRequired})
			}
		}
	}
	return p
}

// posts returns the posts of one person, of which exactly one is the main one.
func (c *check) posts(all []line) (out []Post) {
	main := line{}
	for i, l := range all {
		if l.broken {
			return nil
		}
		for _, other := range all[:i] {
			if other.department == l.department && other.position == l.position {
				c.problems.add(Problem{Row: l.row, Column: ColumnPosition, Rule: RuleSamePost, Other: other.row})
			}
		}
		switch {
		case l.main && main.row > 0:
			c.problems.add(Problem{Row: l.row, Column: ColumnPost, Rule: RuleTwoMains, Other: main.row})
		case l.main:
			main = l
		}
		out = append(out, Post{l.number, l.department, l.position, l.main})
	}
	if main.row == 0 {
		c.problems.add(Problem{Row: all[0].row, Column: ColumnPost, Rule: RuleNoMain})
	}
	return out
}

// department returns what is said of one department. Who stands above it must be known: its parent has a row.
func (c *check) department(code string, all []line) Department {
	d := Department{Code: code}
	d.Name, _ = c.said(all, ColumnDepartmentName, func(l line) string { return l.departmentName })
	parent, row := c.said(all, ColumnParent, func(l line) string { return l.parent })
	d.Parent, c.above[above{ColumnParent, code}] = parent, row
	switch {
	case parent == "" || c.departments[parent] != nil:
	case parent == "0": // what a spreadsheet shows for an empty cell that a formula names
		c.problems.add(Problem{Row: row, Column: ColumnParent, Rule: RuleFormula, Value: parent})
	default:
		c.problems.add(Problem{Row: row, Column: ColumnParent, Rule: RuleUnknown, Value: parent})
	}
	return d
}

// cycles checks that no department and no person stands above itself.
func (c *check) cycles(o *Organisation) {
	for _, d := range o.departments {
		c.cycle(d.Code, ColumnParent, func(code string) string { return o.byCode[code].Parent })
	}
	for _, p := range o.people {
		c.cycle(p.Number, ColumnManager, func(number string) string { return o.byNumber[number].Manager })
	}
}

// cycle goes up from a department or person. Where it comes into a cycle that it doesn't belong to, it says nothing.
func (c *check) cycle(from string, column Column, next func(string) string) {
	passed, row := []string{from}, c.above[above{column, from}]
	for at := next(from); at != ""; at = next(at) {
		switch {
		case at == from:
			c.problems.add(Problem{Row: row, Column: column, Rule: RuleCycle, Value: from})
			return
		case slices.Contains(passed, at):
			return
		case len(passed) > maxDepth:
			c.problems.add(Problem{Row: row, Column: column, Rule: RuleDepth, Limit: maxDepth, Value: from})
			return
		}
		passed = append(passed, at)
	}
}
