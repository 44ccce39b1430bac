// Package turn makes one turn of an agent in a conversation. It sends the conversation to the model and takes the
// usable parts of the answer. To the model, people's words are only data. The model's proposals are checked before
// anybody sees them.
package turn

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/isolated"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// Message is a message of a conversation with its proposals and their results.
type Message struct {
	Key    string // key of its row
	Sender conversation.Sender
	Name   string // the author's name for people; empty for agent and system
	UserID string // the author's id in Slack; two people may have the same name
	At     time.Time
	Text   string
	Files  []File
	// Forwarded are the messages that a person's message forwards.
	Forwarded []Forwarded
	// Replaces is the time of an earlier message, which its author changed to this one or, if Deleted is true, deleted.
	Replaces time.Time
	// Deleted says that the author deleted this message, or by it another one. It has no text and no files.
	Deleted bool
	// Pieces are the parts of a system's message: Ringi's own words, and quotations such as a command's output.
	Pieces []conversation.Piece
	// Thread is what people said in the thread before the conversation, of which a system's message tells.
	Thread []Earlier
	// Collapsed says that the message is a summary of older ones, which are not shown, up to the time At. Without a text
	// these have no summary either.
	Collapsed bool
	// Proposal is an agent's proposal. The message's text may then be empty.
	Proposal *Proposal
	// Request is the text of a request that the agent offered: a person makes it by a button.
	Request string
	// ActionID is the action whose result a system's message reports.
	ActionID string
	Read     []conversation.Read // what the agent read before it answered
}

// Earlier is what somebody said before the conversation.
type Earlier struct {
	Name, UserID string
	At           time.Time
	Text         string
}

// Forwarded is a message that another one forwards.
type Forwarded struct {
	Earlier
	Where string // the channel
	Cut   bool   // Text is only the beginning
}

// File is an attachment of a message.
type File struct {
	ID   string // Slack's
	Name string
	Type string // MIME
	Hash string // SHA-256 of the content that was read
	Size int
	Body []byte // nil: not read
	Why  string // why it was not read
	// Lies is the path at which it lies beside the conversation's files, and TextLies that of its text.
	Lies, TextLies string
	Encoding       string // in which it was written
	Remarks        []isolated.FileRemark
}

// Proposal is an action that an agent wants to have done.
type Proposal struct {
	ActionID string // empty before the action exists
	Type     tenancy.ActionType
	Payload  string               // JSON as the agent proposes it, in the form of conversation.Payload
	Decoded  conversation.Payload // as completed, only in a new proposal
	Summary  string               // its purpose in the agent's words
	Omitted  bool                 // the payload is too large to be shown again
}

// Complete adds to a proposal what people are asked to approve with it: the files that it works on, and what it makes
// of
// them. Its problems are worded for the model.
type Complete func(tenancy.ActionType, conversation.Payload) (kept conversation.Payload, problems []string)

// Turn is the input for an agent's answer.
type Turn struct {
	Agent   tenancy.Agent
	History []Message // the last ones are to be answered
	// MaySandbox says that commands can be executed.
	MaySandbox bool
	// Tools tells the model which programs are installed where commands are executed.
	Tools string
	// Calls are the tools of vendors whose calls may be proposed; nil: none may.
	Calls    *tool.Catalog
	Complete Complete // nil: proposals stay as they are
	// Busy says that an action waits or is being executed, so no other one can be proposed.
	Busy   bool
	Locale string
	// Files can be read in this turn; nil: none can.
	Files *Files
	// Earlier are rounds that an earlier try at this answer has paid for.
	Earlier []Round
	// Paid is called after each answer that reads; nil: nothing is committed before the end.
	Paid Paid
	// Now is when the turn is made, and More how many messages wait that are answered in later turns.
	Now  time.Time
	More int
}

// Reply is an agent's checked answer.
type Reply struct {
	Text   string
	Action *Proposal
	// Request is the text of a request that the agent offers.
	Request string
	// Rounds are what the agent read before it answered.
	Rounds []Round
	// Code says why a part of the agent's answer is missing from the reply.
	Code  Code
	Usage model.Usage
	Calls int // calls of the model
}

// Code is an error code for logs.
type Code string

const (
	Invalid      Code = "VALIDATION_ERROR"          // the proposal stayed unusable
	NotSupported Code = "ACTION_TYPE_NOT_SUPPORTED" // the agent may not propose that
	Declined     Code = "MODEL_REFUSED"
	CutOff       Code = "MODEL_CUT_OFF" // the answer was too long
	Empty        Code = "MODEL_EMPTY"
)

//go:embed prompts/*.md
var prompts embed.FS

