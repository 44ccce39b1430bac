package tenancy

import (
	"fmt"
	"time"
	"unicode/utf8"

	"ringi/shared/aggregate"
)

// Tenant is one Slack workspace.
type Tenant struct {
	aggregate.Meta
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	Slug          string    `json:"slug"`
	TeamID        string    `json:"team_id"`
	Admins        []string  `json:"admins"`             // Slack user ids
	AgentID       string    `json:"agent_id,omitempty"` // at Anthropic, for managed sessions; likewise the environment
	EnvironmentID string    `json:"environment_id,omitempty"`
	VaultID       string    `json:"vault_id,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

const (
	// MaxTenantName is how long a tenant's name may be, in characters. Slack publishes no limit for a workspace's.
	MaxTenantName = 255
	maxAdmins     = 50
)

// Validate returns ErrField for the first of what an administrator sets that is out of bounds.
func (t Tenant) Validate() error {
	if n := utf8.RuneCountInString(t.Name); n < 1 || n > MaxTenantName {
		return aggregate.ErrField{Field: "name", Limit: fmt.Sprintf("must be between 1 and %d", MaxTenantName)}
	}
	if len(t.Admins) > maxAdmins {
		return aggregate.ErrField{Field: "admins", Limit: fmt.Sprintf("must be between 0 and %d", maxAdmins)}
	}
	return checkIDs("admins", t.Admins, userForm(), "a Slack user id such as U012ABCDEF")
}

// ToolPrefix begins the keys of a tenant's tool permissions.
const ToolPrefix = "TOOL#"

// ToolKey is the key of one.
func ToolKey(name string) string { return ToolPrefix + name }

// ToolPermission says whether a tenant's tasks may call a tool. A tool of Ringi's own
// without a row is allowed, one of an MCP server is not.
type ToolPermission struct {
	aggregate.Meta
	ID          string         `json:"id"`
	TenantID    string         `json:"tenant_id"`
	ToolName    string         `json:"tool_name"`
	Allowed     bool           `json:"allowed"`
	Constraints aggregate.JSON `json:"constraints"`
	Pin         *Pin           `json:"pin,omitempty"` // of an MCP server's tool: what was allowed
	// ChangedAt is when the server was found to have changed the tool: it is off
	// until an administrator allows the new one.
	ChangedAt *time.Time `json:"changed_at,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}
