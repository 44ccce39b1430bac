package conversation

import "ringi/shared/domain/aggregate"

// Audit actions for conversations.
const (
	AuditOpened    aggregate.Action = "session.opened"
	AuditClosed    aggregate.Action = "session.closed"
	AuditReopened  aggregate.Action = "session.reopened"
	AuditFailing   aggregate.Action = "session.failed" // its agent can't answer
	AuditProposed  aggregate.Action = "action.proposed"
	AuditApproved  aggregate.Action = "action.approved"
	AuditRejected  aggregate.Action = "action.rejected"
	AuditExpired   aggregate.Action = "action.expired"
	AuditCancelled aggregate.Action = "action.cancelled"
	AuditStarted   aggregate.Action = "action.started"
	// What is done on a gate under a rule.
	AuditRouted     aggregate.Action = "action.routed" // it opened
	AuditStamped    aggregate.Action = "action.stamped"
	AuditTakenBack  aggregate.Action = "action.taken_back"
	AuditDenied     aggregate.Action = "action.denied"
	AuditReassigned aggregate.Action = "action.reassigned"
	AuditCompleted  aggregate.Action = "action.completed"
	AuditFailed     aggregate.Action = "action.failed"
	AuditLate       aggregate.Action = "action.late" // a result after the action was cancelled or counted as unknown
)

var onRoute = aggregate.OnRoute{
	Routed: AuditRouted, Stamped: AuditStamped, Approved: AuditApproved, TakenBack: AuditTakenBack,
	Rejected: AuditRejected, Denied: AuditDenied, Reassigned: AuditReassigned,
}

// Reasons why something ended, failed or was not done. Cards and pages have a sentence for each.
const (
	ReasonClosed      aggregate.Reason = "closed" // by a person
	ReasonIdle        aggregate.Reason = "idle"
	ReasonRejected    aggregate.Reason = "rejected"
	ReasonDenied      aggregate.Reason = "denied" // on a route, and the agent has no turn for the reason
	ReasonExpired     aggregate.Reason = "expired"
	ReasonAged        aggregate.Reason = "approval_aged" // it was settled along a route, and not begun in time
	ReasonBase        aggregate.Reason = "files_moved"
	ReasonWithdrawn   aggregate.Reason = "withdrawn"          // by a person
	ReasonDeleted     aggregate.Reason = "message_deleted"    // the message that it came of
	ReasonUnknown     aggregate.Reason = "action_unknown"     // nobody knows what it did
	ReasonInterrupted aggregate.Reason = "action_interrupted" // it did nothing
	ReasonReadCutOff  aggregate.Reason = "read_interrupted"   // a tool that only reads was called, and did nothing
	ReasonNotBegun    aggregate.Reason = "sandbox_unavailable"
	ReasonRunFailed   aggregate.Reason = "run_failed" // several tries failed
	ReasonExit        aggregate.Reason = "exit_code"
	ReasonUnfinished  aggregate.Reason = "commands_unfinished" // of several commands, not all were run
	ReasonTimeout     aggregate.Reason = "timeout"
	ReasonChanged     aggregate.Reason = "payload_changed" // it is not what was approved
	ReasonUnread      aggregate.Reason = "payload_unread"

	// Error codes in structured logs.
	CodeAgentNotFound   = "AGENT_NOT_FOUND"
	CodeSessionNotFound = "SESSION_NOT_FOUND"
	CodeValidation      = "VALIDATION_ERROR"
	CodeNotSupported    = "ACTION_TYPE_NOT_SUPPORTED"
	CodeMissingCommand  = "MISSING_COMMAND"
)
