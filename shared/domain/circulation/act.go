package circulation

import (
	"strings"
	"time"
)

// Kind is what somebody did on a gate.
type Kind string

const (
	Stamp    Kind = "stamp"
	TakeBack Kind = "take_back" // one's own stamp
	SendBack Kind = "send_back" // another version is made
	Deny     Kind = "deny"
	Stand    Kind = "stand" // an administrator puts To in the place of For
)

// Act is one thing that somebody did on a gate.
type Act struct {
	Form      int       `json:"form"`
	Kind      Kind      `json:"kind"`
	Hand      Person    `json:"hand"`      // who pressed
	Principal Person    `json:"principal"` // for whom: the hand itself, or whom it stands in for
	At        time.Time `json:"at"`
	Stage     int       `json:"stage"` // number of the stage that the hand saw; of TakeBack that of the stamp
	Hash      string    `json:"hash"`  // of what the hand saw: Gate.Asked
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
	Resolved string   `json:"resolved,omitempty"` // of Stand: how the successor was found today: what To.Via says
}

// Delegation is the row by which a hand stands in for a principal, as it was read.
type Delegation struct {
	Key string `json:"key"` // <hand>#<principal>#<from>, each by person where an organisation stands
	Rev int    `json:"rev"`
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
func (act *Act) Ends() bool { return act.Kind == SendBack || act.Kind == Deny }

// known reports whether this release knows the act's form, and the act is complete.
func (act *Act) known(r *Route) bool {
	whole := act.Form == Form && r.counts(&act.Hand) && r.counts(&act.Principal)
	switch act.Kind {
	case Stamp, TakeBack, SendBack, Deny:
		return whole && act.For == nil && act.To == nil
	case Stand:
		return whole && act.For != nil && act.To != nil && r.counts(act.To)
	}
	return false
}

// lacks returns what the decision did not find of what lets a hand act at a stage of this mode, or "".
func (st *State) lacks(g *Gate, act *Act, mode Mode) Lack {
	r, f, own := g.Route, &act.Found, st.who.same(&act.Hand, &act.Principal)
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
	case own || d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, r.key(&act.Hand)+"#"+r.key(&act.Principal)+"#"):
		return ""
	}
	return LackDelegation
}
