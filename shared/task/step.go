package task

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Effect says whether calling a tool again could do something twice.
type Effect string

const (
	Read  Effect = "read"
	Write Effect = "write"
)

// JSON is a JSON value kept as text, so that rows stay readable in the console.
type JSON string

// MarshalJSON returns the value itself.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

// UnmarshalJSON keeps the value's text.
func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = JSON(b)
	return nil
}

// Blob is a value that may be too large for a row: then JSON is empty and S3Key
// says where it is, and Preview shows its beginning.
type Blob struct {
	JSON    JSON   `json:"json,omitempty"`
	Bytes   int    `json:"bytes"`
	S3Key   string `json:"s3_key,omitempty"`
	Preview string `json:"preview,omitempty"`
}

// Step is one step of a process: the union of the cards' and the data model's fields.
type Step struct {
	StepID             string `json:"stepId"`
	Order              int    `json:"order"`
	Title              string `json:"title,omitempty"`
	Tool               string `json:"tool"`
	ToolInput          JSON   `json:"toolInput"`
	Description        string `json:"description"`
	ExpectedOutput     string `json:"expectedOutput"`
	RequiresHumanCheck bool   `json:"requiresHumanCheck,omitempty"`
	// LeftOut are an MCP server's defaults for arguments that ToolInput does not have, by name.
	LeftOut JSON `json:"leftOut,omitempty"`
	// Effect and ToolVersion are the catalog's at planning; a tool that changed since is not called.
	Effect      Effect `json:"effect"`
	ToolVersion string `json:"toolVersion"`
}

// MaxSteps is how many steps a process may have.
const MaxSteps = 60

// checkSteps returns ErrField unless the steps are numbered from 1, have ids of their own, and inputs that are JSON.
func checkSteps(steps []Step) error {
	if n := len(steps); n == 0 || n > MaxSteps {
		return ErrField{"steps", fmt.Sprintf("must be 1 to %d, not %d", MaxSteps, n)}
	}
	seen := map[string]bool{}
	for i, s := range steps {
		field := func(name string) string { return fmt.Sprintf("steps[%d].%s", i, name) }
		switch {
		case s.Order != i+1:
			return ErrField{field("order"), fmt.Sprintf("must be %d, not %d", i+1, s.Order)}
		case s.StepID == "" || seen[s.StepID]:
			return ErrField{field("stepId"), "must be there and used once"}
		case s.ToolInput != "" && !json.Valid([]byte(s.ToolInput)):
			return ErrField{field("toolInput"), "must be JSON"}
		case s.Effect != Read && s.Effect != Write:
			return ErrField{field("effect"), "must be read or write"}
		}
		seen[s.StepID] = true
	}
	return nil
}

// Name is the step's title, or its description where it has none.
func (s Step) Name() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Description
}

// Hash fingerprints what a person stamps: tools, raw input, order, flags, and the
// tools' effect and version. It is hexadecimal SHA-256.
func Hash(steps []Step) string {
	b, err := json.Marshal(steps)
	if err != nil { // only invalid JSON in a toolInput; it must not look like anything approved
		return "invalid: " + err.Error()
	}
	return HashOf(string(b))
}

// HashOf is the hexadecimal SHA-256 of a text.
func HashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func cut(key string) (kind, rest string, ok bool) { return strings.Cut(key, "#") }
