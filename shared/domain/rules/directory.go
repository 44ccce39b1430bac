package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// Directory is what Slack and the organisation say about people, as far as routes need it: whoever resolves has asked
// them before. Days are as in Facts.On. While no organisation stands, a person is an account, everybody's Standing is
// what their account allows, and there are no managers and positions.
type Directory interface {
	// Org returns the version of the organisation, empty while none stands.
	Org() string
	// Person returns whose an account is.
	Person(user string) circulation.Person
	// Standing says as what somebody may stamp.
	Standing(p circulation.Person, on string) Standing
	// Members returns the accounts of a Slack user group.
	Members(group string) []string
	// Handle returns what a Slack user group is called, such as @keiri, or its id.
	Handle(group string) string
	// Empty reports whether a channel has nobody beside these people who may stamp: where an organisation stands, no
	// employee.
	Empty(channel string, but []circulation.Person, on string) bool
	// Manager returns who stands directly above somebody.
	Manager(p circulation.Person, on string) (circulation.Person, bool)
	// Topmost reports whether nobody stands above somebody because the organisation says so; where it is false and there
	// is no Manager, nobody knows who does. It is false while no organisation stands.
	Topmost(p circulation.Person, on string) bool
	// Over returns who stands over a position of a department, whoever holds it, or nobody.
	Over(department, position, on string) (circulation.Person, bool)
	// Knows reports whether the organisation has a department on any day and, if one is given, a position in it. Else
	// nobody can say that it is vacant. While no organisation stands, none is known.
	Knows(department, position string) bool
	// Holders returns who holds a position of a department.
	Holders(department, position, on string) []circulation.Person
}

// Standing says as what somebody may stamp.
type Standing string

const (
	StandingNone     Standing = ""         // not at all: gone, a guest, a bot, or not in the organisation
	StandingEmployee Standing = "employee" // while no organisation stands, every full member
	StandingOther    Standing = "other"    // works for the company without being its employee
)

// above calls yield with those who stand above somebody, level by level, until it returns false. Somebody who comes
// again, such as in a circle of managers, ends it.
func above(d Directory, p circulation.Person, on string, yield func(level int, p circulation.Person) bool) {
	seen := []circulation.Person{p}
	for level := 1; ; level++ {
		next, ok := d.Manager(p, on)
		if !ok || position(seen, next) >= 0 {
			return
		}
		if !yield(level, next) {
			return
		}
		seen, p = append(seen, next), next
	}
}

// lost reports whether nobody knows who the manager of a stage is: the chain of who stands above the requester ends
// before it, and not at the top.
func (w Who) lost(f *Facts, d Directory) bool {
	last := f.Requester
	above(d, last, f.On, func(_ int, p circulation.Person) bool { last = p; return true })
	return w.Kind == WhoManager && !d.Topmost(last, f.On)
}

// position returns where somebody is in a list, or -1.
func position(people []circulation.Person, p circulation.Person) int {
	return slices.IndexFunc(people, p.Is)
}

// unknown returns what a stage names and no day of the organisation has, or "": a post with the code of its department,
// or the code alone. Who stands over a department may take the place of a post in it, whatever it is called.
func (s Stage) unknown(d Directory) string {
	w := s.Who
	switch {
	case w.Kind == WhoPosition && !d.Knows(w.Department, ""):
		return w.Department
	case s.Empty.Vacant == ThenUp || !w.unnamed(d):
		return ""
	}
	return w.post()
}

// unnamed reports whether the organisation has a stage's post on no day: somebody may hold it under another name.
func (w Who) unnamed(d Directory) bool {
	return w.Kind == WhoPosition && !d.Knows(w.Department, w.Position)
}

func (w Who) post() string { return w.Position + " (" + w.Department + ")" }

// Unknown returns of which stage, if any, the organisation doesn't know whom it means. It is never left out: the post
// may be held under another name.
func (p *Policy) Unknown(d Directory) *Unresolved {
	for i, s := range p.Stages {
		if what := s.unknown(d); what != "" {
			return &Unresolved{Stage: i + 1, Name: s.Name, Why: LeftUnknown, What: what}
		}
	}
	return nil
}

// asManager returns somebody with how they were found: level by level above another.
func asManager(p, of circulation.Person, level int, on string) circulation.Person {
	p.Via = fmt.Sprintf("manager %d of %s as of %s", level, of.User, on)
	return p
}

// over returns somebody with how they were found: over the post of a stage.
func (w Who) over(p circulation.Person, on string) circulation.Person {
	p.Via = fmt.Sprintf("over %s of %s as of %s", w.Position, w.Department, on)
	return p
}

// find returns whom a stage's Who names, whether they may stamp or not.
func (w Who) find(f *Facts, d Directory) (found []circulation.Person) {
	add := func(p circulation.Person, via string) {
		p.Via = via
		found = append(found, p)
	}
	switch w.Kind {
	case WhoPeople:
		for _, user := range w.People {
			add(d.Person(user), "named by the rule")
		}
	case WhoGroup:
		for _, user := range d.Members(w.Group) {
			add(d.Person(user), "group "+d.Handle(w.Group))
		}
	case WhoPosition:
		for _, p := range d.Holders(w.Department, w.Position, f.On) {
			add(p, fmt.Sprintf("%s of %s as of %s", w.Position, w.Department, f.On))
		}
	case WhoManager:
		above(d, f.Requester, f.On, func(level int, p circulation.Person) bool {
			if level == w.Level {
				found = append(found, asManager(p, f.Requester, level, f.On))
			}
			return level < w.Level
		})
	}
	return found
}
