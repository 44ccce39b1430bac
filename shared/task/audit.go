package task

import "ringi/shared/aggregate"

const (
	TaskCreated             aggregate.Action = "task.created"
	RequestAnswered         aggregate.Action = "request.answered" // by a plain reply; there is no task
	RequestChosen           aggregate.Action = "request.chosen"   // a reason to reject, or a request of its own
	TaskCancelledAction     aggregate.Action = "task.cancelled"
	TaskExpired             aggregate.Action = "task.expired"
	TaskRefusedAction       aggregate.Action = "task.refused"
	PromptApproved          aggregate.Action = "prompt.approved"
	PromptRejected          aggregate.Action = "prompt.rejected"
	ProcessApproved         aggregate.Action = "process.approved"
	ProcessRejected         aggregate.Action = "process.rejected"
	StepApproved            aggregate.Action = "step.approved"
	StepRejected            aggregate.Action = "step.rejected"
	ExecutionStarted        aggregate.Action = "execution.started"
	ExecutionCompletedEntry aggregate.Action = "execution.completed"
	ExecutionFailedEntry    aggregate.Action = "execution.failed"
	ExecutionCancelledEntry aggregate.Action = "execution.cancelled"
	ExecutionRetried        aggregate.Action = "execution.retried"
	GenerationFailed        aggregate.Action = "generation.failed"
	GenerationRetried       aggregate.Action = "generation.retried"
)
