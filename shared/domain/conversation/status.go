package conversation

import (
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
)

// Status is the status of a conversation; see Moves.
type Status string

const (
	Open      Status = "open"
	Executing Status = "executing" // one of its actions is executing
	Closed    Status = "closed"
	Failing   Status = "error" // its agent can't answer
)

// Moves are the moves of a conversation. A closed one can be reopened by a person.
var Moves = aggregate.Moves[Status]{
	Open:      {Executing, Closed, Failing},
	Executing: {Open},
	Closed:    {Open},
	Failing:   {Open, Executing, Closed}, // an approved action needs no agent
}

// ActionStatus is the status of an action; see ActionMoves.
type ActionStatus string

const (
	ActionPending   ActionStatus = "pending"
	ActionApproved  ActionStatus = "approved"
	ActionExecuting ActionStatus = "executing"
	ActionSucceeded ActionStatus = "succeeded"
	ActionFailed    ActionStatus = "failed"
	ActionCancelled ActionStatus = "cancelled"
)

// ActionMoves are the moves of an action. Only an action with unknown outcome leaves failed, when its result arrives
// late.
var ActionMoves = aggregate.Moves[ActionStatus]{
	ActionPending:   {ActionApproved, ActionCancelled},
	ActionApproved:  {ActionExecuting, ActionFailed, ActionCancelled},
	ActionExecuting: {ActionSucceeded, ActionFailed, ActionCancelled},
	ActionSucceeded: {},
	ActionFailed:    {ActionSucceeded, ActionFailed},
	ActionCancelled: {},
}

// Over reports whether an action has ended.
func (s ActionStatus) Over() bool { return len(ActionMoves[s]) == 0 || s == ActionFailed }

// ActionType says what an action does.
type ActionType = agent.ActionType

const (
	CodeGenerate = agent.CodeGenerate
	TestRun      = agent.TestRun
	ShellCommand = agent.ShellCommand
	ToolCall     = agent.ToolCall
)

// Sender is the author of a message.
type Sender string

const (
	FromUser   Sender = "user"
	FromAgent  Sender = "agent"
	FromSystem Sender = "system"
)

// RequestedBy says who proposed an action.
type RequestedBy string

const (
	RequestedByAgent RequestedBy = "agent"
	RequestedByUser  RequestedBy = "user"
)

// ApprovedBy says who approved an action.
type ApprovedBy string

const (
	ApprovedByUser ApprovedBy = "user"
	ApprovedByAuto ApprovedBy = "auto" // by an administrator's rule
)

// Outcome adds to the status of a failed action.
type Outcome string

// OutcomeUnknown: the invocation that ran the action is gone, and nobody knows what the action did.
const OutcomeUnknown Outcome = "unknown"
