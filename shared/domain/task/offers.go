package task

import "ringi/shared/domain/aggregate"

// Acts on a task besides approving and rejecting.
const (
	ActTakeAsReason    aggregate.Act = "take_as_reason"
	ActTakeAsRequest   aggregate.Act = "take_as_request"
	ActRetryGeneration aggregate.Act = "retry_generation"
	ActRedraft         aggregate.Act = "redraft"
	ActRetryExecution  aggregate.Act = "retry_execution"
	ActCancelExecution aggregate.Act = "cancel_execution"
	ActCancelTask      aggregate.Act = "cancel_task"
)

// Offers returns what people may do on the task in its current state. Cards offer the same, except cancelling a task,
// which is in the menu of a Slack message. Whether a particular person may do it is decided at the click.
func (a *Aggregate) Offers() []aggregate.Offer {
	if a.Head.Ended != nil {
		return a.retryExecution()
	}
	var out []aggregate.Offer
	if open, ok := a.OpenGate(); ok && open.Terms.ApprovalRequired && a.Head.Parked == nil {
		gate := aggregate.Offer{ID: open.ID, Kind: open.Kind, Hash: a.AskedHash(open.ID)}
		for _, act := range []aggregate.Act{aggregate.ActApprove, aggregate.ActReject} {
			gate.Act = act
			out = append(out, gate)
		}
	}
	if row := a.Choosing(); row != nil {
		if !row.GateOver {
			out = append(out, aggregate.Offer{Act: ActTakeAsReason, ID: row.ID})
		}
		out = append(out, aggregate.Offer{Act: ActTakeAsRequest, ID: row.ID})
	}
	if a.Head.Parked != nil && !a.Head.Hopeless() && a.Head.RetriesLeft() {
		out = append(out, aggregate.Offer{Act: ActRetryGeneration, ID: a.Head.TaskID})
	}
	if a.Redraftable() {
		out = append(out, aggregate.Offer{Act: ActRedraft, ID: a.Head.TaskID, Hash: a.Correction.Saying()})
	}
	if e := a.Execution(); e != nil && !e.over() {
		return append(out, aggregate.Offer{Act: ActCancelExecution, ID: e.ID})
	}
	return append(append(out, a.retryExecution()...), aggregate.Offer{Act: ActCancelTask, ID: a.Head.TaskID})
}

// retriable reports whether another attempt may succeed after this one failed.
func (e *Execution) retriable() bool { return e.Error != ReasonToolValue && e.AttemptsLeft() }

// retryExecution offers another attempt at the newest process, unless it can't succeed.
func (a *Aggregate) retryExecution() []aggregate.Offer {
	e := a.Execution()
	if e == nil || e.Status != ExecutionFailed || !e.retriable() {
		return nil
	}
	return []aggregate.Offer{{Act: ActRetryExecution, ID: e.ID}}
}
