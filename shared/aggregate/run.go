package aggregate

// Effects are what follows from the rows as they are. Every one is safe twice.
type Effects struct {
	Run   *Run   // a run that ought to be open
	Wake  []Wait // runs that wait for what is decided, or that are superseded
	Cards bool   // what Slack shows is behind
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
	TimeoutSeconds int    // of an Await state: a fuse, not the expiry
	WaitSeconds    int    // of Pause
	Outcome        string // of Finish and Fail
}

// StateFinish is where every machine ends a run that has nothing left to do.
const StateFinish = "Finish"

// Superseded is where a run goes that is not the head's.
func Superseded() Next { return Next{State: StateFinish, Outcome: "superseded"} }
