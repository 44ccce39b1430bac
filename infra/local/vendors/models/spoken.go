package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/model"
	"ringi/shared/model/demo"
)

// spokenTo is a request in a form that all vendors share.
type spokenTo struct {
	model  string
	said   []model.Message
	tools  []string
	schema json.RawMessage // for the answer
	tokens int             // the most that the answer may have
}

func text(said ...model.Message) string {
	var all strings.Builder
	for _, m := range said {
		for _, p := range m.Parts {
			all.WriteString(p.Text)
			if p.Result != nil {
				all.WriteString(p.Result.Text)
			}
		}
	}
	return all.String()
}

// demo answers as the demo agent does.
func (q spokenTo) demo() Script {
	r := model.Request{Messages: q.said}
	for _, name := range q.tools {
		r.Tools = append(r.Tools, model.Tool{Name: name})
	}
	got, err := demo.Agent{}.Say(context.Background(), r)
	if err != nil {
		return Script{Text: err.Error()}
	}
	s := Script{Text: got.Text}
	for _, c := range got.Calls {
		s.Calls = append(s.Calls, ScriptedCall{ID: c.ID, Name: c.Name, Input: string(c.Input)})
	}
	return s
}

// toolName is what all vendors accept as a tool's name, in definitions and in what was said before:
//   - https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
//   - https://developers.openai.com/api/reference (FunctionObject.name)
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// offer adds a tool. Vendors refuse two of one name.
func (c *conversation) offer(name string) error {
	switch {
	case !toolName.MatchString(name):
		return fmt.Errorf("tools.%d.name: String should match pattern '%s'", len(c.tools), toolName)
	case slices.Contains(c.tools, name):
		return errors.New("tools: Tool names must be unique.")
	}
	c.tools = append(c.tools, name)
	return nil
}

// conversation collects turns. Like all vendors, it requires that each tool call has a result.
type conversation struct {
	spokenTo
	open map[string]bool // calls without a result
	seen map[string]bool
}

func begun(model string, schema json.RawMessage, tokens int) *conversation {
	return &conversation{spokenTo: spokenTo{model: model, schema: schema, tokens: tokens}, open: map[string]bool{},
		seen: map[string]bool{}}
}

func (c *conversation) add(role model.Role, parts ...model.Part) error {
	for _, p := range parts {
		switch {
		case p.Call != nil:
			if !toolName.MatchString(p.Call.Name) {
				return fmt.Errorf("messages.%d: a call's name should match pattern '%s'", len(c.said), toolName)
			}
			if p.Call.ID == "" || c.seen[p.Call.ID] {
				return fmt.Errorf("tool_use ids must be unique: %q", p.Call.ID)
			}
			c.open[p.Call.ID], c.seen[p.Call.ID] = true, true
		case p.Result != nil:
			if !c.open[p.Result.CallID] {
				return fmt.Errorf("unexpected tool result %q: no call of that id is open", p.Result.CallID)
			}
			delete(c.open, p.Result.CallID)
		case p.Image == nil && strings.TrimSpace(p.Text) == "":
			return errors.New("text content blocks must be non-empty")
		}
	}
	if n := len(c.said); n > 0 && c.said[n-1].Role == role {
		c.said[n-1].Parts = append(c.said[n-1].Parts, parts...)
		return nil
	}
	c.said = append(c.said, model.Message{Role: role, Parts: parts})
	return nil
}

// answered returns an error if a tool call has no result yet.
func (c *conversation) answered() error {
	if len(c.open) > 0 {
		return fmt.Errorf("tool_use ids were found without tool_result blocks immediately after: %v", c.open)
	}
	return nil
}

func (c *conversation) end() (spokenTo, error) {
	switch n := len(c.said); {
	case n == 0 || c.said[0].Role != model.User:
		return c.spokenTo, errors.New("first message must use the user role")
	case c.said[n-1].Role != model.User:
		return c.spokenTo, errors.New("the conversation must end with a user message")
	case len(c.seen) > 0 && len(c.tools) == 0:
		return c.spokenTo, errors.New("requests which include tool_use or tool_result blocks must define tools")
	}
	return c.spokenTo, c.answered()
}

