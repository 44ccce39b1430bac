package circulation

// Why is why an act may not be made, as a code; cards and notes have a sentence for each.
type Why string

const (
	WhyAgain   Why = "again"         // the same hand did the very same: nothing changes, and nobody need be told
	WhyUnknown Why = "unknown"       // a later release's route or act, or one that makes no sense
	WhyHash    Why = "hash"          // the hand saw something else than what is asked
	WhySettled Why = "settled"       // the last stamp was given
	WhyEnded   Why = "ended"         // it was sent back or denied
	WhyText    Why = "text"          // the reason is missing, or a text is too long
	WhySelf    Why = "self"          // hand or principal, or a successor, is one of the askers
	WhyStage   Why = "stage"         // the hand saw a stage that is not asked now
	WhyFound   Why = "found"         // no delegation, no row in the organisation, or not in the channel
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
)

// Refusal says why an act may not be made.
type Refusal struct {
	Why     Why
	Stage   int      // number of the stage that is meant: mostly the present one; 0: none
	Name    string   // of that stage
	People  []Person // who owes the present stage, or who stamped
	Missing int      // of WhyHands, how many more people have to stamp
	Act     int      // of Walk: number of the act that makes no sense, from 1; 0: the route
}

func (r *Refusal) Error() string { return "not admitted: " + string(r.Why) }
