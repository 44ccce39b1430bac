package task

import "time"

// Action is what an audit entry records.
type Action string

const (
	TaskCreated             Action = "task.created"
	RequestAnswered         Action = "request.answered" // by a plain reply; there is no task
	RequestChosen           Action = "request.chosen"   // a reason to reject, or a request of its own
	TaskCancelledAction     Action = "task.cancelled"
	TaskExpired             Action = "task.expired"
	TaskRefusedAction       Action = "task.refused"
	PromptApproved          Action = "prompt.approved"
	PromptRejected          Action = "prompt.rejected"
	ProcessApproved         Action = "process.approved"
	ProcessRejected         Action = "process.rejected"
	StepApproved            Action = "step.approved"
	StepRejected            Action = "step.rejected"
	ExecutionStarted        Action = "execution.started"
	ExecutionCompletedEntry Action = "execution.completed"
	ExecutionFailedEntry    Action = "execution.failed"
	ExecutionCancelledEntry Action = "execution.cancelled"
	ExecutionRetried        Action = "execution.retried"
	GenerationFailed        Action = "generation.failed"
	GenerationRetried       Action = "generation.retried"
	SettingsUpdated         Action = "settings.updated"
	IntegrationConnected    Action = "integration.connected"
	IntegrationDisconnected Action = "integration.disconnected"
	IntegrationFailed       Action = "integration.failed"
	ToolPermissionUpdated   Action = "tool_permission.updated"
)

// AuditEntry is one line of the audit log. It is written with the change that it records, and never again.
type AuditEntry struct {
	ID           string    `json:"id"` // given by the store at commit
	TenantID     string    `json:"tenant_id"`
	Timestamp    time.Time `json:"timestamp"`
	ActorType    ActorType `json:"actor_type"`
	ActorID      string    `json:"actor_id"`
	Action       Action    `json:"action"`
	ResourceType string    `json:"resource_type"`
	ResourceID   string    `json:"resource_id"`
	TaskID       string    `json:"task_id,omitempty"`
	Details      JSON      `json:"details"`
}
