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

// Found is what the decision looked up outside of the gate. Admit asks that it is there, never whether it still holds.
type Found struct {
	Delegation *Delegation `json:"delegation,omitempty"` // by which the hand stands in for the principal
	Org        string      `json:"org,omitempty"`        // version of the organisation in which both have a row
	Channel    string      `json:"channel,omitempty"`    // of which the hand is a member
}

// Delegation is the row by which a hand stands in for a principal, as it was read.
type Delegation struct {
	Key string `json:"key"` // <hand>#<principal>#<from>, each by person where an organisation stands
	Rev int    `json:"rev"`
}

// Ends reports whether the act ends its gate without a settlement.
func (act *Act) Ends() bool { return act.Kind == SendBack || act.Kind == Deny }

// known reports whether this release knows the act's form, and the act is complete.
func (act *Act) known(r *Route) bool {
	whole := act.Form == Form && r.id(&act.Hand) != "" && r.id(&act.Principal) != ""
	switch act.Kind {
	case Stamp, TakeBack, SendBack, Deny:
		return whole && act.For == nil && act.To == nil
	case Stand:
		return whole && act.For != nil && act.To != nil && r.id(act.To) != "" && r.same(&act.Hand, &act.Principal)
	}
	return false
}

// found reports whether the decision found what lets the hand act for the principal at a stage.
func (act *Act) found(r *Route, mode Mode) bool {
	own := r.same(&act.Hand, &act.Principal)
	switch d := act.Found.Delegation; {
	case r.Org != "" && act.Found.Org == "":
		return false
	case mode == ModeChannel:
		return own && act.Found.Channel != ""
	case own:
		return true
	default:
		return d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, r.id(&act.Hand)+"#"+r.id(&act.Principal)+"#")
	}
}
