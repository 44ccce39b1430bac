package circulation

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kind is what somebody does at a gate.
type Kind string

const (
	Stamp    Kind = "stamp"
	SendBack Kind = "send_back" // another version follows where one can, made anew or, of a form, by whoever asked
	Deny     Kind = "deny"      // the end
)

// Does is what follows from a kind of act wherever people meet it.
type Does struct {
	Kind
	Verb  string // begins the names of its buttons and is the value of its forms
	Ends  bool   // the gate, without a settlement; then it has a text, which says why
	Final bool   // what is asked gets no other version, where sending it back leads to one
	Entry string // how the action of its audit entry ends
}

// Kinds are all kinds of acts.
var Kinds = []Does{
	{Stamp, "approve", false, false, "stamped"},
	{SendBack, "reject", true, false, "rejected"},
	{Deny, "deny", true, true, "denied"},
}

// Does returns what follows from a kind; none of one that isn't known.
func (k Kind) Does() Does {
	for _, d := range Kinds {
		if d.Kind == k {
			return d
		}
	}
	return Does{}
}

// Doing returns the kind with a verb, or "".
func Doing(verb string) Kind {
	for _, d := range Kinds {
		if d.Verb == verb {
			return d.Kind
		}
	}
	return ""
}

// Act is one thing that somebody did at a gate.
type Act struct {
	Form      int       `json:"form"`
	Kind      Kind      `json:"kind"`
	Hand      Person    `json:"hand"`      // who pressed
	Principal Person    `json:"principal"` // for whom: the hand itself, or whom it stands in for
	At        time.Time `json:"at"`
	Stage     int       `json:"stage"` // number of the stage that the hand saw
	Hash      string    `json:"hash"`  // Gate.AskedSum, of what is stamped
	Surface   string    `json:"surface"`
	Text      string    `json:"text,omitempty"`
	Found     Found     `json:"found,omitzero"`
}

// Found is what the decision looked up outside of the gate. Walk asks that it is there and fits, never whether it still
// holds.
type Found struct {
	Delegation *Delegation `json:"delegation,omitempty"` // by which the hand stands in for the principal
	Channel    string      `json:"channel,omitempty"`    // Slack id of the request's, of which the hand is a member
	Allowed    *Allowed    `json:"allowed,omitempty"`    // of a stage by the settings: how they allow it
}

// Delegation is the row by which a hand stands in for a principal, as it was read.
type Delegation struct {
	Key string `json:"key"` // <hand>#<principal>#<from>
	Rev int    `json:"rev"`
}

// Allowed is how the settings allowed a hand to act at the time of the act.
type Allowed struct {
	Rev  int    `json:"rev"`            // revision of the settings
	As   string `json:"as"`             // a member of the channel, or listed
	Self bool   `json:"self,omitempty"` // askers may stamp
}

// Ends reports whether the act ends its gate without a settlement.
func (act *Act) Ends() bool { return act.Kind.Does().Ends }

// By reports whether somebody did it, or had it done for them.
func (act *Act) By(p Person) bool { return act.Hand.Is(p) || act.Principal.Is(p) }

// own reports whether the hand acts in its own name.
func (act *Act) own() bool { return act.Hand.Is(act.Principal) }

// same reports whether two are the same kind of act at one stage, by the same hand for the same principal.
func (act *Act) same(other *Act) bool {
	return act.Kind == other.Kind && act.Stage == other.Stage && act.Hand.Is(other.Hand) &&
		act.Principal.Is(other.Principal)
}

// Why is why an act may not be made, as a code; cards and notes have a sentence for each.
type Why string

const (
	WhyAgain   Why = "again"        // the same hand did the very same: nothing changes, and nobody need be told
	WhyUnknown Why = "unknown"      // a route or act of another form, or one that makes no sense
	WhyHash    Why = "hash"         // it is about something else than what is asked
	WhySettled Why = "settled"      // the last stamp was given
	WhyEnded   Why = "ended"        // it was sent back or denied
	WhyText    Why = "text"         // the reason is missing, or a text is too long
	WhySelf    Why = "self"         // hand or principal is one of the askers
	WhyStage   Why = "stage"        // the hand saw a stage that is not asked now
	WhyFound   Why = "found"        // what lets the hand act was not looked up, or not found: see Lack
	WhyRoute   Why = "not_on_route" // the principal is at no stage
	WhyTurn    Why = "turn"         // the principal is at another stage than the present one
	WhyTwice   Why = "twice"        // hand or principal stands in a stamp of the gate
	WhyHands   Why = "hands"        // too few people would be left for the stamps that are owed
)

