// Package rules says who is asked about a request: Match finds the tenant's rule for it, and Resolve turns that rule's
// policy into a circulation.Route of named people. Amounts are read from a call's arguments where an administrator
// marked them. Problems and Findings check rules when they are saved. Everything is a pure function; what Slack and the
// organisation say comes in through Facts and Directory.
//
// No condition reads words that people or models write, since words are what whoever asks can choose. Conditions are
// on who asks, the place, departments, positions and groups, tools by address and name, destinations, amounts and
// labels: values of arguments that an administrator marked, such as 費目. The first rule counts whose conditions all
// hold. Where none does, the last rule answers: one person of the channel for what only reads, and a refusal for what
// writes, until an administrator chooses otherwise. A rule that hangs on something unknown refuses, because a later
// one might ask less.
//
// What isn't surely a number is at least every amount and below none: a text in other digits, a reference, an empty
// list, two currencies, a member that is there twice. Destinations are known only at marked arguments, of one version
// of the tool; else a write goes outside. So a server can't say that it writes nowhere, nor a renamed argument lower an
// amount.
//
// A stage that finds too few people who may stamp is empty, by cause: vacant, own (the requester is one of them) or
// twice (all have to stamp earlier). In the place of who is vacant, on leave or away, a source may name an order of
// posts, people and groups who are asked first. Else the rule says for each whether who stands above is asked, the
// stage is left out, or the request is refused. A post that the organisation has on no day is unknown, not vacant: it
// may have another name by now, so nothing is left out for it. If only other askers are missing, nothing is left out
// either: whoever asks in a thread takes nobody's say away. An asker without a row in the organisation may be
// anybody's second account; everything is refused.
//
// The floor is the least that a write outside asks, whatever the rules say, and from an amount on two different people.
// A rule below it isn't saved, a route below it not opened.
//
// A position without a department is the nearest above whoever asks, of the department of their main post or one
// above: the first that has such a post on any day, also where it is vacant. Of a department above, a post counts only
// if it outranks whoever leads the departments below it. Holding it, or outranking it, makes the stage their own. Who
// stands above is asked in its place, at a later stage if one asks them anyway.
// Managers are counted by who leads: a department that nobody leads is no step.
//
// A stage may ask several sources side by side, each for stamps of its own, and is then never left out, unless its
// labels say that no department is concerned.
//
// Where nobody but the askers is in a place, a channel's stage asks the tenant's Home instead. A route has two
// different hands from two stages on, unless it says otherwise, and they don't fall when stages are left out.
package rules

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Form is the form of rules that this release reads and writes. A release that gives them another field or kind raises
// it, because a condition that isn't known here would let the wrong rule decide.
const Form = 3

// Rules are a tenant's rules. The first rule whose conditions all hold decides; Last decides where none does.
type Rules struct {
	Form  int    `json:"form"`
	Rev   int    `json:"rev"`
	Floor Floor  `json:"floor"`
	Rules []Rule `json:"rules"`
	Last  Last   `json:"last"`
}

// Actions reports whether the rules decide about agents' actions. They do as soon as one of them names this kind: rules
// that were made for requests alone leave actions to the settings. Rules of another form decide, and refuse.
func (r *Rules) Actions() bool {
	return r.Form != Form || slices.ContainsFunc(r.Rules, func(x Rule) bool {
		return slices.Contains(x.When.Kinds, KindAction)
	})
}

// Calls reports whether a rule tells calls of outside agents from what else asks. The rules decide about them anyway.
func (r *Rules) Calls() bool {
	return slices.ContainsFunc(r.Rules, func(x Rule) bool { return slices.Contains(x.When.Kinds, KindCall) })
}

// Readers returns the accounts that are told after decisions.
func (r *Rules) Readers() (ids []string) {
	outcomes := []Outcome{r.Last.Reads, r.Last.Writes}
	for _, x := range r.Rules {
		outcomes = append(outcomes, x.Outcome)
	}
	for _, o := range outcomes {
		if o.Route != nil && o.Route.Readers != nil {
			ids = append(ids, o.Route.Readers.People...)
		}
	}
	return ids
}

// Opening returns the rules as far as gates open by them: actions are left to the settings unless a rule names them, so
// a rule before all others takes them.
func (r *Rules) Opening() *Rules {
	if r.Actions() {
		return r
	}
	only := *r
	aside := []Rule{{When: Conditions{Kinds: []Kind{KindAction}}, Outcome: Outcome{Refuse: "-"}}}
	only.Rules = slices.Concat(aside, r.Rules)
	return &only
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
	found := func(x Raise) bool { return x.Who.Kind != WhoPeople }
	sources, _ := p.Sources()
	for _, s := range sources {
		if slices.ContainsFunc(s.Raises, found) || s.Who.Kind != WhoPeople && !slices.Contains(also, s.Who.Kind) ||
			s.Empty.has(ThenUp) || len(s.Who.Instead) > 0 {
			return false
		}
	}
	return p.Readers == nil || len(p.Readers.Groups)+len(p.Readers.Posts) == 0
}

