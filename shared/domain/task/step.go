package task

import (
	"encoding/json"
	"fmt"

	"ringi/shared/domain/aggregate"
)

// Step is one step of a process.
type Step struct {
	StepID             string         `json:"stepId"`
	Order              int            `json:"order"`
	Title              string         `json:"title,omitempty"`
	Tool               string         `json:"tool"`
	ToolInput          aggregate.JSON `json:"toolInput"`
	Description        string         `json:"description"`
	ExpectedOutput     string         `json:"expectedOutput"`
	RequiresHumanCheck bool           `json:"requiresHumanCheck,omitempty"`
	// LeftOut holds, by name, an MCP server's defaults for arguments that ToolInput lacks.
	LeftOut aggregate.JSON `json:"leftOut,omitempty"`
	// Access and ToolVersion are the catalog's values at planning time. A tool that has changed since is not called.
	Access      aggregate.Access `json:"effect"`
	ToolVersion string           `json:"toolVersion"`
}

// MaxSteps limits the steps of a process.
const MaxSteps = 60

// checkSteps returns ErrField unless the steps are numbered from 1, have unique ids, and have valid JSON as input.
func checkSteps(steps []Step) error {
	if n := len(steps); n == 0 || n > MaxSteps {
		return aggregate.ErrField{Field: "steps", Limit: fmt.Sprintf("must be 1 to %d, not %d", MaxSteps, n)}
	}
	seen := map[string]bool{}
	for i, s := range steps {
		field := func(name string) string { return fmt.Sprintf("steps[%d].%s", i, name) }
		switch {
		case s.Order != i+1:
			return aggregate.ErrField{Field: field("order"), Limit: fmt.Sprintf("must be %d, not %d", i+1, s.Order)}
		case s.StepID == "" || seen[s.StepID]:
			return aggregate.ErrField{Field: field("stepId"), Limit: "must be there and used once"}
		case s.ToolInput != "" && !json.Valid([]byte(s.ToolInput)):
			return aggregate.ErrField{Field: field("toolInput"), Limit: "must be JSON"}
		case s.Access != aggregate.Read && s.Access != aggregate.Write:
			return aggregate.ErrField{Field: field("effect"), Limit: "must be read or write"}
		}
		seen[s.StepID] = true
	}
	return nil
}

// Name returns the step's title, or its description if it has no title.
func (s Step) Name() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Description
}

// Hash returns the SHA-256 of everything that a person stamps: tools, raw input, order, flags, and the tools' effect
// and version.
func Hash(steps []Step) string {
	b, err := json.Marshal(steps)
	if err != nil { // invalid JSON in a toolInput must not equal an approved hash
		return "invalid: " + err.Error()
	}
	return aggregate.HashOf(string(b))
}
