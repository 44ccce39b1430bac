package task

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Act does on the gate with this id what its hand does along its route; at, form and surface it adds itself. The stamp
// that settles a process also creates its execution; a step then runs with exactly the arguments that its gate showed.
// Of a policy or a process that is sent back another version is made, unless max_versions are used up: then the task is
// cancelled, as by what is denied and by a step that is sent back. Completed steps are not undone. A form that is sent
// back waits for one of its askers: see Refill.
//
// by is the hand, whose delegation and place in a channel the caller has looked up: on are the rows on which that
// depends.
//
// Act returns ErrDecided, ErrNotLatest, ErrSuperseded, ErrNotAllowed, ErrNotFound or a *circulation.Refusal. If the
// same hand does the very same again, nothing changes.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	act, denied := p.Act(row.gate(), act, by, c.Now)
	g, refused := row.gate().Acted(act)
	if aggregate.Again(refused) && a.asWalked(row) {
		return aggregate.Change{}, nil
	}
	if err := a.mustWait(row); err != nil {
		return aggregate.Change{}, err
	}
	switch {
	case denied != nil:
		return aggregate.Change{}, denied
	case refused != nil:
		return aggregate.Change{}, refused
	case !act.Ends() && a.sum(row) != g.AskedSum:
		return aggregate.Change{}, fmt.Errorf("%s has another content than is asked: %w", row.Key(),
			aggregate.ErrConflict)
	}
	c.Owned = append(c.Owned, on...)
	return a.acted(c, row, g, by)
}

// asWalked reports whether a gate's status is the one that its acts left, so that nobody need be told another.
func (a *Aggregate) asWalked(row Gated) bool {
	s := row.gate().Status
	// A gate that waits though the task has ended was read before the commit that ended it.
	return s == aggregate.Approved || s == aggregate.Rejected || s == aggregate.PendingApproval && a.Head.Ended == nil
}

// acted writes a gate with one more act, or as the system settled it, and what follows from it.
func (a *Aggregate) acted(c *change, row Gated, g aggregate.Gate, by aggregate.Actor) (aggregate.Change, error) {
	typ, id, about := a.onRoute(row)
	if _, steps := row.(*Process); steps && g.ApprovedAt != nil && a.Prompt() != nil { // on which approved relies
		about["policy"], about["policy_hash"] = a.Prompt().ID, a.Prompt().hash()
	}
	c.Record(&c.Head, by, g.Entry(string(row.Asks().Kind)), typ, id, g.ActDetails(about))
	switch {
	case g.ApprovedAt != nil:
		c.progress()
		c.moveGate(row, aggregate.Approved, func(n Gated) {
			*n.gate() = g
			if p, ok := n.(*Process); ok {
				p.ApprovedHash = row.hash()
			}
		})
		a.approved(c, row)
		return c.done()
	case g.RejectedAt != nil:
		c.progress()
		c.moveGate(row, aggregate.Rejected, func(n Gated) { *n.gate() = g })
		if _, step := row.(*StepGate); step || g.Acts[len(g.Acts)-1].Kind.Does().Final {
			return a.denied(c, row, by)
		}
		return a.afterRejection(c, row)
	}
	n := row.At(row.Revision()).(Gated)
	*n.gate() = g
	c.Put(n)
	return c.done()
}

// denied ends the task for good. As after a refused step, what was done stays.
func (a *Aggregate) denied(c *change, row Gated, by aggregate.Actor) (aggregate.Change, error) {
	if step, ok := row.(*StepGate); ok {
		a.cancelExecution(c, a.executionOf(step), by)
		return c.ended(a.Task, TaskCancelled, by, ReasonStepRejected)
	}
	c.Record(&c.Head, by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDenied})
	return c.ended(a.Task, TaskCancelled, by, ReasonDenied)
}

// onRoute returns what audit entries about a gate are about.
func (a *Aggregate) onRoute(row Gated) (typ, id string, about map[string]any) {
	if step, is := row.(*StepGate); is {
		if e := a.executionOf(step); e != nil {
			id = e.ID
		}
		return "execution", id, map[string]any{"step": step.StepID, "arguments_hash": step.hash()}
	}
	q := row.Asks()
	about = a.versioned(q.Version, row.hash())
	if p, is := row.(*Prompt); is {
		for name, user := range map[string]string{"picked_by": p.Author, "edited_by": p.EditedBy,
			"title": p.Title} {
			if user != "" {
				about[name] = user
			}
		}
		ofTeam(p.Entry, about)
	}
	if files := a.enclosing(a.policyBy(row)); files != "" {
		about["enclosed"] = aggregate.HashOf(files)
	}
	return string(q.Kind), q.ID, about
}

