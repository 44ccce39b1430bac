package task

import "ringi/shared/domain/aggregate"

const (
	AuditTaskCreated        aggregate.Action = "task.created"
	AuditRequestAnswered    aggregate.Action = "request.answered"  // by a plain reply: no task, or none of the edited text
	AuditRequestChosen      aggregate.Action = "request.chosen"    // as a reason to reject, or as a request of its own
	AuditRequestEdited      aggregate.Action = "request.edited"    // or deleted, by its author, in Slack
	AuditRequestRedrafted   aggregate.Action = "request.redrafted" // from the edited text
	AuditTaskCancelled      aggregate.Action = "task.cancelled"
	AuditTaskExpired        aggregate.Action = "task.expired"
	AuditTaskRefused        aggregate.Action = "task.refused"
	AuditPromptApproved     aggregate.Action = "prompt.approved"
	AuditPromptRejected     aggregate.Action = "prompt.rejected"
	AuditPromptPicked       aggregate.Action = "prompt.picked"     // replaced by another team's submission
	AuditBestTaken          aggregate.Action = "prompt.best_taken" // a contest was ended with its best draft so far
	AuditProcessApproved    aggregate.Action = "process.approved"
	AuditProcessRejected    aggregate.Action = "process.rejected"
	AuditStepApproved       aggregate.Action = "step.approved"
	AuditStepRejected       aggregate.Action = "step.rejected"
	AuditProcessRouted      aggregate.Action = "process.routed" // opened under a rule
	AuditProcessStamped     aggregate.Action = "process.stamped"
	AuditProcessTakenBack   aggregate.Action = "process.taken_back"
	AuditProcessDenied      aggregate.Action = "process.denied"
	AuditProcessReassigned  aggregate.Action = "process.reassigned"
	AuditStepRouted         aggregate.Action = "step.routed"
	AuditStepStamped        aggregate.Action = "step.stamped"
	AuditStepTakenBack      aggregate.Action = "step.taken_back"
	AuditStepDenied         aggregate.Action = "step.denied"
	AuditStepReassigned     aggregate.Action = "step.reassigned"
	AuditExecutionStarted   aggregate.Action = "execution.started"
	AuditExecutionCompleted aggregate.Action = "execution.completed"
	AuditExecutionFailed    aggregate.Action = "execution.failed"
	AuditExecutionCancelled aggregate.Action = "execution.cancelled"
	AuditExecutionRetried   aggregate.Action = "execution.retried"
	AuditExecutionLate      aggregate.Action = "execution.late" // a write's outcome became known after the end
	AuditGenerationFailed   aggregate.Action = "generation.failed"
	AuditGenerationRetried  aggregate.Action = "generation.retried"
)

var promptOnRoute = aggregate.OnRoute{Approved: AuditPromptApproved, Rejected: AuditPromptRejected}

var processOnRoute = aggregate.OnRoute{
	Routed: AuditProcessRouted, Stamped: AuditProcessStamped, Approved: AuditProcessApproved, TakenBack: AuditProcessTakenBack,
	Rejected: AuditProcessRejected, Denied: AuditProcessDenied, Reassigned: AuditProcessReassigned,
}

var stepOnRoute = aggregate.OnRoute{
	Routed: AuditStepRouted, Stamped: AuditStepStamped, Approved: AuditStepApproved, TakenBack: AuditStepTakenBack,
	Rejected: AuditStepRejected, Denied: AuditStepDenied, Reassigned: AuditStepReassigned,
}
