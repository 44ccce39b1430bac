// Package turn makes one turn of an agent in a conversation. It tells the model what was said, and takes from the
// answer what can be used. People's words are data to the model, and the model's proposals are checked before anybody
// sees them.
package turn

import (
	"embed"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
)

// Message is a message of a conversation, with what it led to.
type Message struct {
	Key    string // of its row
	Sender Sender
	Name   string // the author's, as people know it; empty for agent and system
	Text   string
	Files  []File
	// Pieces are the parts of a system's message.
	Pieces []Piece
	// Collapsed says that the message stands for older ones.
	Collapsed bool
	// Proposal is what an agent's message proposed; its text may be empty.
	Proposal *Proposal
	// Refused are proposals of the same message that were not taken.
	Refused []Proposal
	// ActionID is the action whose end a system's message tells.
	ActionID string
}

// Piece is a part of a system's message: Ringi's own words, or a quotation such as a reason or a command's output.
type Piece struct {
	Text   string
	Quoted bool
}

// Sender is who says something.
type Sender string

const (
	FromUser   Sender = "user"
	FromAgent  Sender = "agent"
	FromSystem Sender = "system"
)

// File is something that was attached to a message.
type File struct {
	ID   string // Slack's
	Name string
	Type string // MIME
	Hash string // SHA-256 of what was read
	Size int
	Body []byte // nil: not read
	Why  string // why it was not read
}

// Proposal is an action that an agent wants to have done.
type Proposal struct {
	ActionID string // empty before it is an action
	Type     agent.ActionType
	Payload  string               // JSON, in the one form that conversation.Payload gives it
	Decoded  conversation.Payload // of a new proposal; an earlier one has its kept payload alone
	Summary  string               // what it is for, in the agent's words
}

// Turn is what an agent is to answer.
type Turn struct {
	Agent   agent.Definition
	History []Message // the last ones are answered now
	// MaySandbox says that commands can be executed.
	MaySandbox bool
	// Tools says what is installed where commands are executed, for the model.
	Tools string
	// Busy says that an action waits or is under way, so that no other one can be proposed.
	Busy   bool
	Locale string
}

// Reply is what an agent answers.
type Reply struct {
	Text    string
	Action  *Proposal
	Refused []Proposal // of the same answer, not taken
	// HandOver is the text of a request that the agent makes to the pipeline.
	HandOver string
	// Code says why a part of the agent's answer is missing from the reply.
	Code  Code
	Usage model.Usage
	Calls int // of the model
}

// Code is what went wrong, as logs name it.
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
