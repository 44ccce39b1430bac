package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	got, err := demo.Agent{}.Say(context.Background(), r, func(string) {})
	if err != nil {
		return Script{Texts: []string{err.Error()}}
	}
	s := Script{}
	if half := len(got.Text) / 2; got.Text != "" {
		s.Texts = []string{strings.ToValidUTF8(got.Text[:half], ""), got.Text[len(strings.ToValidUTF8(got.Text[:half], "")):]}
	}
	for _, c := range got.Calls {
		half := len(c.Input) / 2
		for half > 0 && c.Input[half]&0xc0 == 0x80 {
			half--
		}
		s.Calls = append(s.Calls,
			ScriptedCall{ID: c.ID, Name: c.Name, Input: []string{string(c.Input[:half]), string(c.Input[half:])}})
	}
	return s
}

// conversation collects turns. Like all vendors, it requires that each tool call has a result.
type conversation struct {
	spokenTo
	of   string          // the vendor
	open map[string]bool // calls without a result
	seen map[string]bool
}

func begun(of, model string, schema json.RawMessage) *conversation {
	return &conversation{of: of, spokenTo: spokenTo{model: model, schema: schema}, open: map[string]bool{},
		seen: map[string]bool{}}
}

func (c *conversation) add(role model.Role, parts ...model.Part) error {
	for _, p := range parts {
		switch {
		case p.Call != nil:
			if err := c.named(p.Call.Name, len(c.said)); err != nil {
				return err
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

// readAnthropic reads a request of the Messages API.
func readAnthropic(body []byte) (spokenTo, error) {
	var q struct {
		Model string
		Tools []struct {
			Name   string
			Schema map[string]any `json:"input_schema"`
		}
		OutputConfig struct {
			Format format
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
	if err := errors.Join(json.Unmarshal(body, &q), complete("anthropic", body, &q.OutputConfig.Format)); err != nil {
		return spokenTo{}, err
	}
	c := begun("anthropic", q.Model, q.OutputConfig.Format.Schema)
	for _, t := range q.Tools {
		if err := cmp.Or(c.offer(t.Name), c.takes(t.Schema)); err != nil {
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

// strictly adds a message. Like Anthropic and Bedrock, it requires that results come directly after the message with
// their calls, and before other parts.
func (c *conversation) strictly(role model.Role, parts []model.Part) error {
	began := false // there was a part that is not a result
	if n := len(c.said); c.of == "bedrock" && n > 0 && c.said[n-1].Role == role {
		return errors.New("A conversation must alternate between user and assistant roles. Make sure the conversation " +
			"alternates between user and assistant roles and try again.")
	}
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

// readResponses reads a request of OpenAI's Responses API.
func readResponses(body []byte) (spokenTo, error) {
	var q struct {
		Model string
		Tools []struct {
			Name       string
			Parameters any
		}
		Text struct {
			Format format
		}
		Input []struct {
			Type, Role, Name, Arguments string
			CallID                      string `json:"call_id"`
			Output                      string
			Content                     json.RawMessage
		}
	}
	if err := errors.Join(json.Unmarshal(body, &q), complete("openai", body, &q.Text.Format)); err != nil {
		return spokenTo{}, err
	}
	c := begun("openai", q.Model, q.Text.Format.Schema)
	for _, t := range q.Tools {
		if err := c.function(t.Name, "", t.Parameters); err != nil {
			return c.spokenTo, err
		}
	}
	for _, item := range q.Input {
		var err error
		switch {
		case item.Type == "reasoning":
		case item.Type == "function_call":
			err = c.add(model.Assistant,
				model.Part{Call: &model.Call{ID: item.CallID, Name: item.Name, Input: json.RawMessage(item.Arguments)}})
		case item.Type == "function_call_output":
			err = c.add(model.User, model.Part{Result: &model.Result{CallID: item.CallID, Text: item.Output}})
		default:
			var text string
			var blocks []struct{ Type, Text string }
			if json.Unmarshal(item.Content, &text) != nil {
				err = json.Unmarshal(item.Content, &blocks)
			}
			for _, b := range blocks {
				if b.Type == "input_text" {
					text += b.Text
				}
			}
			if err == nil {
				err = c.add(model.Role(item.Role), model.Part{Text: text})
			}
		}
		if err != nil {
			return c.spokenTo, err
		}
	}
	return c.end()
}

// readCompletions reads a request of Chat Completions, of OpenAI's kind or Gemini's.
func readCompletions(of string, body []byte) (spokenTo, error) {
	var q struct {
		Model string
		Tools []struct {
			Function struct {
				Name, Description string
				Parameters        any
			}
		}
		Form struct {
			JSONSchema format `json:"json_schema"`
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
	if err := errors.Join(json.Unmarshal(body, &q), complete("compatible", body, &q.Form.JSONSchema)); err != nil {
		return spokenTo{}, err
	}
	c := begun(of, q.Model, q.Form.JSONSchema.Schema)
	for _, t := range q.Tools {
		if err := c.function(t.Function.Name, t.Function.Description, t.Function.Parameters); err != nil {
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
