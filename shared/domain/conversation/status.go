package conversation

import (
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
)

// Status is where a conversation stands; see SessionMoves.
type Status string

const (
	Open      Status = "open"
	Executing Status = "executing" // one of its actions is
	Closed    Status = "closed"
	Failing   Status = "error" // its agent can't answer
)

// SessionMoves are a conversation's. A closed one is opened again by a person, from a clean slate.
var SessionMoves = aggregate.Moves[Status]{
	Open:      {Executing, Closed, Failing},
	Executing: {Open},
	Closed:    {Open},
	Failing:   {Open, Executing, Closed}, // what was approved needs no agent
}

// ActionStatus is where an action stands; see ActionMoves.
type ActionStatus string

const (
	ActionPending   ActionStatus = "pending"
	ActionApproved  ActionStatus = "approved"
	ActionExecuting ActionStatus = "executing"
	ActionSucceeded ActionStatus = "succeeded"
	ActionFailed    ActionStatus = "failed"
	ActionCancelled ActionStatus = "cancelled"
)

// ActionMoves are an action's. From failed it goes on only where its outcome is unknown, when the truth comes late.
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

// ActionType is what an action does.
type ActionType = agent.ActionType

// The types of actions.
const (
	CodeGenerate = agent.CodeGenerate
	TestRun      = agent.TestRun
	ShellCommand = agent.ShellCommand
)

// Sender is who says something.
type Sender string

const (
	FromUser   Sender = "user"
	FromAgent  Sender = "agent"
	FromSystem Sender = "system"
)

// RequestedBy is who proposes an action.
type RequestedBy string

const (
	RequestedByAgent RequestedBy = "agent"
	RequestedByUser  RequestedBy = "user"
)

// ApprovedBy is who approved an action.
type ApprovedBy string

const (
	ApprovedByUser ApprovedBy = "user"
	ApprovedByAuto ApprovedBy = "auto" // by an administrator's rule
)

// Outcome says more about a failed action than its status does.
type Outcome string

// OutcomeUnknown: whoever ran it is gone, and nobody knows what it did.
const OutcomeUnknown Outcome = "unknown"
