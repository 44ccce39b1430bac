package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ExtractKind is what the first layer took a message for.
type ExtractKind string

const (
	KindTask        ExtractKind = "task"        // also ""
	KindUnsupported ExtractKind = "unsupported" // nothing that Ringi's tools could do
	KindHelp        ExtractKind = "help"        // a question about Ringi itself
)

// MaxSentence is how long a plain reply's sentence may be, in characters.
const MaxSentence = 400

// Answer is a plain reply: what a message got instead of a task.
type Answer struct {
	aggregate.Meta
	Kind      ExtractKind      `json:"kind"`
	Sentence  string           `json:"sentence"`
	Usage     *aggregate.Usage `json:"usage,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
}

// AnswerKey is the key of a task's only answer.
const AnswerKey = "ANSWER"

func (r *Answer) Key() string             { return AnswerKey }
func (r Answer) At(rev int) aggregate.Row { r.Rev = rev; return &r }
func (r *Answer) paid(u aggregate.Usage)  { r.Usage = &u }
func (k ExtractKind) plain() bool         { return k == KindUnsupported || k == KindHelp }

// reason is how a head ends that got a plain reply.
func (k ExtractKind) reason() aggregate.Reason {
	if k == KindHelp {
		return ReasonHelp
	}
	return ReasonUnsupported
}

// answered ends the head with a plain reply. Nobody is asked for a stamp.
func (a *Aggregate) answered(e Extract, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.progress()
	row := &Answer{Kind: e.Kind, Sentence: e.Sentence, CreatedAt: c.Now}
	c.Put(row)
	c.Made = row
	c.audit(aggregate.System(), AuditRequestAnswered, "task", a.Head.TaskID, map[string]any{"kind": e.Kind, "requester": a.Head.Requester})
	return c.ended(nil, TaskAnswered, aggregate.System(), e.Kind.reason())
}
