package circulation

import "time"

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
func (r *Route) id(p *Person) string {
	if r.Org == "" {
		return p.User
	}
	return p.Person
}

// same reports whether two are one person.
func (r *Route) same(a, b *Person) bool { return r.id(a) == r.id(b) }

// position returns where a person is in a list, or -1.
func (r *Route) position(people []Person, p *Person) int {
	for i := range people {
		if r.same(&people[i], p) {
			return i
		}
	}
	return -1
}

// asks reports whether somebody is one of the askers, by account or by person.
func (g *Gate) asks(p *Person) bool {
	for i := range g.Askers {
		if a := &g.Askers[i]; a.User == p.User || a.Person != "" && a.Person == p.Person {
			return true
		}
	}
	return false
}

// open returns the state of a gate before the first act; ok is false if this release can't walk its route.
func open(g *Gate) (st State, ok bool) {
	r := g.Route
	if r == nil || r.Form != Form || r.Hands < 1 || g.Asked == "" || g.AskedAt.IsZero() || g.Hours < 1 {
		return State{}, false
	}
	stamps := 0
	st.Stages = make([]StageState, len(r.Stages))
	for i := range r.Stages {
		s := &st.Stages[i]
		s.Stage = r.Stages[i]
		if s.LeftOut != "" {
			s.People = nil
			continue
		}
		if s.Need < 1 || s.Mode != ModePeople && (s.Mode != ModeChannel || len(s.People) > 0 || s.Need > 1) {
			return State{}, false
		}
		s.People = r.asked(g, s.People)
		s.Owed = s.Need
		stamps += s.Owed
	}
	st.bytes = r.bytes()
	st.enter(g, nil)
	return st, stamps <= maxStamps && st.fits() && st.missing(r) == 0
}

// asked returns those of a stage's people who may stamp, each once.
func (r *Route) asked(g *Gate, people []Person) (out []Person) {
	for i := range people {
		if p := &people[i]; r.id(p) != "" && !g.asks(p) && r.position(out, p) < 0 {
			out = append(out, *p)
		}
	}
	return out
}
