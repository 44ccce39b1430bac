package circulation

import (
	"slices"
	"time"
)

// Form is the form of routes and acts that this release reads and writes. A release that gives them another field,
// kind or mode raises it: what has another form settles nothing and offers nothing.
const Form = 1

// Gate is what Walk needs of a gate under a rule.
type Gate struct {
	AskedAt time.Time `json:"asked_at"`
	Hours   int       `json:"hours"` // for each stage
	Askers  []Person  `json:"askers"`
	Asked   string    `json:"asked"` // hash of what is asked, the rule and the route
	Route   *Route    `json:"route"`
	Acts    []Act     `json:"acts"` // the oldest first; never changed, only added to
}

// Rule names the rule that chose a gate's route, and its revision then.
type Rule struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Revision int    `json:"revision"`
}

// Route is whom a gate asks, as it was resolved before the gate opened. It never changes.
type Route struct {
	Form    int      `json:"form"`
	Stages  []Stage  `json:"stages"` // asked in this order; the first has number 1
	Hands   int      `json:"hands"`  // how many different people's hands the stamps need, over all stages
	Readers []Person `json:"readers,omitempty"`
	Org     string   `json:"org,omitempty"` // version of the organisation; empty: none stands, and a person is an account
}

// Stage is people who are asked at the same time.
type Stage struct {
	Name    string   `json:"name"`
	Mode    Mode     `json:"mode"`
	People  []Person `json:"people,omitempty"`
	Need    int      `json:"need,omitempty"`     // how many stamps
	LeftOut string   `json:"left_out,omitempty"` // why it asks nobody; empty: it asks
}

// Mode says whom a stage asks.
type Mode string

const (
	ModePeople  Mode = "people"
	ModeChannel Mode = "channel" // anybody in the channel who is no asker; one stamp
)

// Person is an account, and where an organisation stands, whose it is.
type Person struct {
	User   string `json:"user"`             // Slack user id
	Person string `json:"person,omitempty"` // key in the organisation
	Via    string `json:"via,omitempty"`    // how the route found them
}

// id returns by what the route compares people; empty: the person has no row in the organisation.
func (r *Route) id(p Person) string {
	if r.Org == "" {
		return p.User
	}
	return p.Person
}

// asks reports whether somebody is one of the askers, by account or by person.
func (g *Gate) asks(p Person) bool {
	return slices.ContainsFunc(g.Askers, func(a Person) bool {
		return a.User == p.User || a.Person != "" && a.Person == p.Person
	})
}

// position returns where a person is in a list, or -1.
func (r *Route) position(people []Person, p Person) int {
	return slices.IndexFunc(people, func(other Person) bool { return r.same(other, p) })
}

// open returns the state of a gate before the first act; ok is false if this release can't walk its route.
func open(g Gate) (st State, ok bool) {
	r := g.Route
	if r == nil || r.Form != Form || r.Hands < 1 || g.Asked == "" || g.AskedAt.IsZero() || g.Hours < 1 {
		return State{}, false
	}
	stamps := 0
	for _, stage := range r.Stages {
		s := StageState{Stage: stage, Owed: stage.Need}
		s.People = nil
		for _, p := range stage.People {
			if r.id(p) != "" && !g.asks(p) && r.position(s.People, p) < 0 {
				s.People = append(s.People, p)
			}
		}
		switch {
		case stage.LeftOut != "":
			s.Owed, s.People = 0, nil
		case stage.Need < 1:
			return State{}, false
		case stage.Mode == ModePeople: // whether they are enough, missing says
		case stage.Mode == ModeChannel && len(stage.People) == 0 && stage.Need == 1:
		default:
			return State{}, false
		}
		stamps += s.Owed
		st.Stages = append(st.Stages, s)
	}
	if stamps > maxStamps {
		return State{}, false
	}
	st.bytes = r.bytes()
	st.enter(g, g.AskedAt)
	return st, st.fits() && st.missing(g) == 0
}
