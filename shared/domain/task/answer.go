package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ExtractKind is the first layer's classification of a message.
type ExtractKind string

const (
	KindTask        ExtractKind = "task"        // "" means the same
	KindUnsupported ExtractKind = "unsupported" // something that Ringi's tools can't do
	KindHelp        ExtractKind = "help"        // a question about Ringi itself
)

// MaxSentence is the maximum length of a plain reply in characters.
const MaxSentence = 400

// Answer is a plain reply that a message got instead of a task.
type Answer struct {
	aggregate.Meta
	Kind      ExtractKind      `json:"kind"`
	Sentence  string           `json:"sentence"`
	Usage     *aggregate.Usage `json:"usage,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
}

// AnswerKey is the key of a task's answer; a task has at most one.
const AnswerKey = "ANSWER"

func (r *Answer) Key() string             { return AnswerKey }
func (r Answer) At(rev int) aggregate.Row { r.Rev = rev; return &r }
func (r *Answer) paid(u aggregate.Usage)  { r.Usage = &u }
func (k ExtractKind) plain() bool         { return k == KindUnsupported || k == KindHelp }

// Reason says why the message got a plain reply.
func (k ExtractKind) Reason() aggregate.Reason {
	if k == KindHelp {
		return ReasonHelp
	}
	return ReasonUnsupported
}

// answered ends the task with a plain reply, without asking anybody.
func (a *Aggregate) answered(e Extract, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.progress()
	c.readThread(a, e)
	row := &Answer{Kind: e.Kind, Sentence: e.Sentence, CreatedAt: c.Now}
	c.Put(row)
	c.Made = row
	c.audit(aggregate.System(), AuditRequestAnswered, "task", a.Head.TaskID, map[string]any{"kind": e.Kind, "requester": a.Head.Requester})
	return c.ended(nil, TaskAnswered, aggregate.System(), e.Kind.Reason())
}
