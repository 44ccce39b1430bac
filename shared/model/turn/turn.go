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
	"ringi/shared/runtime/isolated"
	"ringi/shared/tool"
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
	// Forwarded are the messages that a person's message forwards.
	Forwarded []Forwarded
	// Replaces is the time of an earlier message, which its author changed to this one or, if Deleted is true, deleted.
	Replaces time.Time
	// Deleted says that the author deleted this message, or by it another one. It has no text and no files.
	Deleted bool
	// Pieces are the parts of a system's message.
	Pieces []Piece
	// Thread is what people said in the thread before the conversation, of which a system's message tells.
	Thread []Earlier
	// Collapsed says that the message is a summary of older ones, which are not shown, up to the time At. Without a text
	// these have no summary either.
	Collapsed bool
	// Proposal is an agent's proposal. The message's text may then be empty.
	Proposal *Proposal
	// Refused are further proposals in the same message, which were refused.
	Refused []Proposal
	// HandOver is the text of a request that the agent made to the pipeline, and TaskID the task that it became; empty: a
	// person makes the request by a button.
	HandOver, TaskID string
	// ActionID is the action whose result a system's message reports.
	ActionID string
	// Rounds are what the agent read before it answered, as it is shown again, and Read what is only named.
	Rounds []Round
	Read   []conversation.Read
	// Attached says that attachments were shown to the agent for this answer; their message may have been deleted.
	Attached bool
}

// Piece is a part of a system's message: Ringi's own words, or a quotation such as a reason or a command's output.
type Piece struct {
	Text   string
	Quoted bool
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
	// Lies is the path at which it lies beside the conversation's files, and TextLies that of its text.
	Lies, TextLies string
	Encoding       string // in which it was written
	Remarks        []isolated.FileRemark
}

// Proposal is an action that an agent wants to have done.
type Proposal struct {
	ActionID string // empty before the action exists
	Type     agent.ActionType
	Payload  string               // JSON as the agent proposes it, in the form of conversation.Payload
	Decoded  conversation.Payload // as completed, only in a new proposal
	Summary  string               // its purpose in the agent's words
	Omitted  bool                 // the payload is too large to be shown again
}

// Complete adds to a proposal what people are asked to approve with it: the files that it works on, and what it makes of
// them. Its problems are worded for the model.
type Complete func(agent.ActionType, conversation.Payload) (kept conversation.Payload, problems []string)

// Turn is the input for an agent's answer.
type Turn struct {
	Agent   agent.Definition
	History []Message // the last ones are to be answered
	// MaySandbox says that commands can be executed.
	MaySandbox bool
	// Tools tells the model which programs are installed where commands are executed.
	Tools string
	// Calls are the tools of vendors whose calls may be proposed; nil: none may.
	Calls    *tool.Catalog
	Complete Complete // nil: proposals stay as they are
	// Busy says that an action waits or is being executed, so no other one can be proposed.
	Busy bool
	// FilesLost says that the conversation's files are lost, so no action can be proposed until a person has chosen how
	// to go on.
	FilesLost bool
	Locale    string
	// Files can be read in this turn; nil: none can.
	Files *Files
	// Earlier are rounds that an earlier try at this answer has paid for.
	Earlier []Round
	// Paid is called after each answer that reads; nil: nothing is committed before the end.
	Paid Paid
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
	// Asked says that a person has to make this request by a button: the agent was shown what files or commands say.
	Asked bool
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

func promptIn(locale string) (model.Prompt, error) { return model.ReadPrompt(prompts, "chat", locale) }
func foldPromptIn(locale string) (model.Prompt, error) {
	return model.ReadPrompt(prompts, "fold", locale)
}
