package circulation

import "time"

// Why is why an act may not be made, as a code; cards and notes have a sentence for each.
type Why string

const (
	WhyAgain   Why = "again"         // the same hand did the very same: nothing changes, and nobody need be told
	WhyUnknown Why = "unknown"       // a route or act of another form, or one that makes no sense
	WhyHash    Why = "hash"          // the hand saw something else than what is asked
	WhySettled Why = "settled"       // the last stamp was given
	WhyEnded   Why = "ended"         // it was sent back or denied
	WhyText    Why = "text"          // the reason is missing, or a text is too long
	WhySelf    Why = "self"          // hand or principal, or a successor, is one of the askers
	WhyStage   Why = "stage"         // the hand saw a stage that is not asked now
	WhyFound   Why = "found"         // what lets the hand act was not looked up, or not found: see Lack
	WhyRoute   Why = "not_on_route"  // the principal is at no stage
	WhyTurn    Why = "turn"          // the principal is at another stage than the present one
	WhyTwice   Why = "twice"         // hand or principal has stamped at this stage
	WhyHands   Why = "hands"         // too few hands would be left for the stamps that are owed
	WhyNothing Why = "nothing"       // there is no such stamp to take back
	WhyNext    Why = "next_stamped"  // the next stage has stamped
	WhyParty   Why = "party"         // a successor is put in by the one replaced, or by themselves
	WhyFor     Why = "not_asked"     // the one to be replaced isn't at the stage, or has stamped
	WhyTo      Why = "already_asked" // the successor is at the stage already
	WhyBounds  Why = "bounds"        // too many acts, successors or texts

	// WhyWhom is never Walk's: a decision asks a hand that stands in for several who owe the stage for whom it acts.
	WhyWhom Why = "as_whom"
	// WhyNoVersion is never Walk's: a decision refuses to send back what has no next version.
	WhyNoVersion Why = "no_next_version"
)

// Refusal says why an act may not be made.
type Refusal struct {
	Why     Why
	Stage   int      // number of the stage that is meant: the present one, of WhyNext the one that stamped; 0: none
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
	LackOthers     Lack = "others"       // a delegation that none of the askers set: never Walk's
	LackBelow      Lack = "below"        // a hand that doesn't report to who asks: never Walk's
	LackEmployee   Lack = "employee"     // a hand who is an employee today: never Walk's
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
