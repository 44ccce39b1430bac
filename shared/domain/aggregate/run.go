package aggregate

import "time"

// Effects are what must happen outside of the table because of the rows as they are now. Carrying one out twice does
// no harm.
type Effects struct {
	Run *Run // a run that ought to be open
	// Begin opens the next run where none is to be open yet: it is committed before that run is started. nil where runs
	// follow one another by other decisions. It returns ErrNotDue when there is nothing to begin.
	Begin Decision[Aggregate]
	Make  []Making // aggregates, also of another kind, that this one asks for
	Tell  []Telling
	Wake  []Wait // waiting runs to be woken: what they wait for is decided, or they are superseded
	Cards bool   // the cards in Slack are older than the rows
}

// Making is an aggregate that ought to be there: it is created if it is not, and then Made is committed to the one that
// asked.
type Making struct {
	Ref   Ref
	Begin Change // unless there is an Order
	Order JSON   // of which Ref's kind makes the beginning: Kind.Begin
	Made  Decision[Aggregate]
}

// Telling is a decision that another aggregate ought to make because of this one's rows. It returns ErrNotDue where it
// was made before, or is not called for any more. Told is then committed to the one that tells, so that it tells no
// longer; nil: the other's answer ends it.
type Telling struct {
	Ref    Ref
	Decide Decision[Aggregate]
	Told   Decision[Aggregate]
	Absent bool // the other need not be there: then nothing is told, and Told is committed
}

// Run is one execution of the state machine.
type Run struct {
	Name  string // unique for ever: a repeated start is recognised by it
	Input string // the same bytes each time, as Step Functions asks of a repeated start
	Run   int
}

// Next is where a run goes from here.
type Next struct {
	State          string
	Gate           string // key of what an Await state waits for
	TimeoutSeconds int    // of an Await state; longer than the gate's own expiry, which the sweeper handles
	WaitSeconds    int    // of Pause
	Outcome        string // of Finish and Fail
	Reason         Reason // of Fail; it stays with the function
}

// StuckAfter is how long a run may have work without a Change, pauses apart. It is restarted then even if it looks
// open: no state's tries take as long.
const StuckAfter = 20 * time.Minute

// EndedNoRoom is the error with which every machine ends a run for whose functions Lambda had no room.
const EndedNoRoom = "NoRoom"

// StateFinish is where every machine ends a run that has nothing left to do.
const StateFinish = "Finish"

// Superseded ends a run that is no longer the head's.
func Superseded() Next { return Next{State: StateFinish, Outcome: "superseded"} }
