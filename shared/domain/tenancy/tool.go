package tenancy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
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

// Standing returns a tool's permission among a tenant's rows, or that of a tool that has none.
func Standing(rows []ToolPermission, tenant, tool string) ToolPermission {
	if i := slices.IndexFunc(rows, func(p ToolPermission) bool { return p.ToolName == tool }); i >= 0 {
		return rows[i]
	}
	return Unsaved(tenant, tool)
}

// ForContests reports whether contest members may call the tool in its current version.
func (p ToolPermission) ForContests() bool {
	return p.Contests && p.Allowed && p.ChangedAt == nil && p.Pin != nil && p.Pin.Access == aggregate.Read
}

// MaxContestTools limits how many tools a tenant may list for contests, because a member's model is sent all of them.
const MaxContestTools = 20

// Save replaces the permission with revision p.Rev; a new one has revision 0 and gets the id. It returns Problem for a
// constraint that is not among known, the constraints of the tool's catalog entry.
func (p ToolPermission) Save(id string, by aggregate.Actor, now time.Time, known []Constraint) (ToolPermission,
	Change, error) {
	p.Constraints = cmp.Or(p.Constraints, "{}")
	if err := p.check(known); err != nil {
		return p, Change{}, err
	}
	p.ID = cmp.Or(p.ID, id)
	p.UpdatedAt = moment(now)
	if p.Rev == 0 {
		p.CreatedAt = p.UpdatedAt
	}
	p.Rev++
	return p, Change{
		Tenant: p.TenantID, Writes: []Write{{Row: p, Over: p.Rev - 1}},
		Audit: []aggregate.AuditEntry{entry(p.TenantID, AuditToolPermissionUpdated, "tool_permission", p.ID,
			p.details(), by, now)},
	}, nil
}

// NoteChanged switches off a tool of an MCP server that differs from the version p allows. An administrator can save
// the permission to allow it again. The write conflicts if the change was noted before, or the permission was saved
// since p was read.
func (p ToolPermission) NoteChanged(now time.Time) Change {
	details := map[string]any{"tool": p.ToolName, "allowed": false, "changed": true}
	return Change{
		Tenant: p.TenantID,
		Writes: []Write{{Row: p, Set: map[string]any{"changed_at": moment(now), "updated_at": moment(now)},
			If: map[string]any{"rev": p.Rev, "changed_at": nil}}},
		Audit: []aggregate.AuditEntry{entry(p.TenantID, AuditToolPermissionUpdated, "tool_permission", p.ID, details,
			aggregate.System(), now)},
	}
}