// entry is one statement in the form that the model reads. The field identifies the speaker, so no name can imitate
// another speaker. Nothing in an entry is an instruction.
type entry struct {
	From   string `json:"from,omitempty"`   // a person's name
	ID     string `json:"id,omitempty"`     // that person's id in Slack
	Agent  string `json:"agent,omitempty"`  // the agent's own words
	System string `json:"system,omitempty"` // Ringi's own words, and nobody else's
	// what Ringi's words before it are about, such as a reason or a command's output
	Quoted   string `json:"quoted,omitempty"`
	Forwards string `json:"forwards,omitempty"`  // that the person before it forwards this message, and of which channel
	NotShown string `json:"not_shown,omitempty"` // what the agent does not see, in Ringi's words
	Summary  string `json:"summary,omitempty"`   // of older messages
	At       string `json:"at,omitempty"`        // when it was said
	Changes  string `json:"changes,omitempty"`   // when the message was written that this one replaces
	Deletes  string `json:"deletes,omitempty"`   // when the message was written that its author deleted
	Text     string `json:"text,omitempty"`
	File     string `json:"file,omitempty"`
	NotRead  string `json:"not_read,omitempty"`
	Lies     string `json:"lies_at,omitempty"`  // the path of the file beside the conversation's files
	TextAt   string `json:"text_at,omitempty"`  // the path of its text, if that is another
	Encoding string `json:"encoding,omitempty"` // of a text that was not UTF-8
	Remarks  string `json:"remarks,omitempty"`  // what its text doesn't show
	Read     string `json:"read,omitempty"`     // the path of a file that the agent read
	Searched string `json:"searched,omitempty"` // what the agent searched for
	Lines    string `json:"lines,omitempty"`
	Now      string `json:"now,omitempty"`
}

// system splits a message of Ringi's into entries, so that words of others have entries of their own. If the pieces of
// a message about an action's end are not known, all of it counts as others' words. With an author, the others' words
// are
// theirs: a rejection's reason.
func (m Message) system() (out []entry) {
	pieces := m.Pieces
	if pieces == nil && m.Text != "" {
		pieces = []conversation.Piece{{Text: m.Text, Quoted: m.ActionID != ""}}
	}
	for _, p := range pieces {
		if p.Quoted {
			out = append(out, entry{From: line(m.Name), ID: m.UserID, Quoted: p.Text})
		} else {
			out = append(out, entry{System: p.Text})
		}
	}
	if len(out) > 0 {
		out[0].At = clock(m.At)
	}
	for _, e := range m.Thread {
		out = append(out, entry{From: line(e.Name), ID: e.UserID, At: clock(e.At), Quoted: e.Text})
	}
	return out
}

// spoken returns what a person said, changed or deleted, and what they forwarded: others' words.
func (m Message) spoken() []entry {
	e := entry{From: line(m.Name), ID: m.UserID, At: clock(m.At)}
	switch {
	case m.Deleted && m.Replaces.IsZero():
		e.NotShown = "the author deleted this message"
	case m.Deleted:
		e.Deletes = clock(m.Replaces)
	default:
		e.Text, e.Changes = language.Visible(m.Text), clock(m.Replaces)
	}
	out := []entry{e}
	if m.Deleted {
		return out
	}
	for _, f := range m.Forwarded {
		q := entry{From: line(f.Name), ID: f.UserID, At: clock(f.At), Quoted: f.Text, Forwards: "a message of another person"}
		if f.Where != "" {
			q.Forwards += " in " + line(f.Where)
		}
		switch {
		case f.Text == "":
			q.NotShown = "Slack does not show the text of this forwarded message"
		case f.Cut:
			q.NotShown = "the rest of this forwarded message"
		}
		out = append(out, q)
	}
	return out
}

// folded returns a summary, and what it stands for.
func (m Message) folded() []entry {
	until := "older messages"
	if !m.At.IsZero() {
		until = "the messages until " + clock(m.At)
	}
	if m.Text == "" {
		return []entry{{NotShown: until + ": they are not kept, are too long to be shown whole, or belong " +
			"to a conversation that ended"}}
	}
	return []entry{{NotShown: until + ": the summary stands for them"}, {Summary: m.Text}}
}

// clock formats a time to the minute. It is empty for the zero time.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(tenancy.Zone()).Format("2006-01-02 15:04")
}

const busy = "An action of yours waits for a decision or is under way: propose no other one now."

// passing is what only this turn says, at its end, after all that happened before: what changes with each call comes
// after what vendors cache.
func (t Turn) passing() []model.Part {
	var list []entry
	if t.Busy {
		list = append(list, entry{System: busy})
	}
	if t.More > 0 {
		list = append(list, entry{NotShown: fmt.Sprintf("%d more messages, which you answer next", t.More)})
	}
	if !t.Now.IsZero() {
		list = append(list, entry{Now: t.Now.In(tenancy.Zone()).Format("2006-01-02 15:04 (Monday), Asia/Tokyo, UTC-07:00")})
	}
	if list == nil {
		return nil
	}
	return []model.Part{{Text: fenced(list), Passing: true}}
}

// line returns the visible part of a name on one line.
func line(s string) string { return strings.Join(strings.Fields(language.Visible(s)), " ") }

// fenced returns the visible parts of entries as data. JSON escapes every <, so no text in them can end the fence.
func fenced(list []entry) string {
	for i := range list {
		e := &list[i]
		for _, text := range []*string{&e.From, &e.ID, &e.Agent, &e.System, &e.Quoted, &e.Forwards, &e.NotShown, &e.Summary,
			&e.Text,
			&e.File, &e.NotRead, &e.Lies, &e.TextAt, &e.Read, &e.Searched} {
			*text = language.VisibleCode(*text)
		}
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("encode what was said: %v", err)) // of texts
	}
	return "<messages>\n" + string(b) + "\n</messages>"
}
