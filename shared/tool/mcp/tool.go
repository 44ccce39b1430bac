package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/tool/schema"
	"ringi/shared/words/language"
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
	// Unreadable is why the tool can't be read, so that it can't be used. It has what can.
	Unreadable string `json:",omitempty"`
	// ReadOnly is the server's readOnlyHint. A server may claim anything, so the person who allows the tool decides
	// whether it writes.
	ReadOnly bool `json:"-"` // no part of the hash
}

const unreadable = "it can't be read: "

// read reads a tool of a list. What it doesn't read may have any form, and a hint that is none says nothing.
func read(raw json.RawMessage) (t Tool) {
	var has, hints map[string]json.RawMessage
	if json.Unmarshal(raw, &has) != nil || has == nil {
		return Tool{Unreadable: unreadable + "it is no object"}
	}
	for _, member := range []struct {
		name string
		text *string
	}{{"name", &t.Name}, {"title", &t.Title}, {"description", &t.Description}} {
		if has[member.name] != nil && json.Unmarshal(has[member.name], member.text) != nil {
			t.Unreadable = unreadable + "its " + member.name + " is no text"
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

// Hash changes with every part of the server's description of the tool.
func (t Tool) Hash() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("encode a tool: %v", err)) // of texts
	}
	return aggregate.HashOf(string(b))
}

// toolForm is the form of names that the protocol recommends (server/tools, Tool Names), and slashes that group tools.
var toolForm = language.Regexp{Text: `^[A-Za-z0-9_./-]{1,128}$`}

// Problem returns why a tool can't be allowed, or an empty text if it can.
func (t Tool) Problem() string {
	switch {
	case t.Unreadable != "":
		return t.Unreadable
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
