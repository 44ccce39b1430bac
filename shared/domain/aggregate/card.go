package aggregate

import (
	"strings"
	"time"
)

// CardState is where a card's message stands.
type CardState string

const (
	CardNone        CardState = "none"
	CardPosting     CardState = "posting"
	CardPosted      CardState = "posted"
	CardUnreachable CardState = "unreachable"
)

// Card is a Slack message that shows one row. A Change creates the row; the card
// updater alone writes it afterwards, and those writes carry no state of the aggregate.
type Card struct {
	Meta
	ID          string     `json:"id"`
	AggregateID string     `json:"task_id"` // whatever its kind is
	CardType    CardType   `json:"card_type"`
	Subject     string     `json:"subject"` // key of the row it shows; TASK and EXECUTION for the newest
	Channel     string     `json:"channel"`
	MessageTS   string     `json:"message_ts,omitempty"`
	State       CardState  `json:"state"`
	Hash        string     `json:"hash,omitempty"` // of what it shows; empty while a call to Slack is under way
	ClaimedBy   string     `json:"claimed_by,omitempty"`
	ClaimedAt   *time.Time `json:"claimed_at,omitempty"`
	TriedRev    int        `json:"tried_rev,omitempty"` // the rev at which Slack refused for good
	TriedAt     *time.Time `json:"tried_at,omitempty"`  // when it did so last
	Refusal     string     `json:"refusal,omitempty"`   // Slack's error code
	CreatedAt   time.Time  `json:"created_at"`
	// Of a copy: whose direct messages it is in, and how many more people of its gate got none. The card updater makes
	// the row; no Change does.
	User   string `json:"user,omitempty"`
	Others int    `json:"others,omitempty"`
	// The head's rev and redraws as they were loaded, if this card was the last one that was drawn and all are shown.
	ShownRev     int `json:"shown_rev,omitempty"`
	ShownRedraws int `json:"shown_redraws,omitempty"`
}

// Key of a card follows its subject: CARD#task, CARD#prompt#0001, CARD#execution; a copy's has the person's id behind
// an @.
func (c *Card) Key() string {
	key := "CARD#" + string(c.CardType)
	if _, rest, versioned := strings.Cut(c.Subject, "#"); versioned {
		key += "#" + rest
	}
	if c.User != "" {
		key += "@" + c.User
	}
	return key
}

// Type returns the row's type: "copy" in a person's direct messages, else "card".
func (c *Card) Type() string {
	if c.User != "" {
		return "copy"
	}
	return "card"
}

func (c Card) At(rev int) Row { c.Rev = rev; return &c }

// CardType is what a card shows.
type CardType string
