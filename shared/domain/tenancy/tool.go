package tenancy

import (
	"encoding/json"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
)

// ToolPrefix begins the sort keys of a tenant's tool permissions.
const ToolPrefix = "TOOL#"

// ToolKey returns the sort key of a tool's permission.
func ToolKey(name string) string { return ToolPrefix + name }

// ToolPermission says whether a tenant's tasks may call a tool. Without a row, Ringi's own tools are allowed,
// and tools of MCP servers are forbidden.
type ToolPermission struct {
	aggregate.Meta
	ID          string         `json:"id"`
	TenantID    string         `json:"tenant_id"`
	ToolName    string         `json:"tool_name"`
	Allowed     bool           `json:"allowed"`
	Constraints aggregate.JSON `json:"constraints"`
	Pin         *Pin           `json:"pin,omitempty"` // an MCP server's tool as it was allowed
	// ChangedAt is when Ringi noticed that the server had changed the tool. The tool is then off until an administrator
	// allows the new version.
	ChangedAt *time.Time `json:"changed_at,omitempty"`
	// Mark says where the arguments of a write have its amount, and where it goes; nil: nobody said. In calls of another
	// version of the tool than the mark's both are unknown.
	Mark *rules.Mark `json:"mark,omitempty"`
	// Contests makes the tool available in contests, whose members call it before anybody has approved anything.
	Contests  bool      `json:"contests,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Place is in the tenant's own partition.
func (p ToolPermission) Place() (partition, key, typ string) {
	return "TENANT#" + p.TenantID, ToolKey(p.ToolName), "tool"
}

// Unsaved returns the permission of a tool that has no row.
func Unsaved(tenant, tool string) ToolPermission {
	_, _, foreign := ServerTool(tool)
	return ToolPermission{TenantID: tenant, ToolName: tool, Allowed: !foreign, Constraints: "{}"}
}

// ForContests reports whether contest members may call the tool in its current version.
func (p ToolPermission) ForContests() bool {
	return p.Contests && p.Allowed && p.ChangedAt == nil && p.Pin != nil && p.Pin.Access == aggregate.Read
}

// MaxContestTools limits how many tools a tenant may list for contests, because a member's model is sent all of them.
const MaxContestTools = 20

// Save replaces the permission with revision p.Rev; a new one has revision 0 and gets the id. It returns ErrField for a
// constraint that is not among known, the constraints of the tool's catalog entry.
func (p ToolPermission) Save(id string, by aggregate.Actor, now time.Time, known []Constraint) (ToolPermission, Change, error) {
	if p.Constraints == "" {
		p.Constraints = "{}"
	}
	if err := p.check(known); err != nil {
		return p, Change{}, err
	}
	if p.ID == "" {
		p.ID = id
	}
	p.UpdatedAt = moment(now)
	if p.Rev == 0 {
		p.CreatedAt = p.UpdatedAt
	}
	p.Rev++
	return p, Change{
		Tenant: p.TenantID, Writes: []Write{{Row: p, Over: p.Rev - 1}},
		Audit: []aggregate.AuditEntry{entry(p.TenantID, AuditToolPermissionUpdated, "tool_permission", p.ID, p.details(), by, now)},
	}, nil
}

// NoteChanged switches off a tool of an MCP server that differs from the version p allows. An administrator can save
// the permission to allow it again. The write conflicts if the change was noted before, or the permission was saved
// since p was read.
func (p ToolPermission) NoteChanged(now time.Time) Change {
	details := map[string]any{"tool": p.ToolName, "allowed": false, "changed": true}
	return Change{
		Tenant: p.TenantID,
		Writes: []Write{{Row: p, Set: map[string]any{"changed_at": moment(now), "updated_at": moment(now)}, If: map[string]any{"rev": p.Rev, "changed_at": nil}}},
		Audit:  []aggregate.AuditEntry{entry(p.TenantID, AuditToolPermissionUpdated, "tool_permission", p.ID, details, aggregate.System(), now)},
	}
}

func (p ToolPermission) check(known []Constraint) error {
	if p.ToolName == "" || len(p.ToolName) > 100 {
		return aggregate.ErrField{Field: "tool_name", Limit: "must have 1 to 100 bytes"}
	}
	if _, err := p.Bounds(known); err != nil {
		return err
	}
	if err := p.checkMark(); err != nil {
		return err
	}
	_, _, foreign := ServerTool(p.ToolName)
	switch {
	case p.Contests && (!p.Allowed || p.Pin == nil || p.Pin.Access != aggregate.Read):
		return aggregate.ErrField{Field: "contests", Limit: "must be off, unless it is an MCP server's tool that is allowed and only reads"}
	case p.Pin == nil && foreign && p.Allowed, p.Pin != nil && !foreign:
		return aggregate.ErrField{Field: "pin", Limit: "must be there for an MCP server's tool that is allowed, and for no other"}
	case p.Pin == nil:
		return nil
	case p.Pin.Access != aggregate.Read && p.Pin.Access != aggregate.Write:
		return aggregate.ErrField{Field: "pin.effect", Limit: "must be read or write"}
	}
	for _, schema := range []aggregate.JSON{p.Pin.Input, p.Pin.Output} {
		if schema != "" && !json.Valid([]byte(schema)) || len(schema) > 64<<10 {
			return aggregate.ErrField{Field: "pin", Limit: "must have schemas that are JSON of at most 65536 bytes"}
		}
	}
	return nil
}

// details says which tool was allowed and with which constraints. The hash identifies the server's description.
func (p ToolPermission) details() map[string]any {
	d := map[string]any{"tool": p.ToolName, "allowed": p.Allowed}
	if p.Constraints != "{}" {
		d["constraints"] = p.Constraints
	}
	if p.Pin != nil && p.Allowed {
		d["effect"], d["url"], d["hash"] = p.Pin.Access, p.Pin.URL, p.Pin.Hash
	}
	if p.Contests {
		d["contests"] = true
	}
	if p.Mark != nil {
		d["mark"] = p.Mark
	}
	return d
}
