package auditlog

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

func english() Words {
	ends := map[string]string{"completed": "completed", "failed": "failed", "unknown": "outcome unknown", "running": "under way"}
	return Words{
		Columns: [columns]string{"Time (Japan)", "Who", "What", "Action", "Concerns", "Its ID", "Request ID", "Details", "Time (UTC)", "Entry ID"},
		Ringi:   "Ringi",
		actions: map[aggregate.Action]string{
			task.AuditTaskCreated:                "Took a request",
			task.AuditRequestAnswered:            "Answered without making a request",
			task.AuditRequestChosen:              "Chose what a message is",
			task.AuditTaskCancelled:              "Cancelled the request",
			task.AuditTaskExpired:                "Ended: nobody decided in time",
			task.AuditTaskRefused:                "Refused the request",
			task.AuditPromptApproved:             "Approved the policy",
			task.AuditPromptRejected:             "Rejected the policy",
			task.AuditPromptPicked:               "Put another draft in the policy's place",
			task.AuditProcessApproved:            "Approved the steps",
			task.AuditProcessRejected:            "Rejected the steps",
			task.AuditStepApproved:               "Checked and approved a step",
			task.AuditStepRejected:               "Checked and rejected a step",
			task.AuditExecutionStarted:           "Began to execute",
			task.AuditExecutionCompleted:         "Finished executing",
			task.AuditExecutionFailed:            "Failed to execute",
			task.AuditExecutionCancelled:         "Cancelled the execution",
			task.AuditExecutionRetried:           "Tried the execution again",
			task.AuditExecutionLate:              "Learned late how a step had ended",
			task.AuditGenerationFailed:           "Failed to write a draft",
			task.AuditGenerationRetried:          "Tried to write a draft again",
			tenancy.AuditSettingsUpdated:         "Changed settings",
			tenancy.AuditIntegrationConnected:    "Connected an integration",
			tenancy.AuditIntegrationDisconnected: "Disconnected an integration",
			tenancy.AuditIntegrationFailed:       "Lost an integration",
			tenancy.AuditToolPermissionUpdated:   "Changed a tool's permission",
			conversation.AuditOpened:             "Began a conversation with an agent",
			conversation.AuditClosed:             "Closed a conversation",
			conversation.AuditReopened:           "Began a conversation again",
			conversation.AuditFailing:            "An agent could not answer any more",
			"session.handed_over":                "Made a request from a conversation",
			conversation.AuditProposed:           "Proposed an agent’s action",
			conversation.AuditApproved:           "Approved an agent’s action",
			conversation.AuditRejected:           "Rejected an agent’s action",
			conversation.AuditExpired:            "An agent’s action expired",
			conversation.AuditCancelled:          "Withdrew an agent’s action",
			conversation.AuditStarted:            "Began an agent’s action",
			conversation.AuditCompleted:          "Completed an agent’s action",
			conversation.AuditFailed:             "An agent’s action failed",
			conversation.AuditLate:               "Learned late what became of an agent’s action",
			contest.AuditStarted:                 "Began a contest",
			contest.AuditEnded:                   "Ended a contest",
			contest.AuditCancelled:               "Cancelled a contest",
			contest.AuditAbandoned:               "Gave a contest up",
			ActionExported:                       "Exported the audit log",
		},
		resources: map[string]string{
			"task": "Request", "prompt": "Policy", "process": "Steps", "execution": "Execution", "tenant": "Workspace", "settings": "Settings",
			"integration": "Integration", "tool_permission": "Tool permission", "export": "Export", "session": "Conversation", "action": "Agent’s action", "contest": "Contest",
		},
		locale: "en", held: "Put the next draft off, since nobody may approve it",
		values: map[string]map[string]string{
			"surface": {"slack": "Slack", "console": "the console"}, "form": {"csv": "CSV", "jsonl": "JSON Lines"},
			"status": ends, "was": ends,
			"requested_by": {"agent": "the agent", "user": "a person"}, "approved_by": {"user": "a person", "auto": "a rule, automatically"},
			"result": {"completed": "all teams finished", "partial_failure": "some teams failed", "failed": "all teams failed"},
			"kind":   {"unsupported": "nothing that can be done here", "help": "how to ask"},
			"as":     {"reason": "a reason for rejecting", "request": "a new request"},
			"layer":  {"L1": "Reading the request", "L2": "Policy", "L3": "Steps", "L4": "Execution"},
			"why":    {"contest_cancelled": "it was cancelled", "contest_run_failed": "its work stopped several times"},
		},
		fields: map[string]string{
			"surface": "where", "version": "Version", "reason": "Reason", "title": "Title", "requester": "Asked for by", "asked_at": "Asked at", "hash": "Fingerprint", "arguments_hash": "Fingerprint of the arguments",
			"step": "Step", "steps": "Steps", "attempt": "Attempt", "layer": "Stage", "hours": "Time limit (hours)", "team": "Team", "picked": "Team picked instead", "score": "Score", "fields": "Changed fields",
			"changes": "Changes", "writes": "Fingerprints of writes' arguments", "ends": "How writes ended", "reused": "Writes of an earlier attempt", "handed_over": "Request made by an agent", "picked_by": "Picked by", "running": "under way", "base_version": "Files it began with", "from": "From", "to": "To", "was": "Before", "is": "After", "before": "Before", "after": "After", "tools": "Tool calls", "tool": "Tool", "provider": "Provider", "form": "Format", "rows": "Entries", "bytes": "Bytes",
			"filter": "Filter", "action": "Action", "actor": "Who", "resource": "Concerns", "kind": "Kind", "as": "Taken as", "beside": "Request of the same thread", "gate": "What was waiting",
			"session_id": "Session", "agent": "Agent", "type": "Kind of action", "rule": "Rule", "number": "Number", "requested_by": "Proposed by", "approved_by": "Approved by", "by": "Decided by", "outcome": "Outcome", "error": "Why it failed", "detail": "In detail", "status": "Status", "task": "Request", "asked_by": "Asked for by", "limit": "Limit", "cost": "Cost", "completed": "completed", "failed": "failed", "unknown": "outcome unknown", "allowed": "Allowed", "contests": "Contests may use it", "constraints": "Constraints", "pin": "Fingerprint of the tool as it was read",
			"teams": "Teams", "max_rounds": "Most rounds", "budget_usd": "Budget (USD)", "for": "For the request", "result": "Result", "why": "Why", "failed_teams": "Teams that failed", "best_team": "Best team", "best_score": "Best score",
			"approvers": "Who may approve", "max_open_tasks": "Open requests", "max_tasks_per_hour": "Requests in an hour", "draft_contest": "Contests of drafts",
			"ai_sessions": "Keep closed conversations", "ai_sessions.cache": "Keep closed conversations", "admins": "Administrators",
		},
	}
}
