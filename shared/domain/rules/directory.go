package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// Directory is what Slack and the organisation say about people, as far as routes need it: whoever resolves has asked
// them before. Days are as in Facts.On. While no organisation stands, a person is an account, everybody's Employment is
// what their account allows, and there are no managers and positions.
type Directory interface {
	// Org returns the version of the organisation, empty while none stands.
	Org() string
	// Person returns whose an account is.
	Person(user string) circulation.Person
	// Employment says as what somebody may stamp.
	Employment(p circulation.Person, on string) Employment
	// Members returns the accounts of a Slack user group.
	Members(group string) []string
	// Handle returns what a Slack user group is called, such as @keiri, or its id.
	Handle(group string) string
	// Empty reports whether a channel has nobody beside these people who may stamp: where an organisation stands, no
	// employee.
	Empty(channel string, but []circulation.Person, on string) bool
	// Manager returns who stands directly above somebody.
	Manager(p circulation.Person, on string) (circulation.Person, bool)
	// Topmost reports whether nobody stands above somebody because the organisation says so; where it is false and
	// there is no Manager, nobody knows who does. It is false while no organisation stands.
	Topmost(p circulation.Person, on string) bool
	// Over returns who stands over a position of a department, whoever holds it, or nobody.
	Over(department, position, on string) (circulation.Person, bool)
	// CodeOf returns the code of the department that has this code or, alone on a day, this name; else "".
	CodeOf(department, on string) string
	// NameOf returns what a department is called, whatever the day, or its code if the organisation has no name of it.
	NameOf(department string) string
	// Knows reports whether the organisation has a department on any day and, if one is given, a position in it:
	// without a department, in any. Else nobody can say that it is vacant. While no organisation stands, none is known.
	Knows(department, position string) bool
	// Departments returns the codes of somebody's department and of those above it; none while no organisation
	// stands.
	Departments(p circulation.Person, on string) []string
	// OnlyIn returns the code of the department in which alone these positions are held, or "": also where everybody is
	// in it, or in one below it.
	OnlyIn(positions []string, on string) string
	// StandsOver reports whether a position has a higher rank than whoever leads a department, unless that isn't known.
	StandsOver(position, department, on string) bool
	// Outranks reports whether somebody's main post has a higher rank than a position.
	Outranks(p circulation.Person, position, on string) bool
	// Holders returns who holds a position of a department.
	Holders(department, position, on string) []circulation.Person
	// OnLeave returns who would hold a position of a department but is on leave or seconded; without a position,
	// everybody who is.
	OnLeave(department, position, on string) []circulation.Person
	// LeaveAbove returns who would stand directly above somebody but is on leave or seconded.
	LeaveAbove(p circulation.Person, on string) []circulation.Person
	// Absences returns the delegations of somebody for the day. One without a hand only says that they are away.
	Absences(p circulation.Person, on string) []circulation.StandIn
}

// Employment says as what somebody may stamp.
type Employment string

