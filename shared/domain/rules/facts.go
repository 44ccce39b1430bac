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
	KindSteps Kind = "steps" // the steps of a request
	KindCall  Kind = "call"  // a call that an outside agent asks for
)

var kinds = []Kind{KindSteps, KindCall}

// Facts are what rules may know of a request.
type Facts struct {
	Kind      Kind
	Place     Place
	Requester string
	Askers    []circulation.Person // may not stamp, the requester among them
	// Departments is the requester's department in the organisation and those above it. Groups are the requester's, of
	// those that rules name.
	Organised   bool
	Departments []string
	Groups      []string
	Department  string // what the requester's is called; no condition reads it
	// Unknown are departments of the rules' conditions that the organisation doesn't have: nobody can say who is in them.
	Unknown []string
	// Stranger is an asker whom the organisation that stands doesn't have, the requester first. Whatever the rules say
	// is refused.
	Stranger string
	Calls    []Call
}

// Alone reports whether nobody but the askers is where a request was made.
func (f *Facts) Alone(d Directory) bool {
	return f.Place.Direct || f.Place.Channel != "" && d.Empty(f.Place.Channel, f.Askers)
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
	Amount Amount
	// Labels are the values at each label that the call's mark has; none: they aren't known.
	Labels map[string][]string
}

// Writes reports whether the call changes something outside.
func (c Call) Writes() bool { return c.Access != aggregate.Read }

// Writes reports whether one of the calls changes something outside. What runs where the agent runs has none, and
// may do anything.
func (f *Facts) Writes() bool { return f.uncalled() || slices.ContainsFunc(f.Calls, Call.Writes) }

func (f *Facts) uncalled() bool { return f.Kind != KindSteps && len(f.Calls) == 0 }

// Amount is the sum over all calls. Of what runs where the agent runs it is unknown.
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
	// Unknown is the department of the condition that the organisation doesn't have, where the rule is unsure for that.
	Unknown string
	// Unlabelled is a label by which the rule might take the request, whose value nobody knows or no rule lists. Then
	// the rule refuses.
	Unlabelled string
}

// Match returns the decision of the first rule whose conditions all hold, or that of Last. A rule that might hold
// refuses. Rules of another form refuse everything.
func (r *Rules) Match(f *Facts) Answer {
	last := circulation.Rule{ID: LastID, Revision: r.Rev}
	if r.Form != Form || f.Stranger != "" {
		return answer(last, Outcome{})
	}
	listed := r.listed()
	for i := range r.Rules {
		x := &r.Rules[i]
		rule := circulation.Rule{ID: x.ID, Name: x.Name, Revision: r.Rev}
		if x.When.hold(f) {
			return answer(rule, x.Outcome)
		}
		if label, who := x.When.unsure(f, listed); who || label != "" {
			a := answer(rule, Outcome{})
			if a.Unlabelled, a.Unsure = label, who; who && f.placed() {
				a.Unknown = x.When.Requester.unknown(f)
			}
			return a
		}
	}
	a := answer(last, r.Last.reads())
	if f.Writes() {
		a = answer(last, r.Last.Writes)
	}
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
