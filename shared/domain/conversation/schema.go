package conversation

import (
	"embed"
	"fmt"

	"ringi/shared/domain/agent"
)

//go:embed schemas/*.json
var schemas embed.FS

// Schema is the JSON Schema of a type's payload, in the subset that all vendors of models take: every property
// required, none beside them, no bounds. Read knows the bounds.
func Schema(t agent.ActionType) ([]byte, error) {
	text, err := schemas.ReadFile("schemas/" + string(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema of %.50s: %w", t, err)
	}
	return text, nil
}
