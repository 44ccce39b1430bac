package models

import (
	"cmp"
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
func (q *spokenTo) demo() Script {
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

// add adds parts to what was said, as one turn with those of the same speaker before.
func (q *spokenTo) add(role model.Role, parts ...model.Part) {
	if n := len(q.said); n > 0 && q.said[n-1].Role == role {
		q.said[n-1].Parts = append(q.said[n-1].Parts, parts...)
		return
	}
	q.said = append(q.said, model.Message{Role: role, Parts: parts})
}

// refused says why every vendor refuses a conversation: each tool has a name of its own, each call its result at the
// beginning of the next turn, no text is empty, and the user begins and ends.
func (q *spokenTo) refused() error {
	for i, name := range q.tools {
		if !toolName.MatchString(name) || slices.Contains(q.tools[:i], name) {
			return fmt.Errorf("tools.%d.name: %q is no name, or another's", i, name)
		}
	}
	if n := len(q.said); n == 0 || q.said[0].Role != model.User || q.said[n-1].Role != model.User {
		return errors.New("the user must begin and end a conversation")
	}
	seen, open := map[string]bool{}, map[string]bool{}
	for i, m := range q.said {
		spoke := false
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				if id := p.Call.ID; !toolName.MatchString(p.Call.Name) || id == "" || seen[id] || len(q.tools) == 0 ||
					!strings.HasPrefix(string(p.Call.Input), "{") {
					return fmt.Errorf("messages.%d: no vendor takes a call %q of %q", i, id, p.Call.Name)
				}
				seen[p.Call.ID], open[p.Call.ID] = true, true
			case p.Result != nil:
				if spoke || m.Role != model.User || !open[p.Result.CallID] {
					return fmt.Errorf("messages.%d: a result of %q, which nobody waits for here", i, p.Result.CallID)
				}
				delete(open, p.Result.CallID)
			case p.Image == nil && strings.TrimSpace(p.Text) == "":
				return fmt.Errorf("messages.%d: a text is empty", i)
			}
			spoke = spoke || p.Result == nil
		}
		if m.Role == model.User && len(open) > 0 {
			return fmt.Errorf("messages.%d: calls have no result: %v", i, open)
		}
	}
	return nil
}

// readAnthropic reads a request of the Messages API. On Bedrock the path has the model.
func readAnthropic(body []byte) (*spokenTo, error) {
	var q struct {
		Model        string
		MaxTokens    int `json:"max_tokens"`
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
	if err := json.Unmarshal(body, &q); err != nil || q.MaxTokens == 0 {
		return nil, cmp.Or(err, errors.New("max_tokens: Field required"))
	}
	out := &spokenTo{model: q.Model, schema: q.OutputConfig.Format.Schema, tokens: q.MaxTokens}
	for _, t := range q.Tools {
		out.tools = append(out.tools, t.Name)
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				out.add(m.Role, model.Part{Call: &model.Call{ID: b.ID, Name: b.Name, Input: b.Input}})
			case "tool_result":
				out.add(m.Role, model.Part{Result: &model.Result{CallID: b.ToolUseID, Text: join(b.Content)}})
			case "image":
				out.add(m.Role, model.Part{Image: &model.Image{}})
			case "text":
				out.add(m.Role, model.Part{Text: b.Text})
			}
		}
	}
	return out, out.refused()
}

// readCompletions reads a request of Chat Completions.
func readCompletions(body []byte) (*spokenTo, error) {
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
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	out := &spokenTo{model: q.Model, schema: q.Form.JSONSchema.Schema, tokens: max(q.MaxTokens, q.Most)}
	for _, t := range q.Tools {
		out.tools = append(out.tools, t.Function.Name)
	}
	for _, m := range q.Turns {
		var text string
		var blocks []block
		if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &blocks) == nil {
			text = join(blocks)
		}
		switch {
		case m.Role == "system":
		case m.Role == "tool":
			out.add(model.User, model.Part{Result: &model.Result{CallID: m.CallID, Text: text}})
		case text != "" || m.ToolCalls == nil:
			out.add(model.Role(m.Role), model.Part{Text: text})
		}
		for _, x := range m.ToolCalls {
			out.add(model.Role(m.Role), model.Part{Call: &model.Call{ID: x.ID, Name: x.Function.Name,
				Input: json.RawMessage(x.Function.Arguments)}})
		}
	}
	return out, out.refused()
}
