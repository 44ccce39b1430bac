package main

import (
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/task"
)

// decision turns a click on a button into a change. id is the button's value.
type decision func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// buttons are those that decide at once, by action_id.
func buttons() map[string]decision {
	return map[string]decision{
		"approve_prompt":   ofKind(task.CardPrompt, (*task.Aggregate).Approve),
		"approve_process":  ofKind(task.CardProcess, (*task.Aggregate).Approve),
		"approve_step":     ofKind(task.CardStep, (*task.Aggregate).Approve),
		"cancel_execution": (*task.Aggregate).CancelExecution,
		"retry_execution":  (*task.Aggregate).RetryExecution,
		card.TakeAsRequest: (*task.Aggregate).TakeAsRequest,
		"retry_generation": ofTask((*task.Aggregate).RetryGeneration),
	}
}

// cancelTask is the message shortcut.
func cancelTask() decision { return ofTask((*task.Aggregate).CancelTask) }

// ofTask is a decision on the task itself, whose id the button carries.
func ofTask(decide func(a *task.Aggregate, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)) decision {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if id != a.Head.TaskID {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, by, p, now)
	}
}

// ofKind is a decision on a gate of one kind alone: the button and its value name the same.
func ofKind(kind aggregate.CardType, decide decision) decision {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if a.AskedBy(id) != kind {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, id, by, p, now)
	}
}

// rejection is a decision that needs a reason.
type rejection func(a *task.Aggregate, id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// rejections are the kinds of gate, as a modal's private_metadata names them.
func rejections() map[aggregate.CardType]rejection {
	out := map[aggregate.CardType]rejection{}
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

// with puts the reason in.
func (r rejection) with(reason string) decision {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		return r(a, id, reason, by, p, now)
	}
}
