package managed

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// Tool is one that a session may ask to have called.
type Tool struct {
	Name        string // of letters, digits, _ and -; see Name
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// maxName is the vendor's limit, in characters.
const maxName = 128

// Name is how a session calls a tool: the vendor takes letters, digits, _ and -.
func Name(tool string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, tool)
	return name[:min(len(name), maxName)]
}

func (t Tool) custom() (sdk.BetaManagedAgentsCustomToolParams, error) {
	p := sdk.BetaManagedAgentsCustomToolParams{Name: t.Name, Description: t.Description,
		Type: sdk.BetaManagedAgentsCustomToolParamsTypeCustom}
	var input struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if err := json.Unmarshal(t.Input, &input); err != nil {
		return p, fmt.Errorf("read the input schema of %s: %w", t.Name, err)
	}
	p.InputSchema.Properties, p.InputSchema.Required = input.Properties, input.Required
	var all map[string]any
	if err := json.Unmarshal(t.Input, &all); err != nil {
		return p, fmt.Errorf("read the input schema of %s: %w", t.Name, err)
	}
	for _, named := range []string{"type", "properties", "required"} {
		delete(all, named)
	}
	p.InputSchema.ExtraFields = all
	return p, nil
}
