package rules

import (
	"slices"

	"ringi/shared/domain/circulation"
)

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
	s, home := &r.policy.Stages[i], r.facts.Home
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
	r.stages, r.found = append(r.stages, out), append(r.found, found)
	return nil
}
