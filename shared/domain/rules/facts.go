package rules

import (
	"net/url"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Kind is what asks.
type Kind string

const (
	KindSteps  Kind = "steps"  // the steps of a request
	KindAction Kind = "action" // what an agent proposes in a conversation
	KindCall   Kind = "call"   // a call that an outside agent asks for
)

var kinds = []Kind{KindSteps, KindAction, KindCall}

// Facts are what rules may know of a request.
type Facts struct {
	Kind      Kind
	Place     Place
	Requester circulation.Person
	// Askers may not stamp, the requester among them. Spoken says that the requester is only who spoke last, so that
	// what is asked may be any asker's words.
	Askers []circulation.Person
	Spoken bool
	Home   Home
	// On is the day, such as 2026-11-22 in the tenant's zone, as of which people are looked up.
	On   string
	Rule string // id of the rule whose route is resolved: a delegation may be for some rules
	// Departments is the requester's department in the organisation and those above it. Groups are the requester's.
	// Both count only while an organisation stands.
	Organised   bool
	Departments []string
	Groups      []string
	Department  string // what the requester's is called; no condition reads it
	Position    string // of the requester's main post, as the organisation writes it
	// Unknown are departments and positions of the rules' conditions that the organisation has on no day: nobody can
	// say who is in them.
	Unknown []string
	// Absent are askers who have left by that day, or haven't begun. They are strangers to the organisation, too.
	Absent []circulation.Person
	Calls  []Call
	// Inside says of an action without a call that it can change nothing but its conversation's files.
	Inside bool
}

// stranger returns an asker whom the organisation that stands doesn't know as of that day: the requester first.
func (f *Facts) stranger() (circulation.Person, bool) {
	for _, p := range append([]circulation.Person{f.Requester}, f.Askers...) {
		if f.Organised && (p.Person == "" || slices.ContainsFunc(f.Absent, p.Is)) {
			return p, true
		}
	}
	return circulation.Person{}, false
}

// placed reports whether the organisation says where the requester belongs.
func (f *Facts) placed() bool { return f.Organised && len(f.Departments) > 0 }

// Place is where a request was made.
type Place struct {
	Channel string `json:"channel,omitempty"` // its id
	Direct  bool   `json:"direct,omitempty"`  // in direct messages; Channel doesn't count
}

// Call is one call of a tool that a request makes.
type Call struct {
	Tool   Tool
	Access aggregate.Access // what isn't known to read counts as writing outside
	// Destinations are the values of the arguments that say where a write goes. None: it may go anywhere.
	Destinations []string
	Amount       Amount
	// Labels are the values at each label that the call's mark has; none: they aren't known.
	Labels map[string][]string
}

// Writes reports whether the call changes something outside.
func (c Call) Writes() bool { return c.Access != aggregate.Read }

// Writes reports whether one of the calls changes something outside. An action without a call of a tool may do
// anything, unless it stays inside.
func (f *Facts) Writes() bool { return f.uncalled() || slices.ContainsFunc(f.Calls, Call.Writes) }

func (f *Facts) uncalled() bool { return f.Kind != KindSteps && len(f.Calls) == 0 && !f.Inside }

// Amount is the sum over all calls. Of an action without one it is unknown, unless it stays inside.
func (f *Facts) Amount() Amount {
	if f.uncalled() {
		return Unknown(WhyUnmarked)
	}
	sum := Nothing()
	for _, c := range f.Calls {
		sum = sum.Plus(c.Amount)
	}
	return sum
}

// Tool names a tool by the address of its server, so that a second name for the same server changes nothing.
type Tool struct {
	Address string `json:"address,omitempty"` // of the MCP server; empty: Ringi's own
	Name    string `json:"name"`              // as the server calls it
}

// Same reports whether two names are of one tool. An address's scheme and host in other letters, its scheme's usual
// port and slashes at the end make no difference.
func (t Tool) Same(other Tool) bool {
	return t.Name == other.Name && plainAddress(t.Address) == plainAddress(other.Address)
}

var usualPorts = map[string]string{"https": ":443", "http": ":80"}

func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, usualPorts[u.Scheme])
	u.Host = strings.TrimSuffix(u.Host, ".")
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u.String()
}

