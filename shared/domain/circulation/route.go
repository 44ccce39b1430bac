package circulation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Form is the form of routes and acts that this release reads and writes. A release that gives them another field,
// kind or mode raises it: what has another form settles nothing and offers nothing.
const Form = 8

// Gate is what Walk needs of a gate.
type Gate struct {
	AskedAt  time.Time `json:"asked_at"`
	Hours    int       `json:"hours"` // for each stage
	Askers   []Person  `json:"askers"`
	AskedSum string    `json:"asked"` // hash of what is asked, the rule and the route
	Rule     *Rule     `json:"rule"`  // by which it opened; nil: by the settings alone. Walk doesn't look at Days
	Days     int       `json:"days"`  // for how long its settlement lets calls begin
	Route    *Route    `json:"route"`
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

// Details are the rule's members that audit entries name.
func (r Rule) Details() map[string]any {
	details := map[string]any{"id": r.ID, "name": r.Name, "revision": r.Revision}
	if r.Numbered {
		details["numbered"] = true
	}
	return details
}

// Route is whom a gate asks, as it was resolved before the gate opened. It never changes.
type Route struct {
	Form    int      `json:"form"`
	Stages  []Stage  `json:"stages"` // asked in this order; the first has number 1
	Hands   int      `json:"hands"`  // how many different people's hands the stamps need, over all stages
	Readers []Person `json:"readers,omitempty"`
	Org     string   `json:"org,omitempty"` // version of the organisation; empty: none stands, a person is an account
}

// Stage is people who are asked at the same time.
type Stage struct {
	Name    string   `json:"name"`
	Mode    Mode     `json:"mode"`
	People  []Person `json:"people,omitempty"`
	Need    int      `json:"need,omitempty"`     // how many stamps
	LeftOut string   `json:"left_out,omitempty"` // why it asks nobody; empty: it asks
	Filled  string   `json:"filled,omitempty"`   // why who stands above takes places; empty: nobody does
	// Parts cut People into runs that are asked beside one another, each with stamps of its own. Their numbers of
	// people and of stamps add up to the stage's. None: the stage is one part.
	Parts      []Part `json:"parts,omitempty"`
	NoStandIns bool   `json:"no_stand_ins,omitempty"` // nobody acts for its people
	// Raises are whom its people may add after themselves, as the rule names them. None is asked, nor owes, before that.
	Raises []Raise `json:"raises,omitempty"`
}

// Raise is somebody whom a stage's people may add, in a case that they judge.
type Raise struct {
	When    string `json:"when"` // the case, as the rule says it
	To      Person `json:"to"`
	LeftOut string `json:"left_out,omitempty"` // why it offers nobody, as of a stage; empty: it does
}

// Part is a run of a stage's people.
type Part struct {
	N  int `json:"n"`  // how many people
	Of int `json:"of"` // how many stamps of theirs
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
		return rule != nil && s.Need >= 1 && s.cut()
	}
	return s.Mode == mode && len(s.People) == 0 && len(s.Parts) == 0 && s.Need == 1
}

// open returns the state of a gate before the first act; ok is false if this release can't walk its route.
func open(g *Gate) (st State, ok bool) {
	r := g.Route
	if r == nil || r.Form != Form || !r.sound(g.Rule) || g.AskedSum == "" || g.AskedAt.IsZero() || g.Hours < 1 {
		return State{}, false
	}
	stamps := 0
	st.who, st.need, st.askers = persons{}, r.Hands, g.Askers
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
		st.seat(g, s)
		stamps += s.Owed
	}
	st.bytes = g.bytes()
	st.enter(g, nil)
	return st, stamps <= maxStamps && st.fits() && st.missing() == 0
}

// AskedText returns what a gate's stamps are on, as JSON: what is asked, the rule and the route.
func AskedText(rule *Rule, route *Route, what ...string) string {
	return textOf([]any{what, rule, route})
}

// Sum returns the hash of AskedText: Gate.AskedSum.
func Sum(rule *Rule, route *Route, what ...string) string {
	return hashOf(AskedText(rule, route, what...))
}

// OpenedText returns what a walk begins with, as JSON: the gate without its acts.
func OpenedText(g Gate) string {
	g.AskedAt, g.Acts = exact(g.AskedAt), nil
	return textOf(g)
}

// RouteHash returns the hash of OpenedText: by which rule and whom a gate asks, whose request it is, since when and for
// how long.
func RouteHash(g Gate) string { return hashOf(OpenedText(g)) }

// ActText returns an act as JSON.
func ActText(act Act) string {
	act.At = exact(act.At)
	return textOf(act)
}

// Hash returns the hash of acts as a JSON list of their texts.
func Hash(acts []Act) string {
	texts := make([]string, len(acts))
	for i := range acts {
		if texts[i] = ActText(acts[i]); texts[i] == "" {
			return ""
		}
	}
	return hashOf("[" + strings.Join(texts, ",") + "]")
}

// exact returns a time as rows keep it: in UTC and milliseconds.
func exact(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

// textOf returns "" for what JSON can't say: a time outside of the years 0 to 9999.
func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// hashOf returns a text's hexadecimal SHA-256, and "" for none.
func hashOf(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
