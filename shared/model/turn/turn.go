// Package turn makes one turn of an agent in a conversation. It sends the conversation to the model and takes the
// usable parts of the answer. To the model, people's words are only data. The model's proposals are checked before
// anybody sees them.
package turn

import (
	"embed"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
)

// Message is a message of a conversation with its proposals and their results.
type Message struct {
	Key    string // key of its row
	Sender Sender
	Name   string // the author's name for people; empty for agent and system
	UserID string // the author's id in Slack; two people may have the same name
	At     time.Time
	Text   string
	Files  []File
	// Replaces is the time of an earlier message, which its author changed to this one or, if Deleted is true, deleted.
	Replaces time.Time
	// Deleted says that the author deleted this message, or by it another one. It has no text and no files.
	Deleted bool
	// Pieces are the parts of a system's message.
	Pieces []Piece
	// Collapsed says that the message is a summary of older ones, which are not shown, up to the time At. Without a text
	// these have no summary either.
	Collapsed bool
	// Proposal is an agent's proposal. The message's text may then be empty.
	Proposal *Proposal
	// Refused are further proposals in the same message, which were refused.
	Refused []Proposal
	// ActionID is the action whose result a system's message reports.
	ActionID string
}

// Piece is a part of a system's message: Ringi's own words, or a quotation such as a reason or a command's output.
type Piece struct {
	Text   string
	Quoted bool
}

// Sender is the author of a message.
type Sender string

const (
	FromUser   Sender = "user"
	FromAgent  Sender = "agent"
	FromSystem Sender = "system"
)

// File is an attachment of a message.
type File struct {
	ID   string // Slack's
	Name string
	Type string // MIME
	Hash string // SHA-256 of the content that was read
	Size int
	Body []byte // nil: not read
	Why  string // why it was not read
}

// Proposal is an action that an agent wants to have done.
type Proposal struct {
	ActionID string // empty before the action exists
	Type     agent.ActionType
	Payload  string               // JSON in the canonical form of conversation.Payload
	Decoded  conversation.Payload // only in a new proposal; earlier ones have just the payload
	Summary  string               // its purpose in the agent's words
	Omitted  bool                 // the payload is too large to be shown again
}

// Turn is the input for an agent's answer.
type Turn struct {
	Agent   agent.Definition
	History []Message // the last ones are to be answered
	// MaySandbox says that commands can be executed.
	MaySandbox bool
	// Tools tells the model which programs are installed where commands are executed.
	Tools string
	// Busy says that an action waits or is being executed, so no other one can be proposed.
	Busy   bool
	Locale string
	// Now is when the turn is made, and More how many messages wait that are answered in later turns.
	Now  time.Time
	More int
	// MaxTokens bounds the answer, if it is less than usual.
	MaxTokens int
}

// Reply is an agent's checked answer.
type Reply struct {
	Text    string
	Action  *Proposal
	Refused []Proposal // further proposals of the same answer, which were refused
	// HandOver is the text of a request that the agent makes to the pipeline.
	HandOver string
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

func promptIn(locale string) (model.Prompt, error) { return model.ReadPrompt(prompts, "chat", locale) }
func foldPromptIn(locale string) (model.Prompt, error) {
	return model.ReadPrompt(prompts, "fold", locale)
}