// Answer is what the rules say about a request. Exactly one of Route and Refused is set.
type Answer struct {
	Rule circulation.Rule
	Last bool // no rule took the request
	Outcome
	Refused bool
	// Unsure: it is the rule's answer if the requester meets its condition, and the organisation doesn't say so. Then
	// the rule refuses.
	Unsure bool
	// Unknown is the department or position of the condition that the organisation has on no day, where the rule is
	// unsure for that.
	Unknown string
	// Unlabelled is a label by which the rule might take the request, and nobody knows its value. Then the rule
	// refuses, since what takes the request otherwise asks less.
	Unlabelled string
	// Stranger is an asker whom the organisation that stands doesn't have on the day: nobody can say who else they are,
	// or they work there no more, or not yet. Whatever the rules say is refused.
	Stranger circulation.Person
}

// Match returns the decision of the first rule whose conditions all hold, or that of Last. If it asks less than an
// earlier rule that might hold, by a label whose value nobody knows, that rule refuses. Rules of another form refuse
// everything.
func (r *Rules) Match(f *Facts) Answer {
	if r.Form != Form {
		return answer(circulation.Rule{ID: LastID, Revision: r.Rev}, Outcome{})
	}
	if p, is := f.stranger(); is {
		a := answer(circulation.Rule{ID: LastID, Revision: r.Rev}, Outcome{})
		a.Stranger = p
		return a
	}
	a, might := r.first(f)
	if rule := a.asksLess(might); rule != nil {
		a = r.by(rule)
		a.Outcome, a.Refused = Outcome{}, true
		a.Unlabelled, _ = rule.When.unlabelled(f)
	}
	return a
}

// first is Match, without a look at the earlier rules that might take the request: it returns them, too.
func (r *Rules) first(f *Facts) (a Answer, might []*Rule) {
	for i := range r.Rules {
		switch rule := &r.Rules[i]; {
		case rule.When.hold(f):
			return r.by(rule), might
		case rule.When.unsure(f):
			return r.unsure(rule, f), might
		case rule.When.might(f):
			might = append(might, rule)
		}
	}
	if f.Writes() {
		return r.last(r.Last.Writes), might
	}
	return r.last(r.Last.reads()), might
}

// Possible returns the answers that a request may get as long as only who asks is known, and where. If none of them is
// a route that can be resolved, the request can be refused before its steps are known.
func (r *Rules) Possible(f *Facts) (all []Answer) {
	if _, is := f.stranger(); is || r.Form != Form {
		return []Answer{r.Match(f)}
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		early := rule.When
		early.Tools, early.Destinations, early.Amount, early.Labels = nil, nil, nil, nil
		switch {
		case early.hold(f):
			all = append(all, r.by(rule))
		case early.unsure(f):
			all = append(all, r.unsure(rule, f))
		default:
			continue
		}
		if w := &rule.When; w.Tools == nil && w.Destinations == nil && w.Amount == nil && len(w.Labels) == 0 {
			return all
		}
	}
	return append(all, r.last(r.Last.reads()), r.last(r.Last.Writes))
}

func (r *Rules) by(rule *Rule) Answer {
	return answer(circulation.Rule{ID: rule.ID, Name: rule.Name, Revision: r.Rev}, rule.Outcome)
}

// unsure is the answer of a rule that hangs on what nobody knows of the requester.
func (r *Rules) unsure(rule *Rule, f *Facts) Answer {
	a := r.by(rule)
	a.Outcome, a.Refused, a.Unsure = Outcome{}, true, true
	if f.placed() {
		a.Unknown = rule.When.unknown(f)
	}
	return a
}

func (r *Rules) last(o Outcome) Answer {
	a := answer(circulation.Rule{ID: LastID, Revision: r.Rev}, o)
	a.Last = true
	return a
}

func answer(rule circulation.Rule, o Outcome) Answer {
	if o.Route != nil {
		rule.Numbered = o.Numbered
	}
	return Answer{Rule: rule, Outcome: o, Refused: o.Route == nil}
}

// reads returns what becomes of requests that only read. Unless somebody chose, one person of the channel is asked.
func (l Last) reads() Outcome {
	if l.Reads.Route != nil || l.Reads.Refuse != "" {
		return l.Reads
	}
	return Outcome{Route: &Policy{Stages: []Stage{{Who: Who{Kind: WhoChannel}, Need: 1}}}, Numbered: l.Reads.Numbered}
}
