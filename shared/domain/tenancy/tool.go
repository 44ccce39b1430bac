package tenancy

import (
	"encoding/json"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
)

// ToolPrefix begins the keys of a tenant's tool permissions.
const ToolPrefix = "TOOL#"

// ToolKey is the key of one.
func ToolKey(name string) string { return ToolPrefix + name }

// ToolPermission says whether a tenant's tasks may call a tool. Without a row a tool of Ringi's own is allowed, unless
// Standing says otherwise; one of an MCP server is not.
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
	// Contests lists the tool for contests: their members call it on their own, before anybody has approved anything.
	Contests  bool      `json:"contests,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Beside are the rows that say how a tool stands that has none.
	Beside []aggregate.Owned `json:"-"`
}

// Place is among what the tenant owns.
func (p ToolPermission) Place() (partition, key, typ string) {
	return "TENANT#" + p.TenantID, ToolKey(p.ToolName), "tool"
}

// Unsaved is what holds for a tool without a row, if Standing has none for it.
func Unsaved(tenant, tool string) ToolPermission {
	_, _, foreign := ServerTool(tool)
	return ToolPermission{TenantID: tenant, ToolName: tool, Allowed: !foreign, Constraints: "{}"}
}

// besideOf are the older tools of a provider, for a tool that a later release added beside them; nil for any other tool.
func besideOf(tool string) []string {
	f, _ := catalog.Of(tool)
	return f.Beside
}

// IsAdded reports whether a tool without a row stands as Standing says.
func IsAdded(tool string) bool { return besideOf(tool) != nil }

// BesideOf are a tenant's rows, absent ones too, that say how a tool without a row stands.
func BesideOf(tool string, rows []ToolPermission) (out []aggregate.Owned) {
	for _, name := range besideOf(tool) {
		o := aggregate.Owned{Key: ToolKey(name)}
		for _, p := range rows {
			if p.ToolName == name {
				o.Rev = p.Rev
			}
		}
		out = append(out, o)
	}
	return out
}

// Standing is a tenant's rows, and one that is off for each tool that came later, has no row, and starts off: where the
// tenant has rows for tools of its provider that were there before it, and all of those rows forbid their tool or bind
// it by constraints. Who narrowed all that there was is not given something new without bounds.
func Standing(rows []ToolPermission) []ToolPermission {
	out := slices.Clone(rows)
	files, _ := catalog.Files()
	for _, f := range files {
		var beside []ToolPermission
		for _, p := range rows {
			if p.ToolName == f.Name {
				beside = nil
				break
			}
			if slices.Contains(f.Beside, p.ToolName) {
				beside = append(beside, p)
			}
		}
		if len(beside) > 0 && !slices.ContainsFunc(beside, ToolPermission.unbounded) {
			out = append(out, ToolPermission{TenantID: beside[0].TenantID, ToolName: f.Name, Constraints: "{}"})
		}
	}
	return out
}

// unbounded reports whether the tool may be called with whatever it takes.
func (p ToolPermission) unbounded() bool {
	var constraints map[string]json.RawMessage
	return p.Allowed && (p.Constraints == "" || json.Unmarshal([]byte(p.Constraints), &constraints) == nil && len(constraints) == 0)
}

// ForContests reports whether members of contests may call the tool as it is.
func (p ToolPermission) ForContests() bool {
	return p.Contests && p.Allowed && p.ChangedAt == nil && p.Pin != nil && p.Pin.Access == aggregate.Read
}

// MaxContestTools is how many tools a tenant may list for contests: a member's model gets all of them.
const MaxContestTools = 20

// Save replaces the tool's permission of revision p.Rev; a new one has revision 0 and gets id. A constraint that is not
// among known, those of the tool's catalog entry, is refused with ErrField.
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

// NoteChanged switches a tool of an MCP server off: the server has another one now than p allows. Saving the permission
// ends that. It conflicts when that is noted already, or an administrator has saved the permission since p was read.
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

// details say which tool was allowed, and within which bounds. The hash stands for the server's description of the tool.
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
	return d
}
