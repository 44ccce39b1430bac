package aggregate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CardState says whether the card's message has been posted to Slack.
type CardState string

const (
	CardNone        CardState = "none"
	CardPosting     CardState = "posting"
	CardPosted      CardState = "posted"
	CardUnreachable CardState = "unreachable"
)

// Card is a Slack message that shows one row. A Change creates the card's row. Only the card updater writes it
// afterwards, and those writes carry no state of the aggregate.
type Card struct {
	Meta
	ID          string     `json:"id"`
	AggregateID string     `json:"task_id"` // id of an aggregate of any kind
	CardType    CardType   `json:"card_type"`
	Subject     string     `json:"subject"` // key of the row that the card shows; TASK and EXECUTION mean the newest
	Channel     string     `json:"channel"`
	MessageTS   string     `json:"message_ts,omitempty"`
	State       CardState  `json:"state"`
	Hash        string     `json:"hash,omitempty"`  // hash of the posted content; empty if it may be another
	Drawn       int        `json:"drawn,omitempty"` // how often an update of the message was saved
	ClaimedBy   string     `json:"claimed_by,omitempty"`
	ClaimedAt   *time.Time `json:"claimed_at,omitempty"`
	TriedRev    int        `json:"tried_rev,omitempty"` // the rev at which Slack refused the message permanently
	TriedAt     *time.Time `json:"tried_at,omitempty"`  // time of the latest refusal
	Refusal     string     `json:"refusal,omitempty"`   // Slack's error code
	// GivenBack is the latest receipt of a message of the card queue that was given back with no update left unsaved.
	GivenBack string    `json:"given_back,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// Set only for a copy, whose row the card updater creates: the person who gets it, or the channel or group that is
	// told of a decision. Of a gate under a rule also the number of the stage at which they are asked, and whom they stood
	// in for there when the row was made, by account, of who is asked only so.
	User  string   `json:"user,omitempty"`
	Stage int      `json:"stage,omitempty"`
	For   []string `json:"for,omitempty"`
	// Set on the card that was drawn last, if all cards are up to date: the head's rev and redraws as loaded.
	ShownRev     int `json:"shown_rev,omitempty"`
	ShownRedraws int `json:"shown_redraws,omitempty"`
}

// Key returns a key made from the card's subject, such as CARD#task, CARD#prompt#0001 or CARD#execution. A copy's key
// ends in @ and the person's id, and of a gate under a rule in the number of the stage: CARD#process#0001@U1/2.
func (c *Card) Key() string {
	key := "CARD#" + string(c.CardType)
	if _, rest, versioned := strings.Cut(c.Subject, "#"); versioned {
		key += "#" + rest
	}
	if c.User != "" {
		key += "@" + c.User
		if c.Stage > 0 {
			key += "/" + strconv.Itoa(c.Stage)
		}
	}
	return key
}

// Type returns the row's type: "copy" in a person's direct messages, or of what tells others of a decision, else
// "card".
func (c *Card) Type() string {
	if c.User != "" {
		return "copy"
	}
	return "card"
}

// TellsGroup reports whether the card tells a Slack user group of a decision, in the thread of what was decided.
func (c *Card) TellsGroup() bool { return c.CardType == CardDecided && strings.HasPrefix(c.User, "S") }

func (c Card) At(rev int) Row { c.Rev = rev; return &c }

// Placed is an aggregate with a place in Slack.
type Placed interface {
	Aggregate
	Origin() Origin
	Beginning() (message, thread string)
}

// MessageFor returns the message in which somebody can open the gate of the row with this key, or else the first one;
// nothing if they can't open it. Of what another person asked for in direct messages, and if own is set, it is their
// copy for a stage, if they have one: the card may be where they can't open it.
func MessageFor(a Placed, key, user string, stage int, own bool) (channel, ts, thread string) {
	shared, o := a.Common(), a.Origin()
	theirs := o.ChannelType == "im" && o.User != user
	for _, c := range shared.CopiesOf(key) {
		if (theirs || own) && c.User == user && c.Stage == stage && c.MessageTS != "" {
			return c.Channel, c.MessageTS, ""
		}
	}
	if theirs {
		return "", "", ""
	}
	ts, thread = a.Beginning()
	for _, c := range shared.Cards {
		if c.Subject == key && c.MessageTS != "" {
			ts = c.MessageTS
		}
	}
	return o.Channel, ts, thread
}

// CardType says what a card shows.
type CardType string

// CardDecided is a copy for one person alone: of what was decided, for whom its rule has told of that.
const CardDecided CardType = "decided"

const decided = "DECIDED#"

// DecidedSubject is what such a copy shows: the decision at the gate of a row.
func DecidedSubject(gate string) string { return decided + gate }

// DecidedOf reads DecidedSubject; "" of any other subject.
func DecidedOf(subject string) (gate string) {
	if gate, is := strings.CutPrefix(subject, decided); is {
		return gate
	}
	return ""
}

// About returns the key of the row that a copy is about: of a decision, that of the gate where it was made.
func (c *Card) About() string { return cmp.Or(DecidedOf(c.Subject), c.Subject) }

// Count is a counter for one of a tenant's quotas, and what a Change adds to it.
type Count struct {
	Key    string // <user>#<hour>, OPEN#<user>, ASKED#<user>#<gate> or SPENT#<day>
	By     int    // 1 or -1; for a day's costs, millionths of a dollar
	Held   int    // how much of By is reserved, and not spent
	Most   int    // a Change that would take the counter above this is refused; 0: no limit
	Reason Reason // the reason in ErrFull when the limit is reached
	Until  time.Time
	Keep   time.Time // when the counter may be deleted; zero: never
}

// ErrFull says that a quota is used up, which one, and until when.
type ErrFull struct{ Count }

func (e ErrFull) Error() string { return fmt.Sprintf("%s: at most %d", e.Reason, e.Most) }

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

// Superseded ends a run that the head no longer names.
func Superseded() Next { return Next{State: StateFinish, Outcome: "superseded"} }

// Wait is a run that waits at a gate, with the task token that wakes the run.
type Wait struct {
	Gate    string    `json:"gate"` // key of the prompt's, process's or step gate's row
	Token   string    `json:"task_token"`
	Run     int       `json:"run"`
	Entered time.Time `json:"entered"`
	Retry   int       `json:"retry"`
	// DeleteAfter is when no run that waits can be open any more.
	DeleteAfter int64 `json:"delete_after,omitempty"`
}

// Left reports whether the run has certainly left the gate: it made a commit in a state that it entered later. A run
// may have left it anyway.
func (w *Wait) Left(h *Head) bool {
	return w.Run == h.Run && h.Entered != nil && w.Entered.Before(*h.Entered)
}

func (w Wait) Key() string  { return "WAIT#" + w.Gate }
func (w Wait) Type() string { return "wait" }

// Revision returns 0 because no Change writes a Wait.
func (w Wait) Revision() int { return 0 }

func (w Wait) At(int) Row { return &w }

// tryAgainAfter is the interval for retrying a card that Slack refused while a person is asked. Slack sends no event
// when a channel is reopened or the bot is invited.
const tryAgainAfter = time.Hour

// TryAgainAt returns when to retry a card that Slack refused permanently, if somebody is asked. Otherwise it returns
// nil: such a card is retried at the next revision.
func (c *Card) TryAgainAt(asked bool) *time.Time {
	if c.State != CardUnreachable || !asked {
		return nil
	}
	again := c.CreatedAt.Add(tryAgainAfter)
	if c.TriedAt != nil {
		again = c.TriedAt.Add(tryAgainAfter)
	}
	return &again
}

// Drawing returns whether to draw the cards of an aggregate now, and when the sweeper must look again because of them;
// nil: never. behind: they are older than the rows; asked: people are. The sweeper requests outdated ones again after
// the time since the last change, but five minutes to an hour: so a card that can't be drawn doesn't fill the queue.
func Drawing(a Aggregate, behind, asked bool, now time.Time) (draw bool, due *time.Time) {
	h := a.Root().Common()
	if draw = behind; draw {
		due = Sooner(nil, now.Add(min(max(5*time.Minute, now.Sub(h.ChangedAt)), time.Hour)))
	}
	for _, c := range a.Common().Cards {
		switch again := c.TryAgainAt(asked); {
		case again == nil:
		case again.After(now):
			due = Sooner(due, *again)
		default:
			draw, due = true, Sooner(due, now.Add(5*time.Minute)) // it has just been requested
		}
	}
	return draw, due
}

// Sooner returns the earlier one of two times, of which due may be nil.
func Sooner(due *time.Time, t time.Time) *time.Time {
	if due != nil && !t.Before(*due) {
		return due
	}
	return &t
}

// RunOf returns a run of an aggregate for Step Functions.
func RunOf(ref Ref, run int) *Run {
	return &Run{Name: fmt.Sprintf("%s-%d", ref.ID, run), Run: run,
		Input: fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"run":%d}`, ref.Tenant, ref.Kind, ref.ID, run)}
}
