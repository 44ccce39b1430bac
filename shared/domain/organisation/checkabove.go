package organisation

import "slices"

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
