package sandbox

import (
	"context"
	"encoding/json"
)

// Panels are the parts of the settings dialog beside the toggles of Slack's faults; one that is nil is not shown.
type Panels struct {
	Settings    Settings
	Permissions Permissions
	Servers     Servers
	Tools       Tools
	Approvals   Approvals
}

// Approvals says whether a person may stamp what a task asks for now. Without it whoever sees a button may.
type Approvals interface {
	May(ctx context.Context, user, task string) (bool, error)
}

// Settings reads and writes the settings of the workspace's tenant. Load
// returns what encodes as a JSON object. Save gets an object with the fields
// that the panel edits and the id of the person who did it; it returns
// FieldErrors for values that it refuses.
type Settings interface {
	Load(ctx context.Context) (any, error)
	Save(ctx context.Context, by string, settings json.RawMessage) error
}

// Servers lists the tools of MCP servers, and lets tasks call them. Allow with an
// empty effect switches a tool off; else hash names the tool that the person saw.
type Servers interface {
	List(ctx context.Context) ([]ServerTool, error)
	Allow(ctx context.Context, by, tool, hash, effect string) error
}

// ServerTool is what a person sees of a server's tool.
type ServerTool struct {
	Tool        string `json:"tool"`
	Title       string `json:"title"`
	Description string `json:"description"`
	State       string `json:"state"`  // off, on, changed, gone, unfit
	Effect      string `json:"effect"` // read or write, as it was allowed; else empty
	Hash        string `json:"hash"`
	Problem     string `json:"problem,omitempty"` // why it, or the server, can't be used
}

// Permissions lists the rules for tools, and saves those for one; it returns
// FieldErrors for values that it refuses.
type Permissions interface {
	List(ctx context.Context) ([]Permission, error)
	Save(ctx context.Context, by string, p Permission) error
}

// Permission says whether tasks may call a tool, and within which constraints.
type Permission struct {
	Tool        string          `json:"tool"`
	Title       string          `json:"title"`
	TitleEN     string          `json:"title_en"`
	Allowed     bool            `json:"allowed"`
	Constraints json.RawMessage `json:"constraints"`
	Knows       []string        `json:"knows"` // the constraints that there are for it
}

// Tools lists the tools that can be made to fail, and switches that.
type Tools interface {
	List(ctx context.Context) ([]ToolFault, error)
	Set(ctx context.Context, tool string, failing bool) error
}

// ToolFault says whether a tool is made to fail.
type ToolFault struct {
	Tool    string `json:"tool"`
	Failing bool   `json:"failing"`
}
