package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// Rows reads and saves the decisions of a tenant's administrators.
type Rows interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	SaveToolPermission(ctx context.Context, x tenancy.ToolPermission, by aggregate.Actor, now time.Time,
		known ...tenancy.Constraint) (tenancy.ToolPermission, error)
}

// Credentials returns the secret of a server at an address. It returns aggregate.ErrNotFound if there never was one,
// and ErrNotConnected if the secret was removed or is for another address.
type Credentials interface {
	ServerToken(ctx context.Context, tenant string, s tenancy.MCPServer) (string, error)
}

// Admin lists servers' tools for an administrator, and allows or forbids them.
type Admin struct {
	Rows        Rows
	Credentials Credentials
	Client      Client
	Now         func() time.Time
}

// State says whether tasks may call a tool or why not.
type State string

const (
	Off     State = "off"     // nobody allowed it, or somebody forbade it
	On      State = "on"      // allowed, and still what was allowed
	Changed State = "changed" // allowed, but the server has changed it since: it is off
	Gone    State = "gone"    // allowed, but the server no longer has it
	Unfit   State = "unfit"   // it can't be allowed
)

// Listed is a tool of a server as an administrator sees it.
type Listed struct {
	Name    string // <server>.<tool>
	URL     string // the server's address
	Tool    Tool
	Hash    string // required by Allow; empty if the server no longer has the tool
	State   State
	Access  aggregate.Access // as allowed; empty if the tool was never allowed
	Problem string           // code of why the tool can't be allowed
	// Contests says that it is listed for contests.
	Contests bool
}

// Tools lists a server's tools, including allowed tools that the server no longer has. It returns Problem for a server
// that the settings don't name, and an *explain.CallError if the server can't be asked.
func (d Admin) Tools(ctx context.Context, tenant, server string) ([]Listed, error) {
	s, err := d.server(ctx, tenant, server)
	if err != nil {
		return nil, err
	}
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list the tools of %s: %w", server, err)
	}
	now, err := d.Client.List(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []Listed
	loop := slices.ContainsFunc(now, func(t Tool) bool { return t.Name == doorTool })
	for i, t := range now {
		x := Listed{Name: s.Name + "." + t.Name, URL: s.URL, Tool: t, Hash: t.Hash(), State: Off, Problem: t.Problem()}
		if named := func(u Tool) bool { return u.Name == t.Name }; slices.ContainsFunc(now[:i], named) ||
			slices.ContainsFunc(now[i+1:], named) {
			x.Problem = "tool_twice"
		}
		if loop {
			x.Problem = "tool_door" // there people would be asked twice
		}
		row, allowed := permission(rows, x.Name)
		switch {
		case x.Problem != "":
			x.State = Unfit
		case allowed && row.ChangedAt == nil && row.Pin.Hash == x.Hash && row.Pin.URL == s.URL:
			x.State, x.Access, x.Contests = On, row.Pin.Access, row.Contests
		case allowed:
			x.State, x.Access = Changed, row.Pin.Access
		}
		all = append(all, x)
	}
	for _, row := range rows {
		mine := strings.HasPrefix(row.ToolName, s.Name+".") && row.Allowed && row.Pin != nil
		if mine && !slices.ContainsFunc(all, func(x Listed) bool { return x.Name == row.ToolName }) {
			_, name, _ := tenancy.ServerTool(row.ToolName)
			all = append(all, Listed{Name: row.ToolName, URL: s.URL, Tool: Tool{Name: name, Title: row.Pin.Title}, State: Gone,
				Access: row.Pin.Access})
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// doorTool is a tool that each door of Ringi has, for outside agents.
const doorTool = "ringi_wait"

// server returns a server of the settings with its secret, if it has one.
func (d Admin) server(ctx context.Context, tenant, name string) (Server, error) {
	settings, err := d.Rows.Settings(ctx, tenant)
	if err != nil {
		return Server{}, fmt.Errorf("find the server %s: %w", name, err)
	}
	i := slices.IndexFunc(settings.MCPServers, func(s tenancy.MCPServer) bool { return s.Name == name })
	if i < 0 {
		return Server{}, aggregate.Problem{Field: "server", Code: "tool_gone"}
	}
	s := Server{MCPServer: settings.MCPServers[i]}
	s.Secret, err = d.Credentials.ServerToken(ctx, tenant, s.MCPServer)
	if ended := (tenancy.ErrNotConnected{}); errors.As(err, &ended) && ended.Reason == tenancy.CredentialElsewhere {
		return Server{}, explain.Fail(explain.ProblemElsewhere, err, s.provider())
	}
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return Server{}, fmt.Errorf("read the secret of %s: %w", name, err)
	}
	return s, nil
}

func permission(rows []tenancy.ToolPermission, name string) (p tenancy.ToolPermission, allowed bool) {
	i := slices.IndexFunc(rows, func(p tenancy.ToolPermission) bool { return p.ToolName == name })
	if i < 0 {
		return p, false
	}
	return rows[i], rows[i].Allowed && rows[i].Pin != nil
}

// MaxAllowed bounds all descriptions and schemas of a tenant's allowed tools, in bytes: the planning model is sent them
// all.
const MaxAllowed = 128 << 10

// ErrChanged says that the tool differs from the one that the administrator saw.
var ErrChanged = errors.New("the tool is not the one that was shown: look at it again")

// Allow lets a tenant's tasks call a tool exactly as it was shown. hash is Listed.Hash. Allow returns ErrChanged
// if the server's tool has changed, and Problem if the tool can't be allowed.
func (d Admin) Allow(ctx context.Context, tenant, name, hash string, access aggregate.Access,
	by aggregate.Actor) error {
	server, _, foreign := tenancy.ServerTool(name)
	if !foreign {
		return aggregate.Problem{Field: "tool_name", Code: "tool_gone"}
	}
	all, err := d.Tools(ctx, tenant, server)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(x Listed) bool { return x.Name == name && x.Hash != "" })
	switch {
	case i < 0:
		return aggregate.Problem{Field: "tool_name", Code: "tool_gone"}
	case all[i].Problem != "":
		return aggregate.Problem{Field: "tool_name", Code: all[i].Problem}
	case all[i].Hash != hash:
		return ErrChanged
	}
	pin := all[i].Tool.Pin(all[i].URL, access)
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("allow %s: %w", name, err)
	}
	total := size(pin)
	for _, row := range rows {
		if row.Allowed && row.Pin != nil && row.ToolName != name {
			total += size(*row.Pin)
		}
	}
	if total > MaxAllowed {
		return aggregate.Problem{Field: "tool_name", Code: "tools_total", Args: []any{MaxAllowed >> 10}}
	}
	return d.save(ctx, tenant, rows, name, &pin, by)
}

