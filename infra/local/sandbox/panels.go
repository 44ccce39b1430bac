package sandbox

import (
	"context"
	"time"
)

// Panels are parts of the page that need the whole system. The page hides a part whose field is nil.
type Panels struct {
	// Administrator is the id of the first user who may change settings in the console; "" if there is no console.
	Administrator string
	Tools         Tools
	Approvals     Approvals
	Cards         Cards
}

// Approvals reports whether a person may stamp what a task asks for now, and tells about it. Without it, everybody who
// sees a button may.
type Approvals interface {
	May(ctx context.Context, user, task string) (bool, error)
	Asked(ctx context.Context, task string) (Asked, error)
}

// Asked has the facts by which an approver picks what to read first. Its zero value knows none.
type Asked struct {
	Writes map[string]string `json:"writes,omitempty"` // by language: what the steps write to; empty if there are none yet
	Until  *time.Time        `json:"until,omitempty"`
}

type Tools interface {
	List() []ToolFault
	Set(tool string, failing bool)
}

type ToolFault struct {
	Tool    string `json:"tool"`
	Failing bool   `json:"failing"`
}
