package aggregate

import (
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
func (c *Card) TellsGroup() bool { return c.CardType == CardDecided && IsGroup(c.User) }

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

// About returns the key of the row that a copy is about: of a decision, that of the gate where it was made.
func (c *Card) About() string { return strings.TrimPrefix(c.Subject, decided) }

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
