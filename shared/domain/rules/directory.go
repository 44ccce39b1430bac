package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// Directory is what Slack and the organisation say about accounts, as far as routes need it: whoever resolves has asked
// them before. While no organisation stands, there are no managers and positions. Of whom the organisation has and who
// has no account, the directory gives "".
type Directory interface {
	// Org returns the version of the organisation, empty while none stands.
	Org() string
	// MayStamp reports whether an account is a full member's and, while an organisation stands, an employee's.
	MayStamp(user string) bool
	// Members returns the accounts of a Slack user group.
	Members(group string) []string
	// Handle returns what a Slack user group is called, such as @keiri, or its id.
	Handle(group string) string
	// Empty reports whether a channel has nobody beside these people who may stamp.
	Empty(channel string, but []circulation.Person) bool
	// Above returns who stands above somebody, the nearest first and each once, and whether the organisation says that
	// nobody is higher than the last. Else nobody knows who is, as while no organisation stands.
	Above(user string) (chain []string, top bool)
	// Over returns who stands over a position of a department, whoever holds it, and above them, the nearest first.
	Over(department, position string) []string
	// NameOf returns what a department is called, or its code if the organisation has no name of it.
	NameOf(department string) string
	// Knows reports whether the organisation has a department and, if one is given, a position in it:
	// without a department, in any. Else nobody can say that it is vacant. While no organisation stands, none is known.
	Knows(department, position string) bool
	// Departments returns the codes of somebody's department and of those above it; none while no organisation
	// stands.
	Departments(user string) []string
	// Holders returns who holds a position of a department.
	Holders(department, position string) []string
}

// managers returns whom a stage asks of those above the requester, the highest if there are too few, and at which
// level; then who stands above them.
func (w Who) managers(f *Facts, d Directory) (above []string, level int) {
	chain, top := d.Above(f.Requester)
	if level = min(w.Level, len(chain)); level == 0 || level < w.Level && !top {
		return nil, 0
	}
	return chain[level-1:], level
}

// asManager returns somebody as found level by level above another.
func asManager(user, of string, level int) circulation.Person {
	return circulation.Person{User: user, Via: fmt.Sprintf("manager %d of %s", level, of)}
}

// among reports whether somebody is in a list.
func among(people []circulation.Person, p circulation.Person) bool {
	return slices.ContainsFunc(people, p.Is)
}

// lost reports whether nobody knows who the manager of a stage is: the chain of who stands above the requester ends
// before it, and not at the top. Nor is anybody known in whose department nobody knows the requester to be.
func (w Who) lost(f *Facts, d Directory) bool {
	_, top := d.Above(f.Requester)
	return slices.ContainsFunc(w.Each(), func(w Who) bool {
		return w.Kind == WhoManager && !top || w.Placed && w.Department == ""
	})
}

// unknown returns a post, with the name of its department, or a department's code that the organisation doesn't have,
// or "": somebody may hold it under another name.
func (w Who) unknown(d Directory) string {
	for _, x := range w.Each() {
		switch {
		case x.Kind != WhoPosition:
		case x.Department == "" && !d.Knows("", x.Position):
			return x.Position
		case x.Department != "" && !d.Knows(x.Department, ""):
			return x.Department
		case x.Department != "" && !d.Knows(x.Department, x.Position):
			return x.Position + " (" + d.NameOf(x.Department) + ")"
		}
	}
	return ""
}

// Above reports whether whom it names depends on the requester.
func (w Who) Above() bool {
	return slices.ContainsFunc(w.Each(), func(w Who) bool {
		return w.Kind == WhoManager || w.Kind == WhoPosition && w.Department == ""
	})
}

// placed returns it with the department of each position that has none: the nearest of the requester's, theirs
// included, that has such a post, held or not, so that a vacant post isn't passed over; else their own.
func (w Who) placed(f *Facts, d Directory) Who {
	if w.Kind == WhoAny {
		w.Any = slices.Clone(w.Any)
		for i := range w.Any {
			w.Any[i] = w.Any[i].placed(f, d)
		}
	}
	if w.Kind != WhoPosition || w.Department != "" {
		return w
	}
	w.Placed = true
	for _, code := range f.Departments {
		if d.Knows(code, w.Position) {
			w.Department = code
			return w
		}
	}
	if len(f.Departments) > 0 {
		w.Department = f.Departments[0]
	}
	return w
}

// find returns whom it names, whether they may stamp or not.
func (w Who) find(f *Facts, d Directory) (found []circulation.Person) {
	add := func(user, via string) { found = append(found, circulation.Person{User: user, Via: via}) }
	switch w.Kind {
	case WhoAny:
		for _, x := range w.Any {
			found = append(found, x.find(f, d)...)
		}
	case WhoPeople:
		for _, user := range w.People {
			add(user, "named by the rule")
		}
	case WhoGroup:
		for _, user := range d.Members(w.Group) {
			add(user, "group "+d.Handle(w.Group))
		}
	case WhoPosition:
		for _, user := range d.Holders(w.Department, w.Position) {
			if w.Placed {
				if chain, _ := d.Above(user); slices.Contains(chain, f.Requester) { // one of their own people
					continue
				}
			}
			add(user, w.Position+" of "+w.Department)
		}
	case WhoManager:
		if above, level := w.managers(f, d); level > 0 {
			found = append(found, asManager(above[0], f.Requester, level))
		}
	}
	return found
}
