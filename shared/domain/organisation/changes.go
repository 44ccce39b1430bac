package organisation

import "fmt"

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
