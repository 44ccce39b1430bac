package aggregate

import (
	"fmt"
	"time"
)

// Effects are what must happen outside of the table according to its rows. Carrying out an effect twice does no harm.
type Effects struct {
	Run *Run // a run that ought to be open
	// Begin is committed to open the next run, before that run is started. It is nil for kinds whose runs are opened by
	// other decisions, and returns ErrNotDue if no run is due.
	Begin Decision[Aggregate]
	Make  []Making // aggregates that must be created, possibly of another kind
	Tell  []Telling
	Wake  []Wait // waiting runs to wake, because their gate is decided or they are superseded
	Cards bool   // the cards in Slack are older than the rows
	// Progress is how many of the newest revisions only show how far the work has come: they made no decision, no
	// question, no end and no card.
	Progress int
	// Erased is set if all of the aggregate must be deleted but its head and what lives longer. It is committed when that
	// is done. Only the sweeper may delete.
	Erased Decision[Aggregate]
}

// Making is an aggregate that must exist. It is created if it is absent; then Made is committed to the one that asked.
type Making struct {
	Ref   Ref
	Begin Change // its first Change, unless Order is set
	Order JSON   // passed to Kind.Begin of Ref's kind, which makes the first Change
	Made  Decision[Aggregate]
}

// Telling is a decision that another aggregate must make because of this one's rows. It returns ErrNotDue if it was
// made before or is no longer needed. Told is then committed to this aggregate, to end the telling; if Told is nil, the
// other aggregate's answer ends it.
type Telling struct {
	Ref    Ref
	Decide Decision[Aggregate]
	Told   Decision[Aggregate]
	Absent bool // if Ref does not exist, Told is committed without Decide
}

// Run is one execution of the state machine.
type Run struct {
	Name  string // unique forever, so that a repeated start is recognized
	Input string // must be identical when a start is repeated: Step Functions compares it
	Run   int
}

// Next is the next state of a run.
type Next struct {
	State          string
	Gate           string // key of the gate for which an Await state waits
	TimeoutSeconds int    // for an Await state; longer than the gate's own expiry, which the sweeper handles
	WaitSeconds    int    // for Pause
	Outcome        string // for Finish and Fail
	Reason         Reason // for Fail; not passed on to Step Functions
}

// StuckAfter is how long a run with work to do may go without a Change, not counting pauses. After it the run is
// restarted even if it still looks open. All retries of any state take less time.
const StuckAfter = 20 * time.Minute

// EndedNoRoom is the error with which a state machine ends a run when Lambda had no capacity for its functions.
const EndedNoRoom = "NoRoom"

// StateFinish is the state in which every machine ends a run that has no more work.
const StateFinish = "Finish"

// Wait is a run that waits at a gate, with the task token that wakes the run.
type Wait struct {
	Unrevised
	Gate    string    `json:"gate"` // key of the prompt's, process's or step gate's row
	Token   string    `json:"task_token"`
	Run     int       `json:"run"`
	Entered time.Time `json:"entered"`
	Retry   int       `json:"retry"`
	// DeleteAfter is when no run that waits can be open any more.
	DeleteAfter int64 `json:"delete_after,omitempty"`
}

func (w Wait) Key() string { return "WAIT#" + w.Gate }

func (w Wait) Type() string { return "wait" }

func (w Wait) At(int) Row { return &w }

// RunOf returns a run of an aggregate for Step Functions.
func RunOf(ref Ref, run int) *Run {
	return &Run{Name: fmt.Sprintf("%s-%d", ref.ID, run), Run: run,
		Input: fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"run":%d}`, ref.Tenant, ref.Kind, ref.ID, run)}
}
