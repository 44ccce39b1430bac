package circulation

import "time"

// Form is the form of routes and acts that this release reads and writes. A release that gives them another field,
// kind or mode raises it: what has another form settles nothing and offers nothing.
const Form = 1

// Gate is what Walk needs of a gate.
type Gate struct {
	AskedAt time.Time `json:"asked_at"`
	Hours   int       `json:"hours"` // for each stage
	Askers  []Person  `json:"askers"`
	Asked   string    `json:"asked"` // hash of what is asked, the rule and the route
	Rule    *Rule     `json:"rule"`  // by which it opened; nil: by the settings alone. Walk doesn't look at Days
	Days    int       `json:"days"`  // for how long its settlement lets calls begin
	Route   *Route    `json:"route"`
	// Home is the Slack id of the channel whose members a channel's stage asks; empty: of that of the request.
	Home string `json:"home,omitempty"`
	Acts []Act  `json:"acts"` // the oldest first; never changed, only added to
}

// Rule names the rule that chose a gate's route, and its revision then.
type Rule struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Revision int    `json:"revision"`
	Numbered bool   `json:"numbered,omitempty"` // what is settled gets a number when it begins to run
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
	Filled  string   `json:"filled,omitempty"`   // why who stands above takes places; empty: nobody does
}

// Mode says whom a stage asks.
type Mode string

const (
	ModePeople   Mode = "people"
	ModeChannel  Mode = "channel"  // anybody in the channel who is no asker; one stamp
	ModeSettings Mode = "settings" // whoever the settings allow when they act: of a gate without a rule; one stamp
)

// Person is an account, and where an organisation stands, whose it is.
type Person struct {
	User   string `json:"user"`             // Slack user id
	Person string `json:"person,omitempty"` // key in the organisation
	Via    string `json:"via,omitempty"`    // how the route found them
}

// Is reports whether two are one account, or one person of the organisation.
func (p Person) Is(other Person) bool {
	return p.User != "" && p.User == other.User || p.Person != "" && p.Person == other.Person
}

// counts reports whether somebody may be on the route: has an account, and where an organisation stands, a row there.
func (r *Route) counts(p *Person) bool { return p.User != "" && (r.Org == "" || p.Person != "") }

// key returns by what the keys of other rows name somebody.
func (r *Route) key(p *Person) string {
	if r.Org == "" {
		return p.User
	}
	return p.Person
}

// BySettings is the route of a gate without a rule: one stamp of whoever the settings allow, or nobody's.
func BySettings(required bool) Route {
	if !required {
		return Route{Form: Form, Stages: []Stage{}}
	}
	return Route{Form: Form, Stages: []Stage{{Mode: ModeSettings, Need: 1}}, Hands: 1}
}

// sound reports whether a route makes sense: without a rule it has one stage at the most, and only without stages it
// needs no hands.
func (r *Route) sound(rule *Rule) bool {
	if rule != nil {
		return r.Hands > 0
	}
	return len(r.Stages) <= 1 && (r.Hands > 0 || len(r.Stages) == 0)
}

// sound reports whether a stage makes sense. One of people needs stamps of theirs, any other one stamp of somebody whom
// it doesn't name; without a rule the settings alone say who.
func (s *Stage) sound(rule *Rule) bool {
	mode := ModeChannel
	if rule == nil {
		mode = ModeSettings
	}
	if s.Mode == ModePeople {
		return rule != nil && s.Need >= 1
	}
	return s.Mode == mode && len(s.People) == 0 && s.Need == 1
}

// open returns the state of a gate before the first act; ok is false if this release can't walk its route.
func open(g *Gate) (st State, ok bool) {
	r := g.Route
	if r == nil || r.Form != Form || !r.sound(g.Rule) || g.Asked == "" || g.AskedAt.IsZero() || g.Hours < 1 {
		return State{}, false
	}
	stamps := 0
	st.who = persons{}
	st.who.meetAll(g)
	st.Stages = make([]StageState, len(r.Stages))
	for i := range r.Stages {
		s := &st.Stages[i]
		s.Stage = r.Stages[i]
		if s.LeftOut != "" {
			s.People = nil
			continue
		}
		if !s.sound(g.Rule) {
			return State{}, false
		}
		s.People, s.Aside = st.asked(g, s.People)
		s.Owed = s.Need
		stamps += s.Owed
	}
	st.bytes = g.bytes()
	st.enter(g, nil)
	return st, stamps <= maxStamps && st.fits() && st.missing(r) == 0
}

// asked returns those of a stage's people who may stamp, and the askers among them, each once.
func (st *State) asked(g *Gate, people []Person) (asked, aside []Person) {
	for i := range people {
		switch p := &people[i]; {
		case !g.Route.counts(p):
		case st.who.asks(g, p):
			aside = append(aside, *p)
		default:
			asked = append(asked, *p)
		}
	}
	return st.who.distinct(asked), st.who.distinct(aside)
}
