package turn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// offerRequest is the tool with which an agent offers a request that a person makes.
const offerRequest = "offer_request"

// noMoreReads refuses a read after the last one that a turn may make.
const noMoreReads = "no more reads are possible in this turn: answer with what you have, and say what you did not see"

// oneAtATime refuses a proposal while another action is not finished.
const oneAtATime = "another action waits for a decision or is under way, and there is one at a time: tell the people"

// Limits of the texts that accompany a payload, in characters.
const (
	MaxSummary = conversation.MaxSummary
	MaxRequest = 4000
)

var descriptions = map[tenancy.ActionType]string{
	tenancy.CodeGenerate: "Propose changes of the conversation's workspace: files to write whole, edits of files that " +
		"are there, and deletions. A person sees the difference whole and decides.",
	tenancy.TestRun: "Propose a run of tests in the workspace. A person sees the command and decides, unless an " +
		"administrator's rule allows it.",
	tenancy.ShellCommand: "Propose a shell script to run in the workspace, without network. A person sees all of it and " +
		"decides.",
	tenancy.ToolCall: "Call one tool in <tools>. What reads is called at once, and you get the result afterwards, with " +
		"e-mail addresses, phone numbers and My Numbers masked; each argument has to be a choice, a number or a date, or " +
		"to stand word for word in what people wrote. A pull request waits for a person's decision.",
}

// may reports whether the agent may propose this type of action here. Commands need a sandbox, calls a tool.
func (t Turn) may(x tenancy.ActionType) bool {
	switch x {
	case tenancy.CodeGenerate:
		return t.Agent.May(x)
	case tenancy.ToolCall:
		all, _ := t.callables()
		return len(all) > 0
	}
	return t.Agent.May(x) && t.MaySandbox
}

// tools returns the tools that the turn offers. offerRequest is always among them, because vendors require tools if the
// history has calls.
func (t Turn) tools() ([]model.Tool, error) {
	var out []model.Tool
	for _, x := range tenancy.ActionTypes {
		if !t.may(x) || x == tenancy.ToolCall {
			continue
		}
		shape, err := inputOf(x, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, model.Tool{Name: string(x), Description: descriptions[x], Schema: shape})
	}
	if call, any, err := t.callTool(); err != nil {
		return nil, err
	} else if any {
		out = append(out, call)
	}
	if t.Files != nil {
		out = append(out, readTools...)
	}
	return append(out, model.Tool{
		Name: offerRequest, Description: "Offer a formal request (稟議) of what was agreed, when the people ask for that. A " +
			"person makes it by a button. It then goes through the usual approvals as a task of its own.",
		Schema: json.RawMessage(`{"type":"object","properties":{"request":{"type":"string",` +
			`"description":"The whole request in the people's language, understandable without the conversation"}},` +
			`"required":["request"],"additionalProperties":false}`),
	}), nil
}

