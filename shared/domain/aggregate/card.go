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
	CardUnsent      CardState = "unsent" // of a copy: no message is sent, the row only lists what its person owes
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
	CreatedAt   time.Time  `json:"created_at"`
	// Set only for a copy, whose row the card updater creates: the person who received it, and how many other people at
	// its gate received none. Of the card at a gate's home it is the id of that channel.
	User   string `json:"user,omitempty"`
	Others int    `json:"others,omitempty"`
	// Set only for a copy of a gate under a rule: the number of the stage at which the person is asked, since when they
	// owe their stamp (nil: they owe none), and the head's rev when that was noted.
	Stage     int        `json:"stage,omitempty"`
	OwedSince *time.Time `json:"owed_since,omitempty"`
	OwedRev   int        `json:"owed_rev,omitempty"`
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

// Type returns the row's type: "copy" in a person's direct messages or at a gate's home, else "card".
func (c *Card) Type() string {
	if c.User != "" {
		return "copy"
	}
	return "card"
}

// AtHome reports whether the card stands in the home of a gate, where all of its members may press.
func (c *Card) AtHome() bool { return c.User != "" && c.User == c.Channel }

func (c Card) At(rev int) Row { c.Rev = rev; return &c }

// CardType says what a card shows.
type CardType string