// ForContests adds an allowed tool, exactly as it was shown, to the list for contests, or removes it. It returns
// ErrChanged if another tool, or none, is allowed now, and Problem if the tool can't be listed.
func (d Admin) ForContests(ctx context.Context, tenant, name, hash string, on bool, by aggregate.Actor) error {
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list %s for contests: %w", name, err)
	}
	row, allowed := permission(rows, name)
	listed := 0
	for _, p := range rows {
		if p.Contests && p.ToolName != name {
			listed++
		}
	}
	switch {
	case !on && (!allowed || !row.Contests):
		return nil
	case !on:
	case !allowed || row.ChangedAt != nil || row.Pin.Hash != hash:
		return ErrChanged
	case row.Pin.Access != aggregate.Read:
		return aggregate.Problem{Field: "tool_name", Code: "contests_read"}
	case listed >= tenancy.MaxContestTools:
		return aggregate.Problem{Field: "tool_name", Code: "contests_most", Args: []any{tenancy.MaxContestTools}}
	}
	row.Contests = on
	_, err = d.Rows.SaveToolPermission(ctx, row, by, d.Now())
	return err
}

// Forbid switches a tool off. It changes nothing if the tool is off.
func (d Admin) Forbid(ctx context.Context, tenant, name string, by aggregate.Actor) error {
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("forbid %s: %w", name, err)
	}
	if _, allowed := permission(rows, name); !allowed {
		return nil
	}
	return d.save(ctx, tenant, rows, name, nil, by)
}

