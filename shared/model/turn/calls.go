package turn

import (
	"encoding/json"
	"fmt"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/tool"
	"ringi/shared/tool/schema"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Limits of the tools of vendors that a turn offers. Further ones are only named as not shown.
const (
	maxCalls     = 40
	maxCallsText = 48 << 10 // bytes of their descriptions
)

// callable is what the model sees of a tool of a vendor. Its texts may be a stranger's.
type callable struct {
	Name        string               `json:"name"`
	Access      aggregate.Access     `json:"effect"`
	Description string               `json:"description"`
	Input       json.RawMessage      `json:"input"`
	Constraints *tenancy.Constraints `json:"constraints,omitempty"`
	sourced     bool                 // it takes the files to their source
}

// callables returns the tools of vendors that the turn offers, and how many are left out because they are too many.
func (t Turn) callables() (shown []callable, left int) {
	if t.Calls == nil || !t.Agent.May(agent.ToolCall) {
		return nil, 0
	}
	size := 0
	for _, s := range t.Calls.All() {
		c := callable{Name: s.Name, Access: s.Access, Description: legible.VisibleCode(s.Description),
			Input: shownInput(s), sourced: s.Sourced}
		if !s.Bounds.None() {
			c.Constraints = &s.Bounds
		}
		text, err := json.Marshal(c)
		if err != nil || len(shown) == maxCalls || size+len(text) > maxCallsText {
			left++
			continue
		}
		shown, size = append(shown, c), size+len(text)
	}
	return shown, left
}

// planned matches how the descriptions of Ringi's own tools name earlier results, which only plans of steps have.
var planned = language.Regexp{Text: `\[?(?:\{\\"\$ref\\": \\"step-[^"]*\\"\}(?:, )?)+\]?`}

// shownInput returns a tool's schema as the model reads it: nothing in it refers to something else, since no argument
// may.
func shownInput(s tool.Spec) json.RawMessage {
	text, err := schema.Inline(s.InputSchema)
	if err != nil { // such a tool can't be called
		return json.RawMessage(s.InputSchema)
	}
	if s.Pin == nil {
		text = planned.Get().ReplaceAll(text, []byte("the values themselves"))
	}
	return text
}

// callTool returns the definition with which the model proposes a call, naming the tools; false if there are none.
func (t Turn) callTool() (model.Tool, bool, error) {
	all, _ := t.callables()
	if len(all) == 0 {
		return model.Tool{}, false, nil
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	shape, err := inputOf(agent.ToolCall, func(properties map[string]json.RawMessage) error {
		enum, err := json.Marshal(names)
		properties["tool"] = json.RawMessage(`{"type":"string","description":"One of the tools in <tools>.","enum":` +
			string(enum) + `}`)
		return err
	})
	return model.Tool{Name: string(agent.ToolCall), Description: descriptions[agent.ToolCall], Schema: shape}, true, err
}

// told returns the part in which the model reads what the tools do, apart from what people say. JSON escapes every <,
// so no text in it can end the fence.
func (t Turn) told() ([]model.Part, error) {
	all, left := t.callables()
	if len(all) == 0 {
		return nil, nil
	}
	list := make([]any, 0, len(all)+1)
	for _, c := range all {
		list = append(list, c)
	}
	if left > 0 {
		list = append(list, map[string]string{"not_shown": fmt.Sprintf("%d more tools, which you can't call", left)})
	}
	b, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("write the tools: %w", err)
	}
	return []model.Part{{Text: "<tools>\n" + string(b) + "\n</tools>"}}, nil
}
