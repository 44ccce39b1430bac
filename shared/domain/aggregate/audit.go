package aggregate

import "time"

// Action is what an audit entry records.
type Action string

// AuditEntry is an entry of the audit log. It is written in the commit that it records, and never rewritten.
type AuditEntry struct {
	ID           string    `json:"id"` // given by the store at commit
	TenantID     string    `json:"tenant_id"`
	Timestamp    time.Time `json:"timestamp"`
	ActorType    ActorType `json:"actor_type"`
	ActorID      string    `json:"actor_id"`
	Action       Action    `json:"action"`
	ResourceType string    `json:"resource_type"`
	ResourceID   string    `json:"resource_id"`
	AggregateID  string    `json:"task_id,omitempty"` // id of an aggregate of any kind, or empty
	Details      JSON      `json:"details"`
}