func (d Admin) save(ctx context.Context, tenant string, rows []tenancy.ToolPermission, name string, pin *tenancy.Pin,
	by aggregate.Actor) error {
	x := tenancy.Standing(rows, tenant, name)
	// a changed tool has to be listed for contests again
	x.Allowed, x.Pin, x.ChangedAt, x.Contests = pin != nil, pin, nil, false
	if pin != nil && pin.Access == aggregate.Read {
		x.Mark = nil
	}
	_, err := d.Rows.SaveToolPermission(ctx, x, by, d.Now())
	return err
}

func size(p tenancy.Pin) int { return len(p.Description) + len(p.Input) + len(p.Output) }

// Limits of a tool that can be allowed.
const (
	MaxTitle       = 100            // characters
	MaxDescription = 2000           // characters
	MaxSchema      = tool.MaxSchema // bytes, each
)

// Tool is a tool as its server describes it.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       string // JSON with sorted members
	Output      string // same as Input; empty if the tool declares no output schema
	// Unreadable is the code of why the tool can't be read, so that it can't be used. It has what can.
	Unreadable string `json:",omitempty"`
	// ReadOnly is the server's readOnlyHint. A server may claim anything, so the person who allows the tool decides
	// whether it writes.
	ReadOnly bool `json:"-"` // no part of the hash
}

// read reads a tool of a list. What it doesn't read may have any form, and a hint that is none says nothing.
func read(raw json.RawMessage) (t Tool) {
	var has, hints map[string]json.RawMessage
	if json.Unmarshal(raw, &has) != nil || has == nil {
		return Tool{Unreadable: "tool_unreadable"}
	}
	for _, member := range []struct {
		name string
		text *string
	}{{"name", &t.Name}, {"title", &t.Title}, {"description", &t.Description}} {
		if has[member.name] != nil && json.Unmarshal(has[member.name], member.text) != nil {
			t.Unreadable = "tool_unreadable"
		}
	}
	if json.Unmarshal(has["annotations"], &hints) == nil {
		t.ReadOnly = string(hints["readOnlyHint"]) == "true"
	}
	t.Input, t.Output = canonical(has["inputSchema"]), canonical(has["outputSchema"])
	return t
}

// Pin returns the tool in its current form, as allowed at an address for reading or writing.
func (t Tool) Pin(url string, access aggregate.Access) tenancy.Pin {
	return tenancy.Pin{
		URL: url, Title: cmp.Or(t.Title, t.Name), Description: t.Description, Input: aggregate.JSON(t.Input),
		Output: aggregate.JSON(t.Output), Access: access, Hash: t.Hash(),
	}
}

func canonical(schema json.RawMessage) string {
	if schema == nil || string(schema) == "null" {
		return ""
	}
	return tool.Canonical(schema)
}

// Hash changes with every part of the server's description of the tool, whatever the order of what has none.
func (t Tool) Hash() string {
	t.Input, t.Output = tool.CanonicalSchema(t.Input), tool.CanonicalSchema(t.Output)
	b, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("encode a tool: %v", err)) // of texts
	}
	return aggregate.HashOf(string(b))
}

// toolForm is the form of names that the protocol recommends (server/tools, Tool Names), and slashes that group tools.
var toolForm = language.Regexp{Text: `^[A-Za-z0-9_./-]{1,128}$`}

// Problem returns the code of why a tool can't be allowed, or an empty text if it can.
func (t Tool) Problem() string {
	switch {
	case t.Unreadable != "":
		return t.Unreadable
	case !toolForm.Get().MatchString(t.Name):
		return "tool_name"
	case utf8.RuneCountInString(t.Title) > MaxTitle:
		return "tool_title"
	case utf8.RuneCountInString(t.Description) > MaxDescription:
		return "tool_description"
	case len(t.Input) > MaxSchema || len(t.Output) > MaxSchema:
		return "tool_schema"
	}
	var shape struct{ Type string }
	if json.Unmarshal([]byte(t.Input), &shape) != nil || shape.Type != "object" {
		return "tool_no_object"
	}
	if _, err := tool.CompileSchema("input", t.Input); err != nil {
		return "tool_arguments"
	}
	if t.Output != "" {
		if _, err := tool.CompileSchema("output", t.Output); err != nil {
			return "tool_result"
		}
	}
	return ""
}
