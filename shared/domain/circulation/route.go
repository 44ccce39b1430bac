package circulation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Form is the form of routes and acts: what has another one settles nothing and offers nothing.
const Form = 1

// Bounds of a gate: its row has to fit beside what it asks.
const (
	MaxText   = 1000                 // characters of an act's text
	MaxStamps = 50                   // that all stages need together
	MostTime  = 300 * 24 * time.Hour // that all stages of a gate under a rule may take together
)

// Gate is what Walk needs of a gate.
type Gate struct {
	AskedAt  time.Time `json:"asked_at"`
	Hours    int       `json:"hours"` // for each stage
	Askers   []Person  `json:"askers"`
	AskedSum string    `json:"asked"` // hash of what is asked, the rule and the route
	Rule     *Rule     `json:"rule"`  // by which it opened; nil: by the settings alone
	Days     int       `json:"days"`  // for how long its settlement lets calls begin; Walk doesn't look at it
	Route    *Route    `json:"route"`
	Acts     []Act     `json:"acts"` // the oldest first; never changed, only added to
}

// asks reports whether somebody is one of the askers.
func (g *Gate) asks(p Person) bool { return slices.ContainsFunc(g.Askers, p.Is) }

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
	Form   int     `json:"form"`
	Stages []Stage `json:"stages"`          // asked in this order; the first has number 1
	Tells  string  `json:"tells,omitempty"` // Slack id of a channel or user group that is told at the end
	// LeftOut names the rule's stages at which those who have to stamp before are enough.
	LeftOut []string `json:"left_out,omitempty"`
}

// Stage is people who are asked at the same time.
type Stage struct {
	Name   string   `json:"name"`
	Mode   Mode     `json:"mode"`
	People []Person `json:"people,omitempty"`
	Need   int      `json:"need"`             // how many stamps
	Before []Person `json:"before,omitempty"` // whose stamps at earlier stages count here, beside Need
}

// Mode says whom a stage asks.
type Mode string

const (
	ModePeople   Mode = "people"
	ModeChannel  Mode = "channel"  // anybody in the channel who is no asker; one stamp
	ModeSettings Mode = "settings" // whoever the settings allow when they act: of a gate without a rule; one stamp
)

// Person is a Slack account.
type Person struct {
	User string `json:"user"`          // Slack user id
	Via  string `json:"via,omitempty"` // how the route found them
}

// Is reports whether two are one account.
func (p Person) Is(other Person) bool { return p.User != "" && p.User == other.User }

// BySettings is the route of a gate without a rule: one stamp of whoever the settings allow, or nobody's.
func BySettings(required bool) Route {
	if !required {
		return Route{Form: Form, Stages: []Stage{}}
	}
	return Route{Form: Form, Stages: []Stage{{Mode: ModeSettings, Need: 1}}}
}

// sound reports whether a gate is one that this release can walk. Without a rule it has one stage at the most.
func (g *Gate) sound() bool {
	r := g.Route
	return r != nil && r.Form == Form && g.AskedSum != "" && !g.AskedAt.IsZero() && g.Hours > 0 &&
		(g.Rule == nil && len(r.Stages) <= 1 || g.Rule != nil && len(r.Stages) > 0)
}

// sound reports whether a stage makes sense. One of people needs stamps of theirs, any other one stamp of somebody whom
// it doesn't name; without a rule the settings alone say who.
func (s *Stage) sound(rule *Rule) bool {
	switch s.Mode {
	case ModePeople:
		return rule != nil && s.Need > 0
	case ModeChannel:
		return rule != nil && s.Need == 1 && len(s.People) == 0
	case ModeSettings:
		return rule == nil && s.Need == 1 && len(s.People) == 0
	}
	return false
}

// AskedText returns what a gate's stamps are on, as JSON: what is asked, the rule and the route.
func AskedText(rule *Rule, route *Route, what ...string) string {
	return textOf([]any{what, rule, route})
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
