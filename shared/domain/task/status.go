package task

import "ringi/shared/domain/aggregate"

// TaskStatus is the status of a task; see TaskMoves.
type TaskStatus string

const (
	TaskExtracted TaskStatus = "extracted"
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
	// TaskAnswered ends a head whose message got a plain reply. No task row exists.
	TaskAnswered TaskStatus = "answered"
	// TaskRefused ends a head whose request was refused. No task row exists.
	TaskRefused TaskStatus = "refused"
)

// ExecutionStatus is the status of an attempt at a process; see ExecutionMoves.
type ExecutionStatus string

const (
	ExecutionPending   ExecutionStatus = "pending"
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
	ExecutionCancelled ExecutionStatus = "cancelled"
)

// StepStatus is the status of a step's call; see StepMoves. A step without a row has not begun.
type StepStatus string

const (
	StepRunning   StepStatus = "running"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	// StepUnknown is a write whose outcome is unknown (結果不明).
	StepUnknown StepStatus = "unknown"
)

// The allowed moves. move.go refuses all others.
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
	// running → running: a crashed read is called again. unknown → completed or failed: a late answer arrived.
	StepMoves = aggregate.Moves[StepStatus]{
		StepRunning:   {StepRunning, StepCompleted, StepFailed, StepUnknown},
		StepUnknown:   {StepCompleted, StepFailed},
		StepCompleted: {},
		StepFailed:    {},
	}
)
