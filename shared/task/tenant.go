package task

import "time"

// Tenant is one Slack workspace.
type Tenant struct {
	Meta
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

// ToolPermission says whether a tenant's tasks may call a tool. A tool of Ringi's own
// without a row is allowed, one of an MCP server is not.
type ToolPermission struct {
	Meta
	ID          string `json:"id"`
	TenantID    string `json:"tenant_id"`
	ToolName    string `json:"tool_name"`
	Allowed     bool   `json:"allowed"`
	Constraints JSON   `json:"constraints"`
	Pin         *Pin   `json:"pin,omitempty"` // of an MCP server's tool: what was allowed
	// ChangedAt is when the server was found to have another tool of that name: it is
	// off until an administrator allows that.
	ChangedAt *time.Time `json:"changed_at,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}