func (p ToolPermission) check(known []Constraint) error {
	if p.ToolName == "" || len(p.ToolName) > 100 {
		return aggregate.Problem{Field: "tool_name", Code: "must have 1 to 100 bytes"}
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
		return aggregate.Problem{Field: "contests",
			Code: "must be off, unless it is an MCP server's tool that is allowed and only reads"}
	case p.Pin == nil && foreign && p.Allowed, p.Pin != nil && !foreign:
		return aggregate.Problem{Field: "pin",
			Code: "must be there for an MCP server's tool that is allowed, and for no other"}
	case p.Pin == nil:
		return nil
	case p.Pin.Access != aggregate.Read && p.Pin.Access != aggregate.Write:
		return aggregate.Problem{Field: "pin.effect", Code: "must be read or write"}
	}
	for _, schema := range []aggregate.JSON{p.Pin.Input, p.Pin.Output} {
		if schema != "" && !json.Valid([]byte(schema)) || len(schema) > 64<<10 {
			return aggregate.Problem{Field: "pin", Code: "must have schemas that are JSON of at most 65536 bytes"}
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

// Constraint names a limit that an administrator puts on a tool's calls.
type Constraint string

const (
	OnlySpreadsheets Constraint = "spreadsheet_ids" // Google's ids, as in the addresses of spreadsheets
	OnlyRecipients   Constraint = "recipients"      // Slack user ids and e-mail addresses
	OnlyDepartments  Constraint = "departments"     // names and codes
	MaxRows          Constraint = "max_rows"        // rows of the list that the tool is given
)

// Constraints limit a tool's calls. An empty field sets no limit.
type Constraints struct {
	SpreadsheetIDs []string `json:"spreadsheet_ids,omitempty"`
	Recipients     []string `json:"recipients,omitempty"`
	Departments    []string `json:"departments,omitempty"`
	MaxRows        int      `json:"max_rows,omitempty"`
}

// None reports whether no constraint is set.
func (c Constraints) None() bool {
	return len(c.SpreadsheetIDs)+len(c.Recipients)+len(c.Departments)+c.MaxRows == 0
}

// Listed returns the values that a constraint allows; none if it is not set.
func (c Constraints) Listed(name Constraint) []string {
	if l, lists := lists[name]; lists {
		return *l.of(&c)
	}
	return nil
}

const (
	maxListed = 200       // values of one list
	maxRows   = 1_000_000 // highest value of MaxRows
)

// lists are the constraints that list values: where they are kept, and which fit.
var lists = map[Constraint]struct {
	of    func(c *Constraints) *[]string
	fits  func(string) bool
	limit string
}{
	OnlySpreadsheets: {func(c *Constraints) *[]string { return &c.SpreadsheetIDs },
		like(&language.Regexp{Text: `^[A-Za-z0-9_-]{1,200}$`}),
		"must be the id in the spreadsheet's address: 1 to 200 of A-Z, a-z, 0-9, _ and -"},
	OnlyRecipients: {func(c *Constraints) *[]string { return &c.Recipients },
		like(&language.Regexp{Text: `^([UW][A-Z0-9]{2,40}|[^@\s<>]{1,100}@[^@\s<>]{1,200})$`}),
		"must be a Slack user id or an e-mail address"},
	OnlyDepartments: {func(c *Constraints) *[]string { return &c.Departments }, func(s string) bool {
		return s != "" && s == strings.TrimSpace(s) && utf8.RuneCountInString(s) <= 100
	}, "must have 1 to 100 characters and no space around them"},
}

// Bounds parses the permission's constraints. known are the constraints that the catalog has for the tool; an MCP
// server's tool has none. Bounds returns a Problem for a constraint that is unknown, of the wrong type or out of range.
// The tool must then not be called.
func (p ToolPermission) Bounds(known []Constraint) (Constraints, error) {
	var c Constraints
	if p.Constraints == "" {
		return c, nil
	}
	var fields map[Constraint]json.RawMessage
	if err := json.Unmarshal([]byte(p.Constraints), &fields); err != nil || fields == nil || len(p.Constraints) > 64<<10 {
		return c, aggregate.Problem{Field: "constraints", Code: "must be a JSON object of at most 65536 bytes"}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := fmt.Sprintf("constraints.%.50s", name)
		if !slices.Contains(known, name) {
			return Constraints{}, aggregate.Problem{Field: field,
				Code: fmt.Sprintf("is no constraint of %s; it knows %s", p.ToolName,
					cmp.Or(strings.Trim(fmt.Sprint(known), "[]"), "none"))}
		}
		if err := c.read(name, field, fields[name]); err != nil {
			return Constraints{}, err
		}
	}
	return c, nil
}

func (c *Constraints) read(name Constraint, field string, value json.RawMessage) error {
	if name == MaxRows {
		if json.Unmarshal(value, &c.MaxRows) != nil || c.MaxRows < 1 || c.MaxRows > maxRows {
			return aggregate.Problem{Field: field, Code: fmt.Sprintf("must be a whole number from 1 to %d", maxRows)}
		}
		return nil
	}
	form := lists[name]
	list := form.of(c)
	if json.Unmarshal(value, list) != nil || len(*list) == 0 || len(*list) > maxListed {
		return aggregate.Problem{Field: field,
			Code: fmt.Sprintf("must be a list of 1 to %d texts; to allow nothing, forbid the tool", maxListed)}
	}
	for i, s := range *list {
		if !form.fits(s) {
			return aggregate.Problem{Field: fmt.Sprintf("%s[%d]", field, i), Code: form.limit}
		}
	}
	return nil
}

// Tool returns the tool as rules name it. A server's tool that was never allowed keeps the server's name in its own, so
// that it is none of Ringi's.
func (p ToolPermission) Tool() rules.Tool {
	if _, name, foreign := ServerTool(p.ToolName); foreign && p.Pin != nil {
		return rules.Tool{Address: p.Pin.URL, Name: name}
	}
	return rules.Tool{Name: p.ToolName}
}

// Call returns what rules may know of a call of the tool. version, access and the mark are those that the step or the
// proposal carries; arguments are planned or resolved. A value that an earlier result will replace is unknown. If the
// mark has changed since, so that people are shown another amount than rules would read now, the call's amount
// and labels are unknown.
func (p ToolPermission) Call(version string, access aggregate.Access, arguments aggregate.JSON,
	carried *rules.Mark) rules.Call {
	mark := p.Marked(version)
	if p.ToolName == DecideTool { // its mark is made from the form
		mark = carried
	}
	c := rules.Call{Tool: p.Tool(), Access: access}
	if c.Writes() && !mark.Same(MarkOf(p.ToolName, version, carried)) {
		c.Amount, c.Labels = rules.Unknown(rules.WhyMark), mark.LabelsOf("", arguments)
		return c
	}
	c.Amount = mark.AmountOf(version, access, arguments)
	if c.Writes() {
		c.Labels = mark.LabelsOf(version, arguments)
	}
	return c
}

// Marked returns the mark by which a call of the tool counts now.
func (p ToolPermission) Marked(version string) *rules.Mark {
	return MarkOf(p.ToolName, version, p.Mark)
}

// MarkOf returns the mark by which a call counts that carries this one. Ringi's own tools move no money, in this
// version, unless an administrator says otherwise.
func MarkOf(tool, version string, carried *rules.Mark) *rules.Mark {
	if _, _, foreign := ServerTool(tool); !foreign && carried == nil {
		return &rules.Mark{Version: version, How: rules.HowNothing}
	}
	return carried
}

// checkMark refuses a mark that can't be.
func (p ToolPermission) checkMark() error {
	if p.Mark == nil {
		return nil
	}
	if p.Pin != nil && p.Pin.Access == aggregate.Read {
		return aggregate.Problem{Field: "mark", Code: "must be absent of a tool that only reads"}
	}
	var all aggregate.Problems
	all.Under("mark", p.Mark.Problems())
	return all.Err()
}
