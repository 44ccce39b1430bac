package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// Directory is what Slack and the organisation say about people, as far as routes need it: whoever resolves has asked
// them before. While no organisation stands, a person is an account, and there are no managers and positions.
type Directory interface {
	// Org returns the version of the organisation, empty while none stands.
	Org() string
	// Person returns whose an account is.
	Person(user string) circulation.Person
	// MayStamp reports whether somebody has a full member's account and, while an organisation stands, is an employee.
	MayStamp(p circulation.Person) bool
	// Members returns the accounts of a Slack user group.
	Members(group string) []string
	// Handle returns what a Slack user group is called, such as @keiri, or its id.
	Handle(group string) string
	// Empty reports whether a channel has nobody beside these people who may stamp.
	Empty(channel string, but []circulation.Person) bool
	// Manager returns who stands directly above somebody.
	Manager(p circulation.Person) (circulation.Person, bool)
	// Topmost reports whether nobody stands above somebody because the organisation says so; where it is false and
	// there is no Manager, nobody knows who does. It is false while no organisation stands.
	Topmost(p circulation.Person) bool
	// Over returns who stands over a position of a department, whoever holds it, or nobody.
	Over(department, position string) (circulation.Person, bool)
	// NameOf returns what a department is called, or its code if the organisation has no name of it.
	NameOf(department string) string
	// Knows reports whether the organisation has a department and, if one is given, a position in it:
	// without a department, in any. Else nobody can say that it is vacant. While no organisation stands, none is known.
	Knows(department, position string) bool
	// Departments returns the codes of somebody's department and of those above it; none while no organisation
	// stands.
	Departments(p circulation.Person) []string
	// Holders returns who holds a position of a department.
	Holders(department, position string) []circulation.Person
}

// above calls yield with those who stand above somebody, level by level, until it returns false. Somebody who comes
// again, such as in a circle of managers, ends it.
func above(d Directory, p circulation.Person, yield func(level int, p circulation.Person) bool) {
	seen := []circulation.Person{p}
	for level := 1; ; level++ {
		next, ok := d.Manager(p)
		if !ok || position(seen, next) >= 0 || !yield(level, next) {
			return
		}
		seen, p = append(seen, next), next
	}
}

// below reports whether somebody stands below another.
func below(d Directory, p, other circulation.Person) (is bool) {
	above(d, p, func(_ int, over circulation.Person) bool { is = is || over.Is(other); return !is })
	return is
}

// highest returns the last of whom the organisation says that they stand above the requester, or the requester.
func highest(f *Facts, d Directory) circulation.Person {
	last := f.Requester
	above(d, last, func(_ int, p circulation.Person) bool { last = p; return true })
	return last
}

// asManager returns somebody with how they were found: level by level above another.
func asManager(p, of circulation.Person, level int) circulation.Person {
	p.Via = fmt.Sprintf("manager %d of %s", level, of.User)
	return p
}

// position returns where somebody is in a list, or -1.
func position(people []circulation.Person, p circulation.Person) int {
	return slices.IndexFunc(people, p.Is)
}

// lost reports whether nobody knows who the manager of a stage is: the chain of who stands above the requester ends
// before it, and not at the top. Nor is anybody known in whose department nobody knows the requester to be.
func (w Who) lost(f *Facts, d Directory) bool {
	return slices.ContainsFunc(w.Each(), func(w Who) bool {
		return w.Kind == WhoManager && !d.Topmost(highest(f, d)) || w.Placed && w.Department == ""
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
	add := func(p circulation.Person, via string) {
		p.Via = via
		found = append(found, p)
	}
	switch w.Kind {
	case WhoAny:
		for _, x := range w.Any {
			found = append(found, x.find(f, d)...)
		}
	case WhoPeople:
		for _, user := range w.People {
			add(d.Person(user), "named by the rule")
		}
	case WhoGroup:
		for _, user := range d.Members(w.Group) {
			add(d.Person(user), "group "+d.Handle(w.Group))
		}
	case WhoPosition:
		for _, p := range d.Holders(w.Department, w.Position) {
			if w.Placed && below(d, p, f.Requester) { // the nearest above isn't one of their own people
				continue
			}
			add(p, w.Position+" of "+w.Department)
		}
	case WhoManager:
		var chain []circulation.Person
		above(d, f.Requester, func(_ int, p circulation.Person) bool { chain = append(chain, p); return true })
		level := w.Level
		if level > len(chain) && d.Topmost(highest(f, d)) { // nobody is higher
			level = len(chain)
		}
		if level > 0 && level <= len(chain) {
			found = append(found, asManager(chain[level-1], f.Requester, level))
		}
	}
	return found
}
