package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	responsessdk "github.com/openai/openai-go/v3/responses"
)

// toolName is what all vendors accept as a tool's name, in definitions and in what was said before:
//   - https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
//   - https://developers.openai.com/api/reference (FunctionObject.name)
//   - https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// named refuses a call in the history, in the vendor's words.
func (c *conversation) named(name string, message int) error {
	if toolName.MatchString(name) {
		return nil
	}
	switch c.of {
	case "anthropic":
		return fmt.Errorf("messages.%d.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", message)
	case "bedrock":
		return fmt.Errorf("1 validation error detected: Value at 'messages.%d.member.content.1.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+", message+1)
	}
	return fmt.Errorf("Invalid 'messages[%d].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", message+1)
}

// offer adds a tool. Vendors refuse two of one name.
func (c *conversation) offer(name string) error {
	switch {
	case !toolName.MatchString(name):
		return fmt.Errorf("tools.%d.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", len(c.tools))
	case slices.Contains(c.tools, name):
		return errors.New("tools: Tool names must be unique.")
	}
	c.tools = append(c.tools, name)
	return nil
}

// schemas are the members of requests as the vendors' SDKs have them, and which of them are required. AWS ignores
// members that it doesn't know.
var schemas = map[string]struct {
	of       any
	required []string
}{
	"anthropic":  {anthropicsdk.MessageNewParams{}, []string{"model", "max_tokens", "messages"}},
	"openai":     {responsessdk.ResponseNewParams{}, []string{"model", "input"}},
	"compatible": {openai.ChatCompletionNewParams{}, []string{"model", "messages"}},
	"bedrock":    {nil, []string{"messages"}},
}

// complete refuses a request that lacks a member, or has one that the vendor does not know.
func complete(vendor string, body []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	schema := schemas[vendor]
	for _, name := range schema.required {
		if members[name] == nil {
			return missing(vendor, name)
		}
	}
	if schema.of == nil {
		return nil
	}
	known := []string{"stream"}
	for i := range reflect.TypeOf(schema.of).NumField() {
		name, _, _ := strings.Cut(reflect.TypeOf(schema.of).Field(i).Tag.Get("json"), ",")
		known = append(known, name)
	}
	for name := range members {
		if !slices.Contains(known, name) {
			return unknown(vendor, name)
		}
	}
	return nil
}

func missing(vendor, name string) error {
	if vendor == "anthropic" {
		return fmt.Errorf("%s: Field required", name)
	}
	return fmt.Errorf("Missing required parameter: '%s'.", name)
}

func unknown(vendor, name string) error {
	if vendor == "anthropic" {
		return fmt.Errorf("%s: Extra inputs are not permitted", name)
	}
	return fmt.Errorf("Unknown parameter: '%s'.", name)
}
