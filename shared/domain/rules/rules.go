// Package rules says who is asked about a request: Match finds the tenant's rule for it, and Resolve turns that rule's
// stages into a circulation.Route of named people. Amounts are read from a call's arguments where an administrator
// marked them. Problems and Findings check rules when they are saved. Everything is a pure function; what Slack and the
// organisation say comes in through Facts and Directory.
//
// No condition reads words that people or models write, since words are what whoever asks can choose. Conditions are
// on what asks, who, the place, tools by address and name, amounts, and labels: values of arguments that an
// administrator marked, such as 費目. A rule that lists no tools takes whatever writes outside. The first rule counts
// whose conditions all hold. Where none does, one person of the channel is asked about what only reads, and what writes
// is refused: a last rule without conditions takes that, too. A rule that hangs on something unknown refuses, because a
// later one might ask less.
//
// What isn't surely a number is at least every amount and below none: a text in other digits, a reference, an empty
// list, two currencies, a member that is there twice.
//
// A stage asks so many, or all, of those whom any of its sources finds. No asker stamps, and nobody twice: whoever has
// to stamp at an earlier stage counts at a later one, which is left out if nobody else is needed. Who stands above
// takes the place of whoever is missing, else the request is refused with the stage's name. A post that the
// organisation doesn't have is unknown, not vacant: it may have another name by now. Of an asker without a row in the
// organisation nobody can say where they stand; everything is refused.
//
// A position without a department is the nearest above whoever asks: of the department of their main post or the first
// above that has such a post, also where it is vacant. Superiors are counted by who leads: a department that
// nobody leads is no step.
package rules

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Rules are a tenant's rules. The first rule whose conditions all hold decides.
type Rules struct {
	Rev   int    `json:"rev"`
	Rules []Rule `json:"rules"`
}

// Groups returns the user groups in conditions on who asks.
func (r *Rules) Groups() (ids []string) {
	for i := range r.Rules {
		ids = append(ids, r.Rules[i].Groups...)
	}
	return ids
}

// Takes reports whether a rule may take calls of a tool that are asked about so, by whomever, wherever and whatever
// they are about.
func (r *Rules) Takes(kind Kind, tool Known) bool {
	f := &Facts{Kind: kind, Calls: []Call{{Tool: tool.Tool, Access: tool.Access}}}
	return slices.ContainsFunc(r.Rules, func(x Rule) bool { return x.asks(kind) && x.uses(f) })
}

// Rule says what becomes of the requests that meet its conditions.
type Rule struct {
	ID   string `json:"id"` // ULID
	Name string `json:"name"`
	Conditions
	Outcome
}

// Outcome is a route, or a refusal if it has no stages.
type Outcome struct {
	Stages   []Stage `json:"stages,omitempty"`   // at most MaxStages
	Refuse   string  `json:"refuse,omitempty"`   // what the requester is told; only without stages
	Numbered bool    `json:"numbered,omitempty"` // what is settled by the route gets a number
	Tells    string  `json:"tells,omitempty"`    // id of a channel or user group that is told at the end
}

// Stage is people who are asked at the same time: those whom any of its sources finds.
type Stage struct {
	Name string `json:"name"`
	Need int    `json:"need,omitempty"` // how many of them must stamp; 0: all
	Who
}

// Who are the sources of a stage. One that is absent finds nobody.
type Who struct {
	People     []string `json:"people,omitempty"`     // Slack user ids
	Group      string   `json:"group,omitempty"`      // id of a Slack user group
	Superior   int      `json:"superior,omitempty"`   // so many levels above the requester; 1: the direct one
	Department string   `json:"department,omitempty"` // its path in the organisation
	Position   string   `json:"position,omitempty"`   // in Department, else the nearest above; none: who heads Department
	Channel    bool     `json:"channel,omitempty"`    // anybody there who is no asker: names nobody, and stands alone
	Placed     bool     `json:"-"`                    // the rule has no department: it is found from the requester
}

// post reports whether a position or a department's head is among the sources.
func (w *Who) post() bool { return w.Department != "" || w.Position != "" || w.Placed }

// none reports whether it has no source.
func (w *Who) none() bool {
	return !w.Channel && len(w.People) == 0 && w.Group == "" && w.Superior == 0 && !w.post()
}

// Known is a tool that requests of a tenant may call.
type Known struct {
	Tool   Tool
	Access aggregate.Access
}

// mayWrite reports whether a request that meets the conditions may write outside. It may not if it uses only tools that
// are known to read.
func (c *Conditions) mayWrite(known []Known) bool {
	return !c.Only || slices.ContainsFunc(c.Tools, func(listed Tool) bool {
		reads := func(access bool) bool {
			return slices.ContainsFunc(known, func(k Known) bool {
				return k.Tool.Same(listed) && (k.Access == aggregate.Read) == access
			})
		}
		return !reads(true) || reads(false)
	})
}

// LastID is the id of what decides where no rule does. No ULID equals it.
const LastID = "last"

// last is what becomes of requests that no rule takes.
func last(f *Facts) Outcome {
	if f.Writes() {
		return Outcome{}
	}
	return Outcome{Stages: []Stage{{Who: Who{Channel: true}, Need: 1}}}
}

// Answer is what the rules say about a request. It is refused, or has stages.
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

// Match returns the decision of the first rule whose conditions all hold. A rule that might hold refuses.
func (r *Rules) Match(f *Facts) Answer {
	none := circulation.Rule{ID: LastID, Revision: r.Rev}
	if f.Stranger != "" {
		return answer(none, Outcome{})
	}
	listed := r.listed()
	for i := range r.Rules {
		x := &r.Rules[i]
		rule := circulation.Rule{ID: x.ID, Name: x.Name, Revision: r.Rev}
		if x.hold(f) {
			return answer(rule, x.Outcome)
		}
		if label, who := x.unsure(f, listed); who || label != "" {
			a := answer(rule, Outcome{})
			if a.Unlabelled, a.Unsure = label, who; who && f.placed() {
				a.Unknown = x.nowhere(f)
			}
			return a
		}
	}
	a := answer(none, last(f))
	a.Last = true
	return a
}

func answer(rule circulation.Rule, o Outcome) Answer {
	refused := len(o.Stages) == 0
	rule.Numbered = o.Numbered && !refused
	return Answer{Rule: rule, Outcome: o, Refused: refused}
}
