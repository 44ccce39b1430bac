package task

import "ringi/shared/domain/aggregate"

// TaskStatus is where a task stands; see TaskMoves.
type TaskStatus string

const (
	TaskExtracted TaskStatus = "extracted"
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
	// TaskAnswered is how a head ends that got a plain reply: there never was a task.
	TaskAnswered TaskStatus = "answered"
	// TaskRefused is a head's alone: the request never became a task.
	TaskRefused TaskStatus = "refused"
)

// ExecutionStatus is where one attempt at a process stands; see ExecutionMoves.
type ExecutionStatus string

const (
	ExecutionPending   ExecutionStatus = "pending"
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
	ExecutionCancelled ExecutionStatus = "cancelled"
)

// StepStatus is where one step's call stands; see StepMoves. A step without a
// row has not begun.
type StepStatus string

const (
	StepRunning   StepStatus = "running"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	// StepUnknown is a write whose answer nobody saw: 結果不明.
	StepUnknown StepStatus = "unknown"
)

// The state machines of the data model. A move that is not listed here is refused: see move.go.
var (
	TaskMoves = aggregate.Moves[TaskStatus]{
		TaskExtracted: {TaskRunning, TaskCancelled},
		TaskRunning:   {TaskCompleted, TaskFailed, TaskCancelled},
		TaskFailed:    {TaskRunning},
		TaskCompleted: {},
		TaskCancelled: {},
	}
	ExecutionMoves = aggregate.Moves[ExecutionStatus]{
		ExecutionPending:   {ExecutionRunning, ExecutionFailed, ExecutionCancelled},
		ExecutionRunning:   {ExecutionCompleted, ExecutionFailed, ExecutionCancelled},
		ExecutionCompleted: {},
		ExecutionFailed:    {},
		ExecutionCancelled: {},
	}
	// running → running is a crashed read that is called again; unknown becomes completed or failed when a late
	// answer arrives.
	StepMoves = aggregate.Moves[StepStatus]{
		StepRunning:   {StepRunning, StepCompleted, StepFailed, StepUnknown},
		StepUnknown:   {StepCompleted, StepFailed},
		StepCompleted: {},
		StepFailed:    {},
	}
)
