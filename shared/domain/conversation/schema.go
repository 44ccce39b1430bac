package conversation

import (
	"embed"
	"fmt"

	"ringi/shared/domain/agent"
)

//go:embed schemas/*.json
var schemas embed.FS

// Schema returns the JSON Schema of a type's payload. It uses only what all model vendors support: no other
// properties are allowed, and there are no limits. ReadPayload checks the limits, and that one of several forms is given.
func Schema(t agent.ActionType) ([]byte, error) {
	text, err := schemas.ReadFile("schemas/" + string(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema of %.50s: %w", t, err)
	}
	return text, nil
}
