// Package turn is one turn of an agent in a conversation: what was said, as a model is told it, and what of the model's
// answer can be used. What people write is data to the model, and what the model proposes is checked before anybody
// sees it.
package turn

import (
	"embed"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
)

// Message is one of a conversation, with what it led to.
type Message struct {
	Key    string // of its row
	Sender Sender
	Name   string // of who wrote it, as people know them; empty for agent and system
	Text   string
	Files  []File
	// Pieces are what a system's message is made of.
	Pieces []Piece
	// Collapsed says that it stands for older messages.
	Collapsed bool
	// Proposal is what an agent's message proposed; its text may be empty.
	Proposal *Proposal
	// Refused are proposals of the same message that were not taken.
	Refused []Proposal
	// ActionID is that of the action whose end a system's message tells.
	ActionID string
}

// Piece is a part of a system's message: Ringi's own words, or others' that it quotes, such as a reason or a command's
// output.
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
	Why  string // it was not read
}

// Proposal is an action that an agent wants to have done.
type Proposal struct {
	ActionID string // once it is one
	Type     agent.ActionType
	Payload  string               // JSON, in the one form that conversation.Payload gives it
	Decoded  conversation.Payload // of an answer's proposal; one of an earlier message is told again as it is kept
	Summary  string               // what it is for, in the agent's words
}

// Turn is what an agent is to answer.
type Turn struct {
	Agent   agent.Definition
	History []Message // with what is answered now as the last ones
	// MaySandbox says that commands can be executed.
	MaySandbox bool
	// Tools says what is installed where commands are executed, for the model.
	Tools string
	// Busy says that an action waits or is under way: another one can't be proposed.
	Busy   bool
	Locale string
}

// Reply is what an agent answers.
type Reply struct {
	Text    string
	Action  *Proposal
	Refused []Proposal // of the same answer, that were not taken
	// HandOver is what the agent makes a request to the pipeline of.
	HandOver string
	// Code says why something is not in the reply that the agent meant to say.
	Code  Code
	Usage model.Usage
	Calls int // of the model
}

// Code is what went wrong, as logs name it.
type Code string

const (
	Invalid      Code = "VALIDATION_ERROR"          // what the agent proposed stayed unusable
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
