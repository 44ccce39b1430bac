package circulation

import (
	"slices"
	"strings"
	"time"
)

// Kind is what somebody did on a gate.
type Kind string

const (
	Stamp    Kind = "stamp"
	SendBack Kind = "send_back" // another version is made
	GiveBack Kind = "give_back" // whoever asked corrects it, or withdraws
	Deny     Kind = "deny"
	Stand    Kind = "stand" // an administrator puts To in the place of For
)

// Kinds are all kinds of acts. Without a rule nobody makes others than stamp, send back and give back.
var Kinds = []Kind{Stamp, SendBack, GiveBack, Deny, Stand}

// Returns reports whether another version, which goes round anew, follows what an act of this kind ended.
func (k Kind) Returns() bool { return k == SendBack || k == GiveBack }

// Act is one thing that somebody did on a gate.
type Act struct {
	Form      int       `json:"form"`
	Kind      Kind      `json:"kind"`
	Hand      Person    `json:"hand"`      // who pressed
	Principal Person    `json:"principal"` // for whom: the hand itself, or whom it stands in for
	At        time.Time `json:"at"`
	Stage     int       `json:"stage"` // number of the stage that the hand saw
	Hash      string    `json:"hash"`  // of what the hand saw: Gate.AskedSum
	Surface   string    `json:"surface"`
	Text      string    `json:"text,omitempty"`
	Found     Found     `json:"found,omitzero"`
	For       *Person   `json:"for,omitempty"`
	To        *Person   `json:"to,omitempty"`
}

// Found is what the decision looked up outside of the gate. Admit asks that it is there and fits, never whether it
// still holds.
type Found struct {
	Delegation *Delegation `json:"delegation,omitempty"` // by which the hand stands in for the principal
	Org        string      `json:"org,omitempty"`        // version of the organisation in which both have a row
	// Channel is the Slack id of the channel of which the hand is a member: the gate's Home, else the request's.
	Channel  string   `json:"channel,omitempty"`
	Allowed  *Allowed `json:"allowed,omitempty"`  // of a stage by the settings: how they allow it
	Admin    *Admin   `json:"admin,omitempty"`    // of Stand: by which the hand is an administrator
	Resolved string   `json:"resolved,omitempty"` // of Stand: how To was found today: what To.Via says
}

// Delegation is the row by which a hand stands in for a principal, as it was read.
type Delegation struct {
	Key   string   `json:"key"` // <hand>#<principal>#<from>, each by person where an organisation stands
	Rev   int      `json:"rev"`
	Rules []string `json:"rules,omitempty"` // ids of the rules for which it counts; none: for all
}

// Covers reports whether a delegation counts for what a rule asks. One that is limited to some rules never counts
// without a rule. nil, which is somebody who acts in their own name, counts for everything.
func (d *Delegation) Covers(rule *Rule) bool {
	return d == nil || len(d.Rules) == 0 || rule != nil && slices.Contains(d.Rules, rule.ID)
}

// Allowed is how the settings allowed a hand to act at the time of the act.
type Allowed struct {
	Rev  int    `json:"rev"`            // revision of the settings
	As   string `json:"as"`             // a member of the channel, or listed
	Self bool   `json:"self,omitempty"` // askers may stamp
}

// Admin is the row that lists a hand among the tenant's administrators, as it was read.
type Admin struct {
	Key string `json:"key"`
	Rev int    `json:"rev"`
}

// Ends reports whether the act ends its gate without a settlement.
func (act *Act) Ends() bool { return act.Kind == SendBack || act.Kind == GiveBack || act.Kind == Deny }

// By reports whether somebody did it, or had it done for them.
func (act *Act) By(p Person) bool { return act.Hand.Is(p) || act.Principal.Is(p) }

// known reports whether this release knows the act's form, and the act is complete.
func (act *Act) known(r *Route) bool {
	if act.Form != Form || !slices.Contains(Kinds, act.Kind) || !r.counts(&act.Hand) || !r.counts(&act.Principal) {
		return false
	}
	if act.Kind == Stand {
		return act.For != nil && act.To != nil && r.counts(act.To)
	}
	return act.For == nil && act.To == nil
}

// lacks returns what the decision did not find of what lets a hand act at a stage, or "".
func (st *State) lacks(g *Gate, act *Act, s *StageState) Lack {
	r, f, mode, own := g.Route, &act.Found, s.Mode, st.who.same(&act.Hand, &act.Principal)
	switch d := f.Delegation; {
	case r.Org != "" && f.Org == "":
		return LackOrg
	case act.Kind == Stand && (f.Admin == nil || f.Admin.Key == "" || f.Admin.Rev < 1):
		return LackAdmin
	case act.Kind == Stand && (f.Resolved == "" || f.Resolved != act.To.Via):
		return LackSuccessor
	case act.Kind == Stand:
		return ""
	case mode == ModeSettings && (!own || f.Allowed == nil || f.Allowed.As == ""):
		return LackSettings
	case mode == ModeChannel && (!own || f.Channel == "" || g.Home != "" && f.Channel != g.Home):
		return LackChannel
	case !own && s.NoStandIns:
		return LackAlone
	case own:
		return ""
	case d == nil || d.Rev < 1 || !strings.HasPrefix(d.Key, r.key(&act.Hand)+"#"+r.key(&act.Principal)+"#"):
		return LackDelegation
	case !d.Covers(g.Rule):
		return LackRule
	}
	return ""
}

