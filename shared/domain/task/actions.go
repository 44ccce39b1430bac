package task

import "ringi/shared/domain/aggregate"

// Act is something that a person may do on a task.
type Act string

const (
	ActApprove         Act = "approve"
	ActReject          Act = "reject" // with a reason
	ActTakeAsReason    Act = "take_as_reason"
	ActTakeAsRequest   Act = "take_as_request"
	ActRetryGeneration Act = "retry_generation"
	ActRetryExecution  Act = "retry_execution"
	ActCancelExecution Act = "cancel_execution"
	ActCancelTask      Act = "cancel_task"
)

// Action is an act with what it is on.
type Action struct {
	Act  Act
	ID   string             // of the gate, the choice, the execution or the task
	Kind aggregate.CardType // of a gate
	Hash string             // of what a gate asks about
}

// Actions are what people may do on the task as it stands, whoever they are. Cards offer the same, but for the
// cancellation of a task, which is in Slack's menu of a message. Who may is decided at the click.
func (a *Aggregate) Actions() []Action {
	if a.Head.Ended != nil {
		return a.retryExecution()
	}
	var out []Action
	if open, ok := a.OpenGate(); ok && open.Terms.ApprovalRequired && a.Head.Parked == nil {
		gate := Action{ID: open.ID, Kind: open.Kind, Hash: a.AskedHash(open.ID)}
		for _, act := range []Act{ActApprove, ActReject} {
			gate.Act = act
			out = append(out, gate)
		}
	}
	if row := a.Choosing(); row != nil {
		if !row.GateOver {
			out = append(out, Action{Act: ActTakeAsReason, ID: row.ID})
		}
		out = append(out, Action{Act: ActTakeAsRequest, ID: row.ID})
	}
	if a.Head.Parked != nil && !a.Head.Hopeless() && a.Head.RetriesLeft() {
		out = append(out, Action{Act: ActRetryGeneration, ID: a.Head.TaskID})
	}
	if e := a.Execution(); e != nil && !e.over() {
		return append(out, Action{Act: ActCancelExecution, ID: e.ID})
	}
	return append(append(out, a.retryExecution()...), Action{Act: ActCancelTask, ID: a.Head.TaskID})
}

// retryExecution is another attempt at the newest process, where one may succeed.
func (a *Aggregate) retryExecution() []Action {
	e := a.Execution()
	if e == nil || e.Status != ExecutionFailed || e.Error == ReasonToolValue || !e.AttemptsLeft() {
		return nil
	}
	return []Action{{Act: ActRetryExecution, ID: e.ID}}
}