// versioned are the details of what is done on a version; of a form they say so, since it is nobody's policy.
func (a *Aggregate) versioned(version int, hash string) map[string]any {
	about := map[string]any{"version": version, "hash": hash}
	if a.Matter() != nil {
		about["by_form"] = true
	}
	return about
}

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
	c.Record(&c.Head, aggregate.System(), AuditRequestAnswered, "task", a.Head.TaskID,
		map[string]any{"kind": e.Kind, "requester": a.Head.Requester})
	return c.ended(nil, TaskAnswered, aggregate.System(), e.Kind.Reason())
}

// Acts on a task besides approving and rejecting.
const (
	ActRetryGeneration aggregate.Act = "retry_generation"
	ActRetryExecution  aggregate.Act = "retry_execution"
	ActConfirm         aggregate.Act = "confirm_write" // writes of unknown outcome arrived
	ActEndExecution    aggregate.Act = "end_execution" // they stay unknown
	ActCancelExecution aggregate.Act = "cancel_execution"
	ActCancelTask      aggregate.Act = "cancel_task"
	ActRefill          aggregate.Act = "refill" // a form that was given back
)

// Offers returns what people may do on the task in its current state. Cards offer the same, except cancelling a task,
// which is in the menu of a Slack message. Whether a particular person may do it is decided at the click.
func (a *Aggregate) Offers() []aggregate.Offer {
	if a.Head.Ended != nil {
		return a.retryExecution()
	}
	var out []aggregate.Offer
	if open, ok := a.OpenGate(); ok && open.Terms.ApprovalRequired && a.Head.Parked == nil {
		gate := aggregate.Offer{ID: open.ID, Kind: open.Kind, Hash: a.Asked(open.ID).Hash}
		for _, act := range []aggregate.Act{aggregate.ActApprove, aggregate.ActReject} {
			gate.Act = act
			out = append(out, gate)
		}
	}
	if row := a.Returned(); row != nil {
		q := row.Asks()
		out = append(out, aggregate.Offer{Act: ActRefill, ID: q.ID, Kind: q.Kind, Hash: row.hash()})
	}
	if a.Head.Parked != nil && !a.Head.Hopeless() && a.Head.RetriesLeft() {
		out = append(out, aggregate.Offer{Act: ActRetryGeneration, ID: a.Head.TaskID})
	}
	if e := a.Execution(); e != nil && !e.over() {
		return append(out, aggregate.Offer{Act: ActCancelExecution, ID: e.ID})
	}
	return append(append(out, a.retryExecution()...), aggregate.Offer{Act: ActCancelTask, ID: a.Head.TaskID})
}

// retriable reports whether another attempt may succeed after this one failed.
func (e *Execution) retriable() bool { return e.Error != ReasonToolValue && e.AttemptsLeft() }

// failedUnsure reports whether the task failed over a write of unknown outcome.
func (a *Aggregate) failedUnsure() bool {
	return a.Head.Ended != nil && a.Head.Ended.As == TaskFailed && a.Head.Ended.Reason == ReasonToolUnknown
}

// unsure returns the ids of the newest attempt's writes of unknown outcome.
func (a *Aggregate) unsure() (out []string) {
	e := a.Execution()
	if e == nil {
		return nil
	}
	for _, s := range a.StepsOf(e) {
		if s.Status == StepUnknown {
			out = append(out, s.StepID)
		}
	}
	return out
}

// retryExecution offers another attempt at the newest process, unless it can't succeed or the task was ended. After a
// write of unknown outcome people may also say that it arrived, or end the task.
func (a *Aggregate) retryExecution() []aggregate.Offer {
	e := a.Execution()
	if e == nil || e.Status != ExecutionFailed || !e.retriable() || a.Head.Ended != nil && a.Head.Ended.As != TaskFailed {
		return nil
	}
	again := []aggregate.Offer{{Act: ActRetryExecution, ID: e.ID}}
	if len(a.unsure()) == 0 {
		return again
	}
	if a.goesOn() {
		again = append(again, aggregate.Offer{Act: ActConfirm, ID: e.ID})
	}
	return append(again, aggregate.Offer{Act: ActEndExecution, ID: e.ID})
}

// goesOn reports whether the newest attempt's other steps need no result of its writes of unknown outcome.
func (a *Aggregate) goesOn() bool {
	p := a.ProcessOf(a.Execution())
	return p != nil && !slices.ContainsFunc(a.unsure(), func(id string) bool {
		return slices.ContainsFunc(p.Steps, func(s Step) bool {
			return strings.Contains(string(s.ToolInput), `"`+id+`.result`)
		})
	})
}