// readAnthropic reads a request of the Messages API. On Bedrock the path has the model.
func readAnthropic(vendor string, body []byte) (spokenTo, error) {
	var q struct {
		Model        string
		Version      string `json:"anthropic_version"`
		MaxTokens    int    `json:"max_tokens"`
		Tools        []struct{ Name string }
		OutputConfig struct {
			Format struct{ Schema json.RawMessage }
		} `json:"output_config"`
		Messages []struct {
			Role    model.Role
			Content []struct {
				Type, Text, ID, Name string
				ToolUseID            string `json:"tool_use_id"`
				Input                json.RawMessage
				Content              []block
			}
		}
	}
	switch err := json.Unmarshal(body, &q); {
	case err != nil:
		return spokenTo{}, err
	case q.MaxTokens == 0:
		return spokenTo{}, errors.New("max_tokens: Field required")
	case (vendor == "bedrock") == (q.Version == ""):
		return spokenTo{}, errors.New("anthropic_version: it is Bedrock's, which needs it")
	}
	c := begun(q.Model, q.OutputConfig.Format.Schema, q.MaxTokens)
	for _, t := range q.Tools {
		if err := c.offer(t.Name); err != nil {
			return c.spokenTo, err
		}
	}
	for _, m := range q.Messages {
		var parts []model.Part
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				parts = append(parts, model.Part{Call: &model.Call{ID: b.ID, Name: b.Name, Input: b.Input}})
			case "tool_result":
				parts = append(parts, model.Part{Result: &model.Result{CallID: b.ToolUseID, Text: join(b.Content)}})
			case "image":
				parts = append(parts, model.Part{Image: &model.Image{}})
			case "thinking", "redacted_thinking":
			default:
				parts = append(parts, model.Part{Text: b.Text})
			}
		}
		if len(m.Content) == 0 || m.Role != model.User && m.Role != model.Assistant {
			return c.spokenTo, fmt.Errorf("messages.%d: %s messages must have non-empty content", len(c.said), m.Role)
		}
		if err := c.strictly(m.Role, parts); err != nil {
			return c.spokenTo, err
		}
	}
	return c.end()
}

// strictly adds a message. Like Anthropic, it requires that results come directly after the message with
// their calls, and before other parts.
func (c *conversation) strictly(role model.Role, parts []model.Part) error {
	began := false // there was a part that is not a result
	for _, p := range parts {
		switch {
		case p.Result != nil && began:
			return errors.New("tool_result blocks must come first")
		case p.Call != nil && (len(p.Call.Input) == 0 || p.Call.Input[0] != '{'):
			return errors.New("tool_use.input: Input should be a valid dictionary")
		}
		began = began || p.Result == nil
	}
	if role == model.Assistant {
		if err := c.answered(); err != nil {
			return err
		}
	}
	err := c.add(role, parts...)
	if err == nil && role == model.User {
		err = c.answered()
	}
	return err
}

// readCompletions reads a request of Chat Completions.
func readCompletions(vendor string, body []byte) (spokenTo, error) {
	var q struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Most      int `json:"max_completion_tokens"`
		Tools     []struct{ Function struct{ Name string } }
		Form      struct {
			JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
		} `json:"response_format"`
		Turns []struct {
			Role      string
			Content   json.RawMessage
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	switch err := json.Unmarshal(body, &q); {
	case err != nil:
		return spokenTo{}, err
	case vendor == "openai" && q.MaxTokens > 0:
		return spokenTo{}, errors.New("Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
			"'max_completion_tokens' instead.")
	}
	c := begun(q.Model, q.Form.JSONSchema.Schema, max(q.MaxTokens, q.Most))
	for _, t := range q.Tools {
		if err := c.offer(t.Function.Name); err != nil {
			return c.spokenTo, err
		}
	}
	for _, m := range q.Turns {
		var text string
		var blocks []block
		if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &blocks) == nil {
			text = join(blocks)
		}
		var parts []model.Part
		if text != "" && m.Role != "tool" {
			parts = append(parts, model.Part{Text: text})
		}
		for _, x := range m.ToolCalls {
			parts = append(parts,
				model.Part{Call: &model.Call{ID: x.ID, Name: x.Function.Name, Input: json.RawMessage(x.Function.Arguments)}})
		}
		role := model.Role(m.Role)
		switch m.Role {
		case "user", "assistant":
			if len(parts) == 0 && (m.Content == nil || string(m.Content) == "null") {
				return c.spokenTo, fmt.Errorf("Invalid value for 'messages[%d].content': expected a string, "+
					"got null.", len(c.said)+1)
			}
			if err := c.answered(); err != nil {
				return c.spokenTo, err
			}
		case "system":
			continue
		case "tool":
			role, parts = model.User, []model.Part{{Result: &model.Result{CallID: m.CallID, Text: text}}}
		default:
			return c.spokenTo, fmt.Errorf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', "+
				"'function', 'tool', and 'developer'.", m.Role)
		}
		if err := c.add(role, parts...); err != nil {
			return c.spokenTo, err
		}
	}
	return c.end()
}