// inputOf returns the schema of a payload with an additional summary for people. change may replace properties.
func inputOf(x tenancy.ActionType, change func(map[string]json.RawMessage) error) (json.RawMessage, error) {
	text, err := conversation.Schema(x)
	if err != nil {
		return nil, err
	}
	var shape struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional bool                       `json:"additionalProperties"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, fmt.Errorf("read the schema of %s: %w", x, err)
	}
	if change != nil {
		if err := change(shape.Properties); err != nil {
			return nil, fmt.Errorf("write the schema of %s: %w", x, err)
		}
	}
	shape.Properties["summary"] = json.RawMessage(
		`{"type":"string",` +
			`"description":"What it does and why, in one sentence for the people who decide, in their language"}`)
	shape.Required = append(shape.Required, "summary")
	return json.Marshal(shape)
}

// judged is the result of checking a call: a proposal, a request that is offered, or problems.
type judged struct {
	proposal *Proposal
	request  string
	problems []string // the model reads them to repair the call
	code     Code
}

// judge checks a call, because no part of a model's answer is used unchecked.
func (t Turn) judge(c model.Call, offered []model.Tool) judged {
	i := slices.IndexFunc(offered, func(t model.Tool) bool { return t.Name == c.Name })
	switch {
	case i < 0 && t.Files != nil && reads(c.Name):
		return judged{problems: []string{noMoreReads}}
	case i < 0:
		return judged{code: NotSupported, problems: []string{fmt.Sprintf("there is no tool %.50q here", c.Name)}}
	}
	value, err := tool.Decode(c.Input)
	if err != nil {
		return judged{code: Invalid, problems: []string{"the arguments are " + err.Error()}}
	}
	shape, err := tool.CompileSchema(c.Name, string(offered[i].Schema))
	if err != nil {
		return judged{code: Invalid, problems: []string{err.Error()}}
	}
	var problems []string
	for _, p := range shape.Check(value) {
		problems = append(problems, p.String())
	}
	if len(problems) > 0 {
		return judged{code: Invalid, problems: problems[:min(len(problems), 20)]}
	}
	if c.Name != offerRequest {
		return t.judgeAction(tenancy.ActionType(c.Name), c.Input)
	}
	var x struct{ Request string }
	if err := json.Unmarshal(c.Input, &x); err != nil {
		return judged{code: Invalid, problems: []string{"request must be a text"}}
	}
	text := strings.TrimSpace(language.Visible(x.Request))
	if n := utf8.RuneCountInString(text); !language.Legible(text) || n > MaxRequest {
		return judged{code: Invalid, problems: []string{fmt.Sprintf("request has %d characters, it must have 1 to %d", n,
			MaxRequest)}}
	}
	return judged{request: text}
}

func (t Turn) judgeAction(x tenancy.ActionType, input json.RawMessage) judged {
	if t.Busy {
		return judged{code: Invalid, problems: []string{oneAtATime}}
	}
	var said struct{ Summary string }
	var fields map[string]json.RawMessage
	err := cmp.Or(json.Unmarshal(input, &said), json.Unmarshal(input, &fields))
	if err != nil {
		return judged{code: Invalid, problems: []string{"the arguments can't be read: " + err.Error()}}
	}
	delete(fields, "summary")
	rest, err := json.Marshal(fields)
	if err != nil {
		return judged{code: Invalid, problems: []string{"the arguments can't be read: " + err.Error()}}
	}
	p, problems := conversation.ReadPayload(x, rest)
	proposed := p.JSON()
	if problems == nil && t.Complete != nil {
		p, problems = t.Complete(x, p)
	}
	summary := line(said.Summary)
	if n := utf8.RuneCountInString(summary); !language.Legible(summary) || n > MaxSummary {
		problems = append(problems, fmt.Sprintf("summary has %d characters, it must have 1 to %d", n, MaxSummary))
	}
	if len(problems) > 0 {
		return judged{code: Invalid, problems: problems[:min(len(problems), 20)]}
	}
	return judged{proposal: &Proposal{Type: x, Payload: proposed, Decoded: p, Summary: summary}}
}

// Limits of the tools of vendors that a turn offers. How many more there are is all that is said of others.
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
	if t.Calls == nil || !t.Agent.May(tenancy.ToolCall) {
		return nil, 0
	}
	size := 0
	for _, s := range t.Calls.All() {
		c := callable{Name: s.Name, Access: s.Access, Description: language.VisibleCode(s.Description),
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
	text, err := tool.InlineSchema(s.InputSchema)
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
	shape, err := inputOf(tenancy.ToolCall, func(properties map[string]json.RawMessage) error {
		enum, err := json.Marshal(names)
		properties["tool"] = json.RawMessage(`{"type":"string","description":"One of the tools in <tools>.","enum":` +
			string(enum) + `}`)
		return err
	})
	name := tenancy.ToolCall
	return model.Tool{Name: string(name), Description: descriptions[name], Schema: shape}, true, err
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
