package sandbox

import "context"

// Panels are the parts of the page that need the whole system; one that is not set is not shown.
type Panels struct {
	// user id of the first who may change the settings in the console at /console; "" where there is no console
	Administrator string
	Tools         Tools
	Approvals     Approvals
}

// Approvals says whether a person may stamp what a task asks for now. Without it everybody who sees a button may.
type Approvals interface {
	May(ctx context.Context, user, task string) (bool, error)
}

// Tools lists the tools that can be made to fail, and switches that.
type Tools interface {
	List() []ToolFault
	Set(tool string, failing bool)
}

// ToolFault says whether a tool is made to fail.
type ToolFault struct {
	Tool    string `json:"tool"`
	Failing bool   `json:"failing"`
}
