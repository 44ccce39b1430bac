package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Directory is what Slack and the organisation say, as far as routes need it: whoever resolves has asked them before. A
// person is whom the organisation has, an account whom Slack has. While no organisation stands, there are no people,
// and so no superiors and positions.
type Directory interface {
	// Organised reports whether an organisation stands.
	Organised() bool
	// Person returns whom an account belongs to, "" for a stranger. Account returns somebody's account, "" for who has
	// none.
	Person(account string) string
	Account(person string) string
	// MayStamp reports whether an account is a full member's and, while an organisation stands, of somebody in it.
	MayStamp(user string) bool
	// Members returns the accounts of a Slack user group.
	Members(group string) []string
	// Handle returns what a Slack user group is called, such as @keiri, or its id.
	Handle(group string) string
	// Empty reports whether a channel has nobody beside these people who may stamp.
	Empty(channel string, but []circulation.Person) bool
	// Above returns who stands above an account or a person, the nearest first and each once, and whether the
	// organisation says that nobody is higher than the last. Else nobody knows who is, as while no organisation stands.
	Above(who string) (chain []string, top bool)
	// Over returns who stands over a position of a department or, without one, over its head, whoever that is, and above
	// them, the nearest first.
	Over(department, position string) []string
	// Knows reports whether the organisation has a department and, if one is given, a position in it:
	// without a department, in any. Else nobody can say that it is vacant. While no organisation stands, none is known.
	Knows(department, position string) bool
	// Departments returns an account's department and those above it; none while no organisation stands.
	Departments(user string) []string
	// Holders returns who holds a position of a department or, without one, who heads it.
	Holders(department, position string) []string
}

// superiors returns whom a stage asks of those above the requester, the highest if there are too few, and at which
// level; then who stands above them.
func (w *Who) superiors(f *Facts, d Directory) (above []string, level int) {
	chain, top := d.Above(f.Requester)
	if level = min(w.Superior, len(chain)); level == 0 || level < w.Superior && !top {
		return nil, 0
	}
	return chain[level-1:], level
}

// managerOf says that somebody is found level by level above another.
func managerOf(of string, level int) string { return fmt.Sprintf("manager %d of %s", level, of) }

// among reports whether somebody is in a list.
func among(people []circulation.Person, p circulation.Person) bool {
	return slices.ContainsFunc(people, p.Is)
}

// lost reports whether nobody knows who the superior of a stage is: the chain of who stands above the requester ends
// before it, and not at the top. Nor is anybody known in whose department nobody knows the requester to be.
func (w *Who) lost(f *Facts, d Directory) bool {
	_, top := d.Above(f.Requester)
	return w.Superior > 0 && !top || w.Placed && w.Department == ""
}

// unknown returns a post, with the name of its department, or a department that the organisation doesn't have, or "":
// somebody may hold it under another name.
func (w *Who) unknown(d Directory) string {
	switch {
	case !w.post():
	case w.Department == "" && !d.Knows("", w.Position):
		return w.Position
	case w.Department != "" && !d.Knows(w.Department, ""):
		return w.Department
	case w.Department != "" && !d.Knows(w.Department, w.Position):
		return w.Position + " (" + w.Department + ")"
	}
	return ""
}

// Above reports whether whom it names depends on the requester.
func (w *Who) Above() bool { return w.Superior > 0 || w.Department == "" && w.Position != "" }

// near returns it with the department of a position that has none: the nearest of the requester's, theirs included,
// that has such a post, held or not, so that a vacant post isn't passed over; else their own.
func (w Who) near(f *Facts, d Directory) Who {
	if w.Position == "" || w.Department != "" {
		return w
	}
	w.Placed = true
	w.Department = aggregate.First(f.Departments, func(code string) bool { return d.Knows(code, w.Position) })
	if w.Department == "" && len(f.Departments) > 0 {
		w.Department = f.Departments[0]
	}
	return w
}

// titled says which post is asked.
func (w *Who) titled() string {
	if w.Position == "" {
		return "head of " + w.Department
	}
	return w.Position + " of " + w.Department
}

// named returns whom it names by themselves or by a group, whether they may stamp or not.
func (w *Who) named(d Directory) (found []circulation.Person) {
	for _, user := range w.People {
		found = append(found, circulation.Person{User: user, Via: "named by the rule"})
	}
	if w.Group != "" {
		for _, user := range d.Members(w.Group) {
			found = append(found, circulation.Person{User: user, Via: "group " + d.Handle(w.Group)})
		}
	}
	return found
}

// find returns the accounts of whom its sources find, whether they may stamp or not. Of too many nobody looks them up.
func (w *Who) find(f *Facts, d Directory) []circulation.Person {
	found := w.named(d)
	if w.Superior > 0 {
		if above, level := w.superiors(f, d); level > 0 {
			found = append(found, circulation.Person{User: above[0], Via: managerOf(f.Requester, level)})
		}
	}
	if w.Department != "" {
		for _, person := range d.Holders(w.Department, w.Position) {
			if w.Placed {
				if chain, _ := d.Above(person); slices.Contains(chain, d.Person(f.Requester)) { // one of their own people
					continue
				}
			}
			found = append(found, circulation.Person{User: person, Via: w.titled()})
		}
	}
	if len(found) <= mostFound {
		for i := range found {
			found[i].User = d.Account(found[i].User)
		}
	}
	return found
}
