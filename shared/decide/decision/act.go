package decision

import (
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// Act turns what a person wants of a task into a change. id is of what it is about: a gate's, an execution's, a choice's
// or the task's own.
type Act func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// Buttons are the acts that need nothing but a click, by the action_id of a card's button.
func Buttons() map[string]Act {
	return map[string]Act{
		"approve_prompt":   OfKind(task.CardPrompt, (*task.Aggregate).Approve),
		"approve_process":  OfKind(task.CardProcess, (*task.Aggregate).Approve),
		"approve_step":     OfKind(task.CardStep, (*task.Aggregate).Approve),
		"cancel_execution": (*task.Aggregate).CancelExecution,
		"retry_execution":  (*task.Aggregate).RetryExecution,
		card.TakeAsRequest: (*task.Aggregate).TakeAsRequest,
		"retry_generation": ofTask((*task.Aggregate).RetryGeneration),
	}
}

// CancelTask withdraws a task, wherever it stands.
func CancelTask() Act { return ofTask((*task.Aggregate).CancelTask) }

// ofTask is a decision on the task itself, whose id the button carries.
func ofTask(decide func(a *task.Aggregate, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)) Act {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if id != a.Head.TaskID {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, by, p, now)
	}
}

// OfKind is an act on a gate of one kind alone: the button and its value name the same.
func OfKind(kind aggregate.CardType, decide Act) Act {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if a.AskedBy(id) != kind {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, id, by, p, now)
	}
}

// Rejection is an act that needs a reason.
type Rejection func(a *task.Aggregate, id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// Rejections are those of each kind of gate.
func Rejections() map[aggregate.CardType]Rejection {
	out := map[aggregate.CardType]Rejection{}
	for _, kind := range []aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep} {
		out[kind] = func(a *task.Aggregate, id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
			if a.AskedBy(id) != kind {
				return aggregate.Change{}, aggregate.ErrNotFound
			}
			return a.Reject(id, reason, by, p, now)
		}
	}
	return out
}

// Unsaid is the rejection before a reason is given, for checking whether one would be taken: it is never committed.
func (r Rejection) Unsaid() Act {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		return r(a, id, "-", by, p, now)
	}
}

// Once puts the reason in. Of a gate that is rejected already, by the same person with the same reason it is no change; with
// another reason it is ErrDecided, since this reason would not be saved.
func (r Rejection) Once(reason string) Act {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		c, err := r(a, id, reason, by, p, now)
		if v := a.VerdictOn(id); err == nil && c.Empty() && v.RejectedAt != nil && v.RejectionReason != strings.TrimSpace(reason) {
			return aggregate.Change{}, aggregate.ErrDecided{Status: string(aggregate.Rejected), By: v.RejectedBy, At: *v.RejectedAt}
		}
		return c, err
	}
}
