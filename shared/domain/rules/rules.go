package rules

import "slices"

// Form is the form of rules that this release reads and writes. A release that gives them another field or kind raises
// it, because a condition that isn't known here would let the wrong rule decide.
const Form = 1

// Rules are a tenant's rules. The first rule whose conditions all hold decides; Last decides where none does.
type Rules struct {
	Form  int    `json:"form"`
	Rev   int    `json:"rev"`
	Floor Floor  `json:"floor"`
	Rules []Rule `json:"rules"`
	Last  Last   `json:"last"`
	// Moved has what Slack calls channels by now, by their former ids. It isn't saved: see Call.
	Moved map[string]string `json:"-"`
}

// Actions reports whether the rules decide about agents' actions. They do as soon as one of them names this kind: rules
// that were made for requests alone leave actions to the settings. Rules of another form decide, and refuse.
func (r *Rules) Actions() bool {
	return r.Form != Form || slices.ContainsFunc(r.Rules, func(x Rule) bool {
		return slices.Contains(x.When.Kinds, KindAction)
	})
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
	Stages []Stage `json:"stages"` // 1 to MaxStages
	// Hands is how many different people stamp. 0: 2 if the policy has two stages or more, else 1. Stages that are left
	// out count, but for those of somebody whom an earlier stage asks.
	Hands   int      `json:"hands,omitempty"`
	Readers *Readers `json:"readers,omitempty"` // told after the decision
}

// OfIDs reports whether the rule itself names everybody, so that a route needs no look-up of groups, managers or
// positions, or of who else is in the channel. Stages of the kinds in also don't count.
func (p *Policy) OfIDs(also ...WhoKind) bool {
	for _, s := range p.Stages {
		if s.Who.Kind != WhoPeople && !slices.Contains(also, s.Who.Kind) || s.Empty.has(ThenUp) {
			return false
		}
	}
	return p.Readers == nil || len(p.Readers.Groups) == 0
}

// Stage is people who are asked at the same time.
type Stage struct {
	Name string `json:"name"`
	Who  Who    `json:"who"`
	Need int    `json:"need"` // how many of them must stamp; 0: all
	// Empty says what happens if fewer people than must stamp are left. A channel's stage has none.
	Empty Empty `json:"empty,omitzero"`
	// Others lets people stamp who work for the company without being its employees.
	Others bool `json:"others,omitempty"`
}

// Who says how a stage finds its people. Each kind uses its own fields.
type Who struct {
	Kind       WhoKind  `json:"kind"`
	People     []string `json:"people,omitempty"`     // Slack user ids
	Group      string   `json:"group,omitempty"`      // id of a Slack user group
	Level      int      `json:"level,omitempty"`      // of the manager above the requester; 1: the direct one
	Position   string   `json:"position,omitempty"`   // of Department
	Department string   `json:"department,omitempty"` // code in the organisation
}

// WhoKind is a way to find people.
type WhoKind string

const (
	WhoPeople   WhoKind = "people"
	WhoGroup    WhoKind = "group"
	WhoManager  WhoKind = "manager"
	WhoPosition WhoKind = "position"
	WhoChannel  WhoKind = "channel" // anybody there who is no asker: names nobody
)

// Empty says what happens to a stage for which too few people are left, by cause. Askers beside the requester never have
// it left out: then Own says up, or the request is refused.
type Empty struct {
	Vacant Then `json:"vacant"` // too few are found who may stamp: up, skip or refuse
	Own    Then `json:"own"`    // the requester is one of them: up, skip or refuse
	Twice  Then `json:"twice"`  // all of them have to stamp at earlier stages: up, skip or again
}

// Then is what happens.
type Then string

const (
	ThenUp     Then = "up"     // people who stand above take the places
	ThenSkip   Then = "skip"   // the stage is left out
	ThenRefuse Then = "refuse" // the request is refused
	ThenAgain  Then = "again"  // the same people are asked again
)

// The same for all causes, as far as it goes.
var (
	EmptyUp     = Empty{ThenUp, ThenUp, ThenUp}
	EmptySkip   = Empty{ThenSkip, ThenSkip, ThenSkip}
	EmptyRefuse = Empty{ThenRefuse, ThenRefuse, ThenAgain}
)

// has reports whether this happens for one of the causes.
func (e Empty) has(t Then) bool { return e.Vacant == t || e.Own == t || e.Twice == t }

// mayGo reports whether the stage may be left out because of too few people, or who asks.
func (e Empty) mayGo() bool { return e.Vacant == ThenSkip || e.Own == ThenSkip }

// Readers are told after the decision.
type Readers struct {
	People []string `json:"people,omitempty"` // Slack user ids
	Groups []string `json:"groups,omitempty"` // ids of Slack user groups
}
