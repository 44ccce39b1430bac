package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"ringi/infra/local/vendors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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

// takes refuses a tool whose arguments Anthropic refuses, in its words.
func (c *conversation) takes(schema map[string]any) error {
	for _, name := range []string{"oneOf", "allOf", "anyOf"} {
		if schema[name] != nil {
			return fmt.Errorf("tools.%d.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", len(c.tools)-1)
		}
	}
	if at, tuple := listed("", schema, true); tuple {
		return fmt.Errorf("tools.%d.custom.input_schema: JSON schema is invalid. It must match "+
			"JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). [%s]", len(c.tools)-1, at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if !propertyKey.MatchString(name) {
			return fmt.Errorf("tools.%d.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", len(c.tools)-1)
		}
	}
	return nil
}

// function adds a tool of an API of OpenAI's kind. Chat Completions limit what describes it (getsentry/sentry-mcp#106).
func (c *conversation) function(name, described string, parameters any) error {
	if n := utf8.RuneCountInString(described); n > 1024 && c.of == "compatible" {
		return fmt.Errorf("Invalid 'tools[%d].function.description': string too long. Expected a string with maximum "+
			"length 1024, but got a string with length %d instead.", len(c.tools), n)
	}
	err := cmp.Or(c.offer(name), looksAround(parameters))
	if top, is := parameters.(map[string]any); err == nil && is && c.of == "gemini" {
		at := fmt.Sprintf("GenerateContentRequest.tools[0].function_declarations[%d].parameters", len(c.tools)-1)
		err = notGoogles(at, top, true)
	}
	return err
}

// notGoogles refuses a schema that Gemini refuses, in its words (musistudio/claude-code-router#475, agno-agi/agno#2112,
// Kilo-Org/kilocode#11955).
func notGoogles(at string, schema map[string]any, top bool) error {
	properties, _ := schema["properties"].(map[string]any)
	values, _ := schema["enum"].([]any)
	for _, v := range values {
		if _, text := v.(string); !text {
			return fmt.Errorf("* %s.enum: only allowed for STRING type", at)
		}
	}
	if schema["type"] == "object" && len(properties) == 0 && !top {
		return fmt.Errorf("* %s.properties: should be non-empty for OBJECT type", at)
	}
	required, _ := schema["required"].([]any)
	for i, name := range required {
		if text, _ := name.(string); properties[text] == nil {
			return fmt.Errorf("* %s.required[%d]: property is not defined", at, i)
		}
	}
	for name, property := range properties {
		if below, is := property.(map[string]any); is {
			if err := notGoogles(at+".properties["+name+"]", below, false); err != nil {
				return err
			}
		}
	}
	if items, is := schema["items"].(map[string]any); is {
		return notGoogles(at+".items", items, false)
	}
	return nil
}

// looksAround refuses a tool with a schema that OpenAI refuses, in its words (cline/cline#14013).
func looksAround(schema any) error {
	top, _ := schema.(map[string]any)
	for _, name := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if top[name] != nil {
			return errors.New("Invalid schema for function: schema must have type 'object' and not have " +
				"'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.")
		}
	}
	if at, tuple := listed("", schema, true); tuple {
		return fmt.Errorf("Invalid schema for function: In context=(%s), [...] is not of type 'object', 'boolean'.", at)
	}
	if at, bare := listed("", schema, false); bare {
		return fmt.Errorf("Invalid schema for function: In context=(%s), array schema missing items.", at)
	}
	return around("$", schema)
}

// listed finds an array whose items are a list, or that has none.
func listed(at string, v any, list bool) (string, bool) {
	members, _ := v.(map[string]any)
	_, is := members["items"].([]any)
	if list && is || !list && members["type"] == "array" && members["items"] == nil {
		return at, true
	}
	for name, x := range members {
		if at, found := listed(at+", '"+name+"'", x, list); found {
			return at, true
		}
	}
	return "", false
}

func around(at string, v any) error {
	members, _ := v.(map[string]any)
	for name, x := range members {
		if text, ok := x.(string); ok && name == "pattern" && lookaround.MatchString(text) {
			return fmt.Errorf("Invalid JSON schema: regex lookaround is not supported. Found at %s.pattern.", at)
		}
		if err := around(at+"."+name, x); err != nil {
			return err
		}
	}
	return nil
}

var lookaround = regexp.MustCompile(`\(\?<?[=!]`)

var propertyKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// schemas are the requests of the vendors' SDKs. AWS ignores members that it doesn't know.
var schemas = map[string]any{
	"anthropic": streamed[anthropicsdk.MessageNewParams]{}, "openai": streamed[responsessdk.ResponseNewParams]{},
	"compatible": streamed[openai.ChatCompletionNewParams]{},
}

// streamed is a request that may ask for a stream, which the SDKs put in themselves.
type streamed[T any] struct{}

