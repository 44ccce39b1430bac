package model

import (
	"encoding/json"

	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Executing is the purpose of a managed session, which has a prompt and no schema.
const Executing Purpose = "execute"

// SessionInput is the input for a managed session's instructions.
type SessionInput struct {
	Task    task.Task
	Request string // the message
	Steps   []SessionStep
	Locale  string
}

// SessionStep is an approved step that the session is to request.
type SessionStep struct {
	StepID    string          `json:"stepId"`
	Order     int             `json:"order"`
	Title     string          `json:"title"`
	Tool      string          `json:"tool"` // the session's name for it
	Arguments json.RawMessage `json:"arguments"`
	Done      bool            `json:"done"`
	Facts     map[string]any  `json:"facts,omitempty"` // of one that is done
}

// Instructions are a session's rules and its first message. Prompt is the name of the prompt that the rules come from.
type Instructions struct{ System, Message, Prompt string }

// Instruct writes a session's instructions. Everything except the rules is fenced as data.
func Instruct(in SessionInput) (Instructions, error) {
	p, err := promptOf(Executing, in.Locale)
	if err != nil {
		return Instructions{}, err
	}
	message, err := fenced(struct {
		Task    TaskData      `json:"task"`
		Message string        `json:"message"`
		Steps   []SessionStep `json:"steps"`
	}{taskData(in.Task), in.Request, in.Steps})
	return Instructions{p.Text, message, p.Name()}, err
}

// SessionSummary returns a session's last message, cut to MaxSummary and without control characters and personal data.
func SessionSummary(said string) string { return legible.Clip(legible.Mask(prose(said)), MaxSummary) }