// Stage is people who are asked at the same time.
type Stage struct {
	Name string `json:"name"`
	Who  Who    `json:"who"`
	Need int    `json:"need"` // how many of them must stamp; 0: all, or as many as Share says
	// Share is a part of all whom the stage finds, instead of a number.
	Share Share `json:"share,omitempty"`
	// Beside are more people who are asked at the same time. A stage that has them is left out only
	// where labels say that no department is concerned.
	Beside []Source `json:"beside,omitempty"`
	// Empty says what happens if fewer people than must stamp are left. A channel's stage has none.
	Empty      Empty `json:"empty,omitzero"`
	NoStandIns bool  `json:"no_stand_ins,omitempty"` // nobody acts for its people
	// ReadAfter says that for whom somebody stood in, or in whose place another was asked, confirms afterwards that they
	// have read it.
	// Raises are whom its people may add after themselves, in cases that they judge, such as important ones.
	Raises []Raise `json:"may_raise,omitempty"`
	// Others lets people stamp who work for the company without being its employees.
	Others bool `json:"others,omitempty"`
}

// Who says how a stage finds its people. Each kind uses its own fields.
type Who struct {
	Kind       WhoKind  `json:"kind"`
	People     []string `json:"people,omitempty"`     // Slack user ids
	Group      string   `json:"group,omitempty"`      // id of a Slack user group
	Level      int      `json:"level,omitempty"`      // of the manager above the requester; 1: the direct one
	Positions  []string `json:"positions,omitempty"`  // of Department; who holds any of them is asked
	Department string   `json:"department,omitempty"` // code in the organisation; none: the nearest above the requester
	Label      string   `json:"label,omitempty"`      // by whose value a call says the department, by code or name
	None       string   `json:"none,omitempty"`       // the value of Label that says no department: then nobody is asked
	Placed     bool     `json:"-"`                    // the rule has none: it is found from the requester
	Nobody     bool     `json:"-"`                    // the label says None
	Any        []Who    `json:"any,omitempty"`        // whom any of these finds, of other kinds than this and the channel
	// Instead is asked, in this order, in the place of people who are away where too few others are there: whom the
	// first finds, then the next. Only a source has it.
	Instead []Who `json:"instead,omitempty"`
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

// Empty says what happens to a stage for which too few people are left, by cause. Askers beside the requester never
// have it left out: then Own says up, or the request is refused.
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
	// Posts are positions, found like those of stages; of a vacant one nobody is told. One whose department nobody knows
	// refuses the request.
	Posts []Who `json:"posts,omitempty"`
}

// Floor is the least that routes for writes outside ask, whatever the rules say.
type Floor struct {
	Stamps int `json:"stamps"` // 1 or more; 0 counts as 1
	// HandsFrom is the amount from which two different people stamp, as they do where the amount isn't known; nil:
	// never.
	HandsFrom *Money `json:"hands_from,omitempty"`
}

// Money is a number in a currency.
type Money struct {
	Value    Decimal `json:"value"`
	Currency string  `json:"currency"`
}

func (m Money) String() string { return string(m.Value) + " " + m.Currency }

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
	for _, listed := range c.Tools.List {
		reads := false
		for _, k := range known {
			if k.Tool.Same(listed) {
				if k.Access != aggregate.Read {
					return true
				}
				reads = true
			}
		}
		if !reads {
			return true
		}
	}
	return false
}

// hands returns how many different people a route of these stages needs.
func (p *Policy) hands(stages int) int {
	switch {
	case p.Hands > 0:
		return p.Hands
	case stages > 1:
		return 2
	}
	return 1
}

// AllHands returns how many different people a route of the policy needs.
func (p *Policy) AllHands() int { return p.hands(len(p.Stages)) }

// LeastHands returns how many different people a route of the policy needs at the least: fewer than of all its stages
// if one person may have several of them.
func (p *Policy) LeastHands() int {
	n := 0
	for i := range p.Stages {
		if !p.mayRepeat(i) && !p.Stages[i].mayConcernNone() {
			n++
		}
	}
	return p.hands(n)
}

// Approving returns the stages, and how many people a single one asks: 0 if it must find them first.
func (p *Policy) Approving() (all []Stage, people int) {
	if all = p.Stages; len(all) != 1 {
		return all, 0
	}
	for _, x := range p.Stages[0].Sources() {
		switch {
		case x.Who.Kind == WhoPeople && x.Need == 0:
			people += max(1, x.Share.of(len(x.Who.People)))
		case x.Need == 0:
			return all, 0
		default:
			people += x.Need
		}
	}
	return all, people
}

// mayRepeat reports whether a stage may be left out because all of its people have to stamp at earlier ones. Named
// people are known; of others it is only known how many they are at the least.
func (p *Policy) mayRepeat(i int) bool {
	s := &p.Stages[i]
	if s.Empty.Twice != ThenSkip {
		return false
	}
	names := func(s *Stage) bool {
		return s.Who.Kind == WhoPeople && !s.Empty.has(ThenUp) && len(s.Who.Instead) == 0
	}
	sure, users, named := 0, []string{}, names(s)
	earlier, _ := (&Policy{Stages: p.Stages[:i]}).Sources()
	for _, before := range earlier {
		if before.lighter(s) {
			continue
		}
		named = named && names(&before)
		users = append(users, before.Who.People...)
		if n := before.Need; n > 0 {
			sure += n
		} else {
			sure += before.Who.most()
		}
	}
	if named && !slices.ContainsFunc(s.Who.People, func(user string) bool { return slices.Contains(users, user) }) {
		return false
	}
	return s.least() <= sure
}

// least returns the fewest stamps that a stage asks if it finds people.
func (s Stage) least() int {
	n := max(s.Need, 1)
	for _, x := range s.Beside {
		n += max(x.Need, 1)
	}
	return n
}
