package organisation

import (
	"fmt"
	"maps"
	"slices"
)

// Differences are what differs between two charts: of two versions on one day, or of one version on two days.
type Differences struct {
	PeopleAdded        []Person               `json:"people_added,omitempty"`
	PeopleGone         []Person               `json:"people_gone,omitempty"`
	PeopleChanged      []PersonDifference     `json:"people_changed,omitempty"`
	DepartmentsAdded   []Department           `json:"departments_added,omitempty"`
	DepartmentsGone    []Department           `json:"departments_gone,omitempty"`
	DepartmentsChanged []DepartmentDifference `json:"departments_changed,omitempty"`
	Reranked           []Reranked             `json:"reranked,omitempty"`
}

// Difference is a column whose values differ. Of a post, values are codes or positions, the main post's first.
type Difference struct {
	Column Column   `json:"column"`
	Was    []string `json:"was"`
	Is     []string `json:"is"`
}

// PersonDifference is what differs of a person who is in both charts. The manager is who stands directly above them,
// whether the file names them or not.
type PersonDifference struct {
	Number      string       `json:"number"`
	Name        string       `json:"name"`
	Differences []Difference `json:"differences"`
}

// DepartmentDifference is what differs of a department that is in both charts.
type DepartmentDifference struct {
	Code        string       `json:"code"`
	Name        string       `json:"name,omitempty"`
	Differences []Difference `json:"differences"`
}

// Reranked is a position whose rank differs.
type Reranked struct {
	Position string `json:"position"`
	Was      int    `json:"was"`
	Is       int    `json:"is"`
}

// Compare returns what differs between two charts, people by number and departments by code. Two versions may only
// differ on later days: who shows all of it compares them on a day and on each that NextChange of either names.
func Compare(was, is *Chart) (d Differences) {
	for _, p := range is.People() {
		if before, ok := was.Person(p.Number); !ok {
			d.PeopleAdded = append(d.PeopleAdded, p)
		} else if all := personDifferences(was, is, before, p); all != nil {
			d.PeopleChanged = append(d.PeopleChanged, PersonDifference{p.Number, p.Name, all})
		}
	}
	for _, p := range was.People() {
		if _, ok := is.Person(p.Number); !ok {
			d.PeopleGone = append(d.PeopleGone, p)
		}
	}
	for _, x := range is.Departments() {
		if before, ok := was.departments[x.Code]; !ok {
			d.DepartmentsAdded = append(d.DepartmentsAdded, x)
		} else if all := differing([]Difference{
			{ColumnDepartmentName, list(before.Name), list(x.Name)}, {ColumnParent, list(before.Parent), list(x.Parent)},
		}); all != nil {
			d.DepartmentsChanged = append(d.DepartmentsChanged, DepartmentDifference{x.Code, x.Name, all})
		}
	}
	for _, x := range was.Departments() {
		if _, ok := is.departments[x.Code]; !ok {
			d.DepartmentsGone = append(d.DepartmentsGone, x)
		}
	}
	d.Reranked = reranked(was.ranks, is.ranks)
	return d
}

// personDifferences returns what differs of a person.
func personDifferences(was, is *Chart, before, now Person) []Difference {
	manager := func(c *Chart) []string {
		s, _ := c.Manager(now.Number)
		return list(s.Number)
	}
	postsWere, posts := was.Posts(now.Number), is.Posts(now.Number)
	department := func(p Post) string { return p.Department }
	position := func(p Post) string { return p.Position }
	return differing([]Difference{
		{ColumnName, list(before.Name), list(now.Name)},
		{ColumnMail, before.Mails, now.Mails},
		{ColumnDepartment, listOf(postsWere, department), listOf(posts, department)},
		{ColumnPosition, listOf(postsWere, position), listOf(posts, position)},
		{ColumnManager, manager(was), manager(is)},
		{ColumnEmployment, list(string(before.Kind)), list(string(now.Kind))},
	})
}

// differing returns the differences in which the values differ.
func differing(all []Difference) (out []Difference) {
	for _, x := range all {
		if !slices.Equal(x.Was, x.Is) {
			out = append(out, x)
		}
	}
	return out
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func listOf(posts []Post, value func(Post) string) (all []string) {
	for _, p := range posts {
		all = append(all, value(p))
	}
	return all
}

// reranked returns the positions of both charts whose ranks differ, by name.
func reranked(was, is map[string]int) (all []Reranked) {
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if before, ok := was[name]; ok && before != is[name] {
			all = append(all, Reranked{name, before, is[name]})
		}
	}
	return all
}

// DayDifferences are what differs between two versions from a day on.
type DayDifferences struct {
	From Date `json:"from"`
	Differences
}

// MaxChanges is on how many days two versions are compared at the most.
const MaxChanges = 24

// Changes compares two versions on a day, and on later days on which one of them changes. What differs in the same way
// on several days is in the first of them; days on which nothing else differs are left out. No version counts as an
// empty one. More says that later days were not compared.
func Changes(was, is *Organisation, day Date) (all []DayDifferences, more bool) {
	if was == nil {
		was = &Organisation{}
	}
	seen := map[string]bool{}
	for range MaxChanges {
		d := Compare(was.Chart(day), is.Chart(day))
		if d.first(seen); !d.Empty() {
			all = append(all, DayDifferences{day, d})
		}
		a, later := was.NextChange(day)
		b, too := is.NextChange(day)
		switch {
		case later && too:
			day = min(a, b)
		case later:
			day = a
		case too:
			day = b
		default:
			return all, false
		}
	}
	return all, true
}

// Empty reports whether nothing differs.
func (d Differences) Empty() bool {
	return len(d.PeopleAdded)+len(d.PeopleGone)+len(d.PeopleChanged)+len(d.DepartmentsAdded)+len(d.DepartmentsGone)+
		len(d.DepartmentsChanged)+len(d.Reranked) == 0
}

// first leaves out of differences what was seen on an earlier day, and notes the rest.
func (d *Differences) first(seen map[string]bool) {
	number := func(p Person) string { return p.Number }
	code := func(x Department) string { return x.Code }
	d.PeopleAdded = firsts(seen, "added ", d.PeopleAdded, number)
	d.PeopleGone = firsts(seen, "gone ", d.PeopleGone, number)
	d.PeopleChanged = firsts(seen, "changed ", d.PeopleChanged,
		func(p PersonDifference) string { return fmt.Sprintf("%q %q", p.Number, p.Differences) })
	d.DepartmentsAdded = firsts(seen, "begun ", d.DepartmentsAdded, code)
	d.DepartmentsGone = firsts(seen, "ended ", d.DepartmentsGone, code)
	d.DepartmentsChanged = firsts(seen, "moved ", d.DepartmentsChanged,
		func(x DepartmentDifference) string { return fmt.Sprintf("%q %q", x.Code, x.Differences) })
	d.Reranked = firsts(seen, "rank ", d.Reranked, func(x Reranked) string { return x.Position })
}

func firsts[T any](seen map[string]bool, what string, all []T, key func(T) string) (out []T) {
	for _, x := range all {
		if k := what + key(x); !seen[k] {
			seen[k], out = true, append(out, x)
		}
	}
	return out
}
