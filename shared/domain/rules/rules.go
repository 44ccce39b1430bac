// Package rules says who is asked about a request: Match finds the tenant's rule for it, and Resolve turns that rule's
// policy into a circulation.Route of named people. Amounts are read from a call's arguments where an administrator
// marked them. Problems and Findings check rules when they are saved. Everything is a pure function; what Slack and the
// organisation say comes in through Facts and Directory.
//
// No condition reads words that people or models write, since words are what whoever asks can choose. Conditions are
// on who asks, the place, tools by address and name, amounts, and labels: values of arguments that an administrator
// marked, such as 費目. The first rule counts whose conditions all hold. Where none does, the last rule answers: one
// person of the channel for what only reads, and a refusal for what writes, until an administrator chooses otherwise. A
// rule that hangs on something unknown refuses, because a later one might ask less.
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
// above that has such a post, also where it is vacant. Managers are counted by who leads: a department that
// nobody leads is no step.
package rules

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Form is the form of rules that this release reads and writes. A release that gives them another field or kind raises
// it, because a condition that isn't known here would let the wrong rule decide.
const Form = 1

// Rules are a tenant's rules. The first rule whose conditions all hold decides; Last decides where none does.
type Rules struct {
	Form  int    `json:"form"`
	Rev   int    `json:"rev"`
	Rules []Rule `json:"rules"`
	Last  Last   `json:"last"`
}

// Calls reports whether a rule tells calls of outside agents from what else asks. The rules decide about them anyway.
func (r *Rules) Calls() bool {
	return slices.ContainsFunc(r.Rules, func(x Rule) bool { return slices.Contains(x.When.Kinds, KindCall) })
}

// Groups returns the user groups in conditions on who asks.
func (r *Rules) Groups() (ids []string) {
	for i := range r.Rules {
		if of := r.Rules[i].When.Requester; of != nil {
			ids = append(ids, of.Groups...)
		}
	}
	return ids
}

// Rule says what becomes of the requests that meet its conditions.
type Rule struct {
	ID   string     `json:"id"` // ULID
	Name string     `json:"name"`
	When Conditions `json:"when"`
	Outcome
}

// Outcome is a route or a refusal.
type Outcome struct {
	Route    *Policy `json:"route,omitempty"`
	Refuse   string  `json:"refuse,omitempty"`   // what the requester is told; only without Route
	Numbered bool    `json:"numbered,omitempty"` // what is settled by the route gets a number
}

// Last decides about requests that meet no rule. Its zero value is what a tenant has until an administrator chooses:
// somebody in the channel approves what only reads, and what writes outside is refused.
type Last struct {
	Reads  Outcome `json:"reads,omitzero"`
	Writes Outcome `json:"writes,omitzero"`
}

// LastID is the id of Last where a rule is named. No ULID equals it.
const LastID = "last"

// Policy says whom a route asks, before it is known who that is.
type Policy struct {
	Stages []Stage `json:"stages"`          // 1 to MaxStages
	Tells  string  `json:"tells,omitempty"` // id of a channel or user group that is told at the end
}

// Stage is people who are asked at the same time.
type Stage struct {
	Name string `json:"name"`
	Who  Who    `json:"who"`
	Need int    `json:"need"` // how many of them must stamp; 0: all
}

// Who says how a stage finds its people. Each kind uses its own fields.
type Who struct {
	Kind       WhoKind  `json:"kind"`
	People     []string `json:"people,omitempty"`     // Slack user ids
	Group      string   `json:"group,omitempty"`      // id of a Slack user group
	Level      int      `json:"level,omitempty"`      // of the manager above the requester; 1: the direct one
	Position   string   `json:"position,omitempty"`   // whoever holds it in Department is asked
	Department string   `json:"department,omitempty"` // code in the organisation; none: the nearest above the requester
	Any        []Who    `json:"any,omitempty"`        // whom any of these finds, of other kinds than this and the channel
	Placed     bool     `json:"-"`                    // the rule has no department: it is found from the requester
}

// WhoKind is a way to find people.
type WhoKind string

const (
	WhoPeople   WhoKind = "people"
	WhoGroup    WhoKind = "group"
	WhoManager  WhoKind = "manager"
	WhoPosition WhoKind = "position"
	WhoChannel  WhoKind = "channel" // anybody there who is no asker: names nobody
	WhoAny      WhoKind = "any"
)

// Each returns those of which any is asked; else only itself.
func (w Who) Each() []Who {
	if w.Kind == WhoAny {
		return w.Any
	}
	return []Who{w}
}

// of reports whether it asks such people, among others.
func (w Who) of(kinds ...WhoKind) bool {
	return slices.ContainsFunc(w.Each(), func(x Who) bool { return slices.Contains(kinds, x.Kind) })
}

// Known is a tool that requests of a tenant may call.
type Known struct {
	Tool   Tool
	Access aggregate.Access
}

// mayWrite reports whether a request that meets the conditions may write outside. It may not if it uses only tools that
// are known to read.
func (c *Conditions) mayWrite(known []Known) bool {
	if c.Tools == nil || c.Tools.Use != UseOnly {
		return true
	}
	return slices.ContainsFunc(c.Tools.List, func(listed Tool) bool {
		reads := func(access bool) bool {
			return slices.ContainsFunc(known, func(k Known) bool {
				return k.Tool.Same(listed) && (k.Access == aggregate.Read) == access
			})
		}
		return !reads(true) || reads(false)
	})
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