// Why is why an act may not be made, as a code; cards and notes have a sentence for each.
type Why string

const (
	WhyAgain   Why = "again"         // the same hand did the very same: nothing changes, and nobody need be told
	WhyUnknown Why = "unknown"       // a route or act of another form, or one that makes no sense
	WhyHash    Why = "hash"          // the hand saw something else than what is asked
	WhySettled Why = "settled"       // the last stamp was given
	WhyEnded   Why = "ended"         // it was sent back, returned or denied
	WhyText    Why = "text"          // the reason is missing, or a text is too long
	WhySelf    Why = "self"          // hand or principal, or a successor, is one of the askers
	WhyStage   Why = "stage"         // the hand saw a stage that is not asked now
	WhyFound   Why = "found"         // what lets the hand act was not looked up, or not found: see Lack
	WhyRoute   Why = "not_on_route"  // the principal is at no stage
	WhyTurn    Why = "turn"          // the principal is at another stage than the present one
	WhyTwice   Why = "twice"         // hand or principal has stamped at this stage
	WhyHands   Why = "hands"         // too few hands would be left for the stamps that are owed
	WhyParty   Why = "party"         // a successor is put in by the one replaced, or by themselves
	WhyFor     Why = "not_asked"     // the one to be replaced isn't at the stage, or has stamped
	WhyTo      Why = "already_asked" // the successor is at the stage already
	WhyBounds  Why = "bounds"        // too many acts, successors or texts

	WhyEnough Why = "enough" // the principal's part of the stage has its stamps

	// WhyWhom is never Walk's: a decision asks a hand that stands in for several who owe the stage for whom it acts.
	WhyWhom Why = "as_whom"
	// WhyNoVersion is never Walk's: a decision refuses to send back what has no next version.
	WhyNoVersion Why = "no_next_version"
)

// Refusal says why an act may not be made.
type Refusal struct {
	Why     Why
	Stage   int      // number of the stage that is meant: the present one; 0: none
	Name    string   // of that stage
	People  []Person // who owes the present stage, who stamped, or, of WhyWhom, for whom the hand may act
	Missing int      // of WhyHands, how many more people have to stamp
	Yours   string   // of WhyTurn, name of the stage that asks the principal later; empty: an earlier one did
	Asker   Person   // of WhySelf
	For     Person   // of WhySelf and WhyFound: whom the hand stands in for; none: nobody
	Home    string   // the gate's
	Put     bool     // of WhySelf: the asker would be a successor
	Lacks   Lack     // of WhyFound
	// Of LackDelegation, the time for which the hand stands in; zero: none was found.
	Begins, Ends time.Time
	Act          int // of Walk: number of the act that makes no sense, from 1; 0: the route
}

// Lack is what the decision did not find of a hand.
type Lack string

const (
	LackOrg        Lack = "organisation" // a row of hand and principal
	LackChannel    Lack = "channel"      // a membership
	LackDelegation Lack = "delegation"   // that counts now
	LackRule       Lack = "rule"         // a delegation for what this rule asks
	LackOthers     Lack = "others"       // a delegation that none of the askers set: never Walk's
	LackBelow      Lack = "below"        // a hand that doesn't report to who asks: never Walk's
	LackAway       Lack = "away"         // a hand who is on leave today: never Walk's
	LackEmployee   Lack = "employee"     // a hand who is an employee today: never Walk's
	LackAlone      Lack = "alone"        // the stage lets nobody act for its people
	LackSettings   Lack = "settings"     // what lets the hand act where the settings say who may
	LackAdmin      Lack = "admin"        // the row that makes the hand an administrator
	LackSuccessor  Lack = "successor"    // how the stage, or who stands above, leads to the successor
)

func (r *Refusal) Error() string { return "not admitted: " + string(r.Why) }

// asker returns which of the askers is one of an act's people, as the gate names them.
func (st *State) asker(g *Gate, act *Act) Person {
	for _, p := range []*Person{&act.Hand, &act.Principal} {
		if i := st.who.position(g.Askers, p); i >= 0 {
			return g.Askers[i]
		}
	}
	return *act.To
}

// standsFor returns whom the act's hand stands in for, or nobody.
func (st *State) standsFor(act *Act) (p Person) {
	if !st.who.same(&act.Hand, &act.Principal) {
		p = act.Principal
	}
	return p
}

// later returns the name of the stage after the present one that asks somebody, or "".
func (st *State) later(p *Person) string {
	for i := range st.Stages[st.Present:] {
		if s := &st.Stages[st.Present+i]; st.who.position(s.People, p) >= 0 {
			return s.Name
		}
	}
	return ""
}
