package organisation

import (
	"cmp"
	"maps"
	"slices"
)

// GapRule is what is missing on one day. A file with gaps is valid: a post may be vacant.
type GapRule string

const (
	// GapNoHead: nobody with a rank is in the department.
	GapNoHead GapRule = "no_head"
	// GapNoRow: no row of the department holds, others name it as their parent. Its own parent may be unknown.
	GapNoRow GapRule = "no_row"
	// GapHeads: the people of Numbers share the highest rank of the department. The first leads it.
	GapHeads GapRule = "heads"
	// GapNoManager: nobody stands above the person, who isn't at the top.
	GapNoManager GapRule = "no_manager"
	// GapManagerGone: the manager whom the file names, Numbers, doesn't work for the tenant that day.
	GapManagerGone GapRule = "manager_gone"
	// GapCycle: the people of Numbers stand above each other.
	GapCycle GapRule = "cycle"
)

// Gap is what is missing for a department or a person, or for the people of a cycle.
type Gap struct {
	Rule       GapRule  `json:"what"`
	Department string   `json:"department,omitempty"` // code
	Number     string   `json:"number,omitempty"`
	Numbers    []string `json:"numbers,omitempty"`
}

// Gaps returns what is missing on the chart's day: of departments by code, then of people by number.
func (c *Chart) Gaps() (all []Gap) {
	for _, d := range c.Departments() {
		switch heads := c.heads(d.Code); {
		case d.Unstated:
			all = append(all, Gap{Rule: GapNoRow, Department: d.Code})
		case len(heads) == 0:
			all = append(all, Gap{Rule: GapNoHead, Department: d.Code})
		case len(heads) > 1:
			all = append(all, Gap{Rule: GapHeads, Department: d.Code, Numbers: heads})
		}
	}
	for _, p := range c.People() {
		if _, here := c.people[p.Manager]; p.Manager != "" && !here {
			all = append(all, Gap{Rule: GapManagerGone, Number: p.Number, Numbers: []string{p.Manager}})
		}
		if _, ok := c.Manager(p.Number); !ok && !c.top(p.Number) {
			all = append(all, Gap{Rule: GapNoManager, Number: p.Number})
		}
	}
	return append(all, c.cycles()...)
}

// heads returns who has the highest rank in a department, the one who leads it first.
func (c *Chart) heads(department string) (numbers []string) {
	first, ok := c.head(department)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, p := range c.members[department] {
		if c.rank(p) == c.rank(first) && !seen[p.Number] {
			seen[p.Number], numbers = true, append(numbers, p.Number)
		}
	}
	return numbers
}

// top reports whether a person may have nobody above them: who has the highest rank in a department without parent.
func (c *Chart) top(number string) bool {
	return slices.ContainsFunc(c.posts[number], func(p Post) bool {
		first, ok := c.head(p.Department)
		return ok && c.departments[p.Department].Parent == "" && c.rank(p) == c.rank(first)
	})
}

// cycles returns each cycle of people once, beginning with its smallest number. Read refuses those that come of named
// managers alone; these come of heads who lead a department besides their main one.
func (c *Chart) cycles() (all []Gap) {
	above, done := map[string]string{}, map[string]bool{}
	for number := range c.people {
		if s, ok := c.Manager(number); ok {
			above[number] = s.Number
		}
	}
	for _, from := range slices.Sorted(maps.Keys(above)) {
		var passed []string
		at, ok := from, true
		for ; ok && !done[at]; at, ok = above[at], above[at] != "" {
			done[at], passed = true, append(passed, at)
		}
		if i := slices.Index(passed, at); ok && i >= 0 {
			all = append(all, Gap{Rule: GapCycle, Numbers: fromSmallest(passed[i:])})
		}
	}
	slices.SortFunc(all, func(a, b Gap) int { return cmp.Compare(a.Numbers[0], b.Numbers[0]) })
	return all
}

func fromSmallest(circle []string) []string {
	i := slices.Index(circle, slices.Min(circle))
	return slices.Concat(circle[i:], circle[:i])
}
