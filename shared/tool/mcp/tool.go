package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/tool/schema"
	"ringi/shared/words/lazy"
)

// Limits of a tool that can be allowed.
const (
	MaxTitle       = 100      // characters
	MaxDescription = 2000     // characters
	MaxSchema      = 16 << 10 // bytes, each
)

// Tool is a tool as its server describes it.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       string // JSON with sorted members
	Output      string // same as Input; empty if the tool declares no output schema
	// ReadOnly is the server's readOnlyHint. A server may claim anything, so the person who allows the tool decides
	// whether it writes.
	ReadOnly bool `json:"-"` // no part of the hash
}

// read reads a tool's fields. Of its annotations it reads only readOnlyHint.
func read(t *sdk.Tool) Tool {
	return Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Input: text(t.InputSchema), Output: text(t.OutputSchema),
		ReadOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint,
	}
}

// Pin returns the tool in its current form, as allowed at an address for reading or writing.
func (t Tool) Pin(url string, access aggregate.Access) tenancy.Pin {
	return tenancy.Pin{
		URL: url, Title: cmp.Or(t.Title, t.Name), Description: t.Description, Input: aggregate.JSON(t.Input),
		Output: aggregate.JSON(t.Output), Access: access, Hash: t.Hash(),
	}
}

func text(schema any) string {
	if schema == nil {
		return ""
	}
	b, err := json.Marshal(schema)
	if err != nil {
		return "" // it came as JSON
	}
	return tool.Canonical(b)
}

// Hash changes with every part of the server's description of the tool.
func (t Tool) Hash() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("encode a tool: %v", err)) // of texts
	}
	return aggregate.HashOf(string(b))
}

// toolForm is the form of names that the protocol recommends (server/tools, Tool Names), and slashes that group tools.
var toolForm = lazy.Regexp{Text: `^[A-Za-z0-9_./-]{1,128}$`}

// Problem returns why a tool can't be allowed, or an empty text if it can.
func (t Tool) Problem() string {
	switch {
	case !toolForm.Get().MatchString(t.Name):
		return "its name is not 1 to 128 of A-Z, a-z, 0-9, _, -, . and /"
	case utf8.RuneCountInString(t.Title) > MaxTitle:
		return fmt.Sprintf("its title is over %d characters", MaxTitle)
	case utf8.RuneCountInString(t.Description) > MaxDescription:
		return fmt.Sprintf("its description is over %d characters", MaxDescription)
	case len(t.Input) > MaxSchema || len(t.Output) > MaxSchema:
		return fmt.Sprintf("a schema of it is over %d bytes", MaxSchema)
	}
	var shape struct{ Type string }
	if json.Unmarshal([]byte(t.Input), &shape) != nil || shape.Type != "object" {
		return "its arguments are no object"
	}
	if _, err := schema.Compile("input", t.Input); err != nil {
		return "its arguments can't be checked: " + err.Error()
	}
	if t.Output == "" {
		return ""
	}
	if _, err := schema.Compile("output", t.Output); err != nil {
		return "its result can't be checked: " + err.Error()
	}
	return ""
}