func (streamed[T]) refused(body []byte, exact bool) *vendors.SchemaFault {
	var members map[string]json.RawMessage
	var stream bool
	if json.Unmarshal(body, &members) != nil || members["stream"] != nil && json.Unmarshal(members["stream"],
		&stream) != nil {
		return &vendors.SchemaFault{Kind: vendors.Mistyped}
	}
	delete(members, "stream")
	body, _ = json.Marshal(members) // it was JSON before
	var sdk T
	return vendors.RefusedBySchema(body, sdk, exact)
}

// format is a schema that answers or arguments have to follow.
type format struct {
	Strict bool
	Schema json.RawMessage
}

// complete refuses a request that lacks a member, or has one that the vendor does not know, however deep, and a strict
// schema that the vendor can't hold answers to.
func complete(vendor string, body []byte, f *format) error {
	var members map[string]json.RawMessage
	need := map[string]string{"bedrock": "messages", "openai": "input"}[vendor]
	if json.Unmarshal(body, &members); need != "" && members[need] == nil {
		return said(vendor, &vendors.SchemaFault{Path: []string{need}, Kind: vendors.FaultMissing})
	}
	if schema, ok := schemas[vendor].(interface {
		refused(body []byte, exact bool) *vendors.SchemaFault
	}); ok {
		// Gemini and OpenRouter speak Chat Completions with a member of their own.
		if f := schema.refused(body, vendor == "anthropic"); f != nil &&
			!slices.Contains([]string{"extra_content", "reasoning_details"}, f.Path[len(f.Path)-1]) {
			return said(vendor, f)
		}
	}
	if !f.Strict && vendor != "anthropic" && vendor != "bedrock" || len(f.Schema) == 0 {
		return nil
	}
	var schema map[string]any
	if err := json.Unmarshal(f.Schema, &schema); err != nil {
		return err
	}
	return strictSchema(vendor, "", schema)
}

// said is a fault in the words of the vendor.
func said(vendor string, f *vendors.SchemaFault) error {
	if vendor == "anthropic" {
		return fmt.Errorf("%s: %s", strings.Join(f.Path, "."),
			map[vendors.FaultKind]string{vendors.FaultMissing: "Field required",
				vendors.Unknown: "Extra inputs are not permitted", vendors.Mistyped: "Input should be a valid value",
				vendors.Constant: "Input tag does not match any of the expected tags"}[f.Kind])
	}
	path := ""
	for _, name := range f.Path {
		if _, err := strconv.Atoi(name); err == nil {
			path += "[" + name + "]"
		} else {
			path += "." + name
		}
	}
	path = strings.TrimPrefix(path, ".")
	switch f.Kind {
	case vendors.FaultMissing:
		return fmt.Errorf("Missing required parameter: '%s'.", path)
	case vendors.Constant:
		return fmt.Errorf("Invalid value for '%s'. Supported values are those of the API's reference.", path)
	case vendors.Unknown:
		return fmt.Errorf("Unknown parameter: '%s'.", path)
	}
	return fmt.Errorf("Invalid type for '%s'.", path)
}

// Keywords that a strict schema can't have:
//   - https://platform.claude.com/docs/en/build-with-claude/structured-outputs (JSON Schema limitations)
//   - https://developers.openai.com/api/docs/guides/structured-outputs (supported schemas)
var (
	notAnthropic = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
		"maxLength",
		"maxItems", "uniqueItems", "oneOf", "not", "if", "patternProperties"}
	notOpenAI = []string{"allOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "patternProperties",
		"uniqueItems", "contains", "minProperties", "maxProperties"}
)

// strictSchema refuses what a vendor does of a schema at a path.
func strictSchema(vendor, at string, schema map[string]any) error {
	own, closed, never := vendor == "anthropic" || vendor == "bedrock", schema["additionalProperties"] == false, notOpenAI
	if own {
		never = notAnthropic
	}
	for _, name := range never {
		if schema[name] != nil && own {
			return fmt.Errorf("output_config.format.schema: For '%v' type, property '%s' is not supported", schema["type"], name)
		} else if schema[name] != nil {
			return fmt.Errorf("Invalid schema for response_format 'answer': In context=(%s), '%s' is not permitted.", at, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	isObject := properties != nil || schema["type"] == "object"
	switch {
	case isObject && !closed && own:
		return errors.New("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
	case isObject && !closed:
		return fmt.Errorf("Invalid schema for response_format 'answer': In context=(%s), 'additionalProperties' is required to be supplied and to be false.", at)
	}
	for name, property := range properties {
		if !own && !slices.Contains(required, any(name)) {
			return fmt.Errorf("Invalid schema for response_format 'answer': In context=(%s), 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", at, name)
		}
		if below, ok := property.(map[string]any); ok {
			if err := strictSchema(vendor, at+"'properties', '"+name+"'", below); err != nil {
				return err
			}
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		return strictSchema(vendor, at+"'items'", items)
	}
	return nil
}