const (
	EmploymentNone     Employment = ""         // not at all: gone, a guest, a bot, or not in the organisation
	EmploymentEmployee Employment = "employee" // while no organisation stands, every full member
	EmploymentOther    Employment = "other"    // works for the company without being its employee
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
// before it, and not at the top. Nor is anybody known in whose department nobody knows the requester to be.
func (w Who) lost(f *Facts, d Directory) bool {
	return slices.ContainsFunc(w.Each(), func(w Who) bool {
		return w.Kind == WhoManager && !d.Topmost(highest(f, d), f.On) || w.Placed && w.Department == ""
	})
}

// position returns where somebody is in a list, or -1.
func position(people []circulation.Person, p circulation.Person) int {
	return slices.IndexFunc(people, p.Is)
}

// unknown returns what a stage names and no day of the organisation has, or "": a post with the name of its department,
// or a department's code. Who stands over a department may take the place of a post in it, whatever it is called.
func (s Stage) unknown(d Directory) string {
	for _, w := range s.Who.Each() {
		if w.Kind == WhoPosition && w.Department != "" && !d.Knows(w.Department, "") {
			return w.Department
		}
	}
	if s.Empty.Vacant == ThenUp {
		return ""
	}
	return s.Who.unnamed(d)
}

// unnamed returns a post of a stage that the organisation has on no day, or "": somebody may hold it under another
// name.
func (w Who) unnamed(d Directory) string {
	for _, x := range w.Any {
		if what := x.unnamed(d); what != "" {
			return what
		}
	}
	if w.Placed {
		w.Department = ""
	}
	for _, position := range w.Positions {
		switch known := d.Knows(w.Department, position); {
		case !known && w.Department == "":
			return position
		case !known:
			return position + " (" + d.NameOf(w.Department) + ")"
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

// Unknown returns of which stage, if any, the organisation doesn't know whom it means. It is never left out: the post
// may be held under another name.
func (p *Policy) Unknown(d Directory) *Unresolved {
	sources, of := p.Sources()
	for i, s := range sources {
		if what := s.unknown(d); what != "" {
			return &Unresolved{Stage: of[i] + 1, Name: s.Name, Why: LeftUnknown, What: what}
		}
	}
	return nil
}

// over returns who stands over a stage's post, with how they were found: of several posts, over all of them.
func (w Who) over(d Directory, on string) (over circulation.Person, known bool) {
	for _, w := range w.Each() {
		for _, position := range w.Positions {
			next, ok := d.Over(w.Department, position, on)
			if !ok {
				return circulation.Person{}, false
			}
			higher := !known
			above(d, over, on, func(_ int, p circulation.Person) bool { higher = higher || p.Is(next); return !higher })
			if known = true; higher {
				over = next
				over.Via = fmt.Sprintf("over %s of %s as of %s", position, w.Department, on)
			}
		}
	}
	return over, known
}

// find returns whom a stage's Who names, whether they may stamp or not.
func (w Who) find(f *Facts, d Directory) (found []circulation.Person) {
	add := func(p circulation.Person, via string) {
		p.Via = via
		found = append(found, p)
	}
	if w.Nobody {
		return nil
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
		all := slices.DeleteFunc(slices.Clone(w.Positions), func(position string) bool {
			return w.Placed && d.Outranks(f.Requester, position, f.On) // such a post of theirs stands below them
		})
		if len(all) == 0 {
			add(f.Requester, "above "+w.Positions[0]+" as of "+f.On)
		}
		for _, position := range all {
			for _, p := range d.Holders(w.Department, position, f.On) {
				add(p, fmt.Sprintf("%s of %s as of %s", position, w.Department, f.On))
			}
		}
	case WhoManager:
		below := f.Requester
		above(d, below, f.On, func(level int, p circulation.Person) bool {
			if level == w.Level {
				p = asManager(p, f.Requester, level, f.On)
				if of := passed(d, below, f.On); of.OnLeave != nil {
					p.Via = of.Via(p.Via)
				}
				found = append(found, p)
			}
			below = p
			return level < w.Level
		})
	}
	return found
}

// policies returns the routes of the rule with this id. The last rule has one for what writes outside, and one for what
// only reads, which counts if the other has no such stage.
func (r *Rules) policies(id string) (all []*Policy) {
	outcomes := []Outcome{}
	if id == LastID {
		outcomes = append(outcomes, r.Last.Writes, r.Last.Reads)
	}
	for i := range r.Rules {
		if r.Rules[i].ID == id {
			outcomes = append(outcomes, r.Rules[i].Outcome)
		}
	}
	for _, o := range outcomes {
		if o.Route != nil {
			all = append(all, o.Route)
		}
	}
	return all
}

// Home stands for the channel at a channel's stage where nobody else is: in direct messages, and in a channel that has
// no full member but the askers. It is a channel, whose members are asked, or without one a list of people. The zero
// value is none.
type Home struct {
	Channel string   `json:"channel"` // its id
	Users   []string `json:"users"`   // Slack user ids
}

// None reports whether nobody is named.
func (h Home) None() bool { return h.Channel == "" && len(h.Users) == 0 }

// viaHome is how a route found those whom the home lists.
const viaHome = "approver of direct messages"

// people returns those whom it lists.
func (h Home) people(d Directory) (all []circulation.Person) {
	for _, user := range h.Users {
		p := d.Person(user)
		p.Via = viaHome
		all = append(all, p)
	}
	return all
}

// Alone reports whether nobody but the askers is where a request was made.
func (f *Facts) Alone(d Directory) bool {
	return f.Place.Direct || f.Place.Channel != "" && d.Empty(f.Place.Channel, f.Askers, f.On)
}

// AsksHome reports whether the route of a request would ask the home.
func (p *Policy) AsksHome(f *Facts, d Directory) bool {
	return slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Who.Kind == WhoChannel }) && f.Alone(d)
}

// HomeOf returns the channel whose members a request's route asks in place of those of its own, or "".
func (f *Facts) HomeOf(route *circulation.Route, d Directory) string {
	asks := func(s circulation.Stage) bool { return s.Mode == circulation.ModeChannel && s.LeftOut == "" }
	if !slices.ContainsFunc(route.Stages, asks) || !f.Alone(d) {
		return ""
	}
	return f.Home.Channel
}

// channel finds whom a channel's stage asks.
func (r *resolving) channel(i int) error {
	s, home := &r.sources[i], r.facts.Home
	out := circulation.Stage{Name: s.Name, Mode: circulation.ModeChannel, Need: 1}
	var found []circulation.Person
	switch alone := r.facts.Alone(r.d); {
	case alone && home.None():
		return r.refuse(i, LeftHome)
	case alone && home.Channel != "" && r.d.Empty(home.Channel, r.facts.Askers, r.facts.On):
		return r.refuse(i, r.whoseOwn())
	case alone && home.Channel == "":
		out.Mode = circulation.ModePeople
		found = home.people(r.d)
		out.People = r.named(s, found)
		if len(r.stamping(out.People)) == 0 {
			return r.refuse(i, r.whyFew(s, found, 1))
		}
	}
	r.stages, r.found, r.gone = append(r.stages, out), append(r.found, found), append(r.gone, nil)
	return nil
}
