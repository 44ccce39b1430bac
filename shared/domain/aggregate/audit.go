package aggregate

import (
	"encoding/json"
	"time"
)

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

// FoundBy returns the user id that a search of the log finds the entry by: the actor's or, of what Ringi itself did
// with somebody's request, the requester's. Without either it is the actor's type.
func (x AuditEntry) FoundBy() string {
	if x.ActorID != "" {
		return x.ActorID
	}
	var about struct {
		Requester string `json:"requester"`
	}
	if x.ActorType == ActorSystem && json.Unmarshal([]byte(x.Details), &about) == nil && about.Requester != "" {
		return about.Requester
	}
	return string(x.ActorType)
}

// Reason is why something ended or stopped, as a code; cards say it in the tenant's language.
type Reason string