// Refusal says why an act may not be made.
type Refusal struct {
	Why     Why
	Name    string   // of the present stage
	People  []Person // who owes the present stage, or who stamped
	Missing int      // of WhyHands, how many more people have to stamp
	Yours   string   // of WhyTurn, name of the stage that asks the principal later; empty: an earlier one did
	Asker   Person   // of WhySelf
	For     Person   // of WhySelf and WhyFound: whom the hand stands in for; none: nobody
	Lacks   Lack     // of WhyFound
	Act     int      // of Walk: number of the act that makes no sense, from 1; 0: the route
}

// Lack is what the decision did not find of a hand.
type Lack string

const (
	LackChannel    Lack = "channel"    // a membership
	LackDelegation Lack = "delegation" // that counts now
	LackSettings   Lack = "settings"   // what lets the hand act where the settings say who may
)

func (r *Refusal) Error() string { return "not admitted: " + string(r.Why) }

// StandIn is a delegation as it was read: by it Hand acts for Principal, from Begins until before Ends.
type StandIn struct {
	Delegation
	Hand, Principal Person
	SetBy           Person // the principal, or an administrator
	Begins, Ends    time.Time
}

// Counts reports whether the hand may act by it at this time.
func (s *StandIn) Counts(at time.Time) bool { return !at.Before(s.Begins) && at.Before(s.Ends) }

// Stood reports whether somebody stands in for an account at a time.
func Stood(all []StandIn, user string, at time.Time) bool {
	return slices.ContainsFunc(all, func(s StandIn) bool { return s.Principal.User == user && s.Counts(at) })
}

// Chosen reports whether one of the askers set it for somebody else: nobody chooses who stamps their own request.
func (s *StandIn) Chosen(askers []Person) bool {
	return slices.ContainsFunc(askers, s.SetBy.Is) && !s.Principal.Is(s.SetBy)
}

// names reports whether a delegation, if there is one, is for the hand and the principal of an act.
func (d *Delegation) names(act *Act) bool {
	return d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, act.Hand.User+"#"+act.Principal.User+"#")
}

// standsFor returns whom the act's hand stands in for, or nobody.
func (act *Act) standsFor() (p Person) {
	if !act.own() {
		p = act.Principal
	}
	return p
}

// Beside returns those of some delegations that count where these ask, too: nobody stands in for them, nor they for
// others, nor by what they set for others.
func Beside(all []StandIn, askers ...string) (out []StandIn) {
	for _, s := range all {
		if !slices.ContainsFunc(askers, func(user string) bool {
			return user == s.Hand.User || user == s.Principal.User || user == s.SetBy.User
		}) {
			out = append(out, s)
		}
	}
	return out
}

// Needs reports whether a hand can do something at the present stage only for somebody else: the stage asks people, and
// the hand is none of them and stands in no stamp.
func (st *State) Needs(hand Person) bool {
	s := st.CurrentStage()
	return s != nil && s.Mode == ModePeople && !s.names(hand) && !st.stamped(hand)
}

// StandsIn returns the first of some delegations by which a hand may stamp the present stage at a time, or nil.
func (st *State) StandsIn(g *Gate, hand Person, all []StandIn, at time.Time) *StandIn {
	for _, s := range st.StoodFor(g, all) {
		if s.Hand.Is(hand) && s.Counts(at) {
			return &s
		}
	}
	return nil
}

// Again returns what a hand did at a stage that it is about to do once more, or nil: it does that for whom it did it
// then.
func (st *State) Again(act *Act) *Act {
	if act.Stage > 0 && act.Stage <= len(st.Stages) {
		for _, given := range st.Stages[act.Stage-1].Stamps {
			if given.Kind == act.Kind && given.Hand.Is(act.Hand) {
				return given
			}
		}
	}
	if st.Ended() != "" && st.Last.Kind == act.Kind && st.Last.Hand.Is(act.Hand) {
		return st.Last
	}
	return nil
}

// StoodFor returns those of some delegations by which somebody may stamp the present stage for one of its people while
// they count, in the order in which they begin.
func (st *State) StoodFor(g *Gate, all []StandIn) (out []StandIn) {
	for _, s := range all {
		act := Act{Form: Form, Kind: Stamp, Hand: s.Hand, Principal: s.Principal, Stage: st.Present, Hash: g.AskedSum,
			Found: Found{Delegation: &s.Delegation}}
		if st.Needs(s.Hand) && !s.Chosen(g.Askers) && Admit(*g, *st, act) == nil {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b StandIn) int {
		return cmp.Or(a.Begins.Compare(b.Begins), cmp.Compare(a.Key, b.Key))
	})
	return out
}
