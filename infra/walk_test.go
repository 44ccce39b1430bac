package infra_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

const (
	requester = "U0REQUESTER"
	policy    = "目的: 4 月の勤怠をまとめます。\n1. 従業員一覧を取得します。\n2. スプレッドシート hr-sheet の「4月」タブに書き込みます。\n3. 依頼者、U0KEIRI001、" +
		"jinji@example.com に知らせます。"
)

// obedient is a model that answers as the attacker wants, and harmlessly when it is asked again.
type obedient struct {
	attack attack
	asked  []model.Request
}

func (o *obedient) Say(_ context.Context, r model.Request) (model.Response, error) {
	o.asked = append(o.asked, r)
	text := o.attack.text
	if len(r.Messages) > 1 {
		text = "件名"
		if o.attack.who == aModel || o.attack.who == aMessage {
			text += " " + language.First(o.attack.text, 100)
		}
	} else if o.attack.who == anAnswer {
		return model.Response{Text: text, Stop: model.StopEnd}, nil
	} else if r.Purpose == model.Planning && (o.attack.who == aStep || o.attack.who == aReference) {
		return model.Response{Text: jsonOf(map[string]any{"steps": []any{listing("一覧"), o.attack.step()}, "missing": []any{},
			"remarks": ""}), Stop: model.StopEnd}, nil
	}
	if o.attack.who == aPolicy && r.Purpose == model.Drafting && len(r.Messages) == 1 {
		return model.Response{Text: jsonOf(map[string]any{"policy": text, "title": "件名"}), Stop: model.StopEnd}, nil
	}
	if o.attack.must != nil {
		text = "件名" // the attack is the form of the answer, not its words
	}
	return model.Response{Text: jsonOf(o.words(r.Purpose, text)), Stop: model.StopEnd}, nil
}

// words returns a valid answer with the text in every text field.
func (o *obedient) words(p model.Purpose, text string) any {
	switch p {
	case model.Extracting:
		return map[string]any{"kind": "task", "sentence": "", "title": language.First(text, model.MaxTitle),
			"description": language.First(text, model.MaxDescription), "priority": "medium", "task_type": "standard"}
	case model.Drafting:
		return map[string]any{"policy": policy + "\n" + language.First(text, 2000),
			"title": language.First(text, model.MaxTitle)}
	case model.Summarizing:
		return map[string]any{"summary": language.First(text, model.MaxSummary)}
	}
	tab := "4月"
	if o.attack.who == aTab {
		tab = language.First(text, 100)
	}
	write := plannedStep(2, text, "write_rows_to_google_sheet", map[string]any{
		"spreadsheet_id": "hr-sheet", "sheet": tab, "columns": []any{map[string]any{"key": "display_name",
			"title": "氏名"}}, "rows": map[string]any{"$ref": "step-1.result.employees"},
	})
	write["requiresHumanCheck"] = true
	return map[string]any{"steps": []any{listing(text), write, notice(3, text)}, "missing": []any{},
		"remarks": language.First(text, model.MaxRemarks)}
}

func plannedStep(n int, text, name string, input any) map[string]any {
	return map[string]any{
		"stepId": "step-" + string(rune('0'+n)), "order": n, "title": language.First(text,
			model.MaxTitle), "tool": name, "toolInput": jsonOf(input),
		"description": language.First(text, model.MaxStepText), "expectedOutput": language.First(text,
			model.MaxStepText), "requiresHumanCheck": false,
	}
}

func listing(text string) map[string]any {
	return plannedStep(1, text, "list_employees", map[string]any{"status": "active", "department": nil})
}

func notice(n int, text string) map[string]any {
	return plannedStep(n, text, "send_slack_dm", map[string]any{"recipient": requester, "text": "完了しました",
		"details": []any{}})
}

// step returns a step that notifies the requester, with the attack's members or reference.
func (a attack) step() map[string]any {
	s := notice(2, "完了通知")
	if a.who == aReference {
		s["toolInput"] = jsonOf(map[string]any{"recipient": requester, "text": map[string]any{"$ref": a.text},
			"details": []any{}})
		return s
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.text), &members); err != nil {
		panic(err) // of the table
	}
	for name, v := range members {
		s[name] = v
		if name == "toolInput" {
			s[name] = string(v)
		}
	}
	return s
}

func jsonOf(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // of texts
	}
	return b.String()
}

// tools returns Ringi's own tools, and one of an MCP server that an administrator allowed.
func (a attack) tools(t *testing.T) *tool.Catalog {
	t.Helper()
	c := expect.Value(tool.Builtin())(t)
	pin := tenancy.Pin{URL: "https://notes.example/mcp", Title: "Post", Description: "Posts a note.", Hash: "h",
		Input: `{"type":"object","additionalProperties":false,"required":["to","body"],` +
			`"properties":{"to":{"type":"string"},"body":{"type":"string"}}}`}
	if a.who == aServer {
		pin.Title, pin.Description = language.First(a.text, 100), a.text
	}
	for name, effect := range map[string]aggregate.Access{"notes.post": aggregate.Write, "notes.find": aggregate.Read} {
		pin := pin
		pin.Access = effect
		s, ok := tool.Pinned(tenancy.ToolPermission{ToolName: name, Allowed: true, Pin: &pin},
			[]tenancy.MCPServer{{Name: "notes", URL: pin.URL}})
		expect.Must(t, ok, "the server's tool is not allowed")
		c = expect.Value(c.With(s))(t)
	}
	return c
}

func start() time.Time { return time.Date(2026, 4, 30, 1, 0, 0, 0, time.UTC) }

// walk takes one request through all layers, using only the domain's decisions.
type walk struct {
	*testing.T
	attack attack
	model  *obedient
	a      *task.Aggregate
	now    time.Time
	steps  []task.Step
	made   []string                // what models wrote into rows
	cards  map[string]card.Message // by stage and key
}

var (
	approver = aggregate.Actor{Type: aggregate.ActorUser, ID: "U0APPROVER", Team: "T1", Member: true}
	rules    = aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}
)

// do commits a decision, and renders every card afterwards.
func (w *walk) do(stage string, c aggregate.Change, err error) {
	w.Helper()
	expect.Must(w, err == nil, "%s: %v", stage, err)
	w.a, w.now = w.a.Apply(c), w.now.Add(time.Second)
	for _, x := range w.a.Cards {
		w.cards[stage+" "+x.Key()] = card.Render(w.a, x, tenancy.DefaultSettings(), card.Around{}, w.now)
	}
}

// said returns the attacker's text if the attack speaks as who, otherwise a harmless one.
func (w *walk) said(who speaker) string {
	if w.attack.who == who {
		return w.attack.text
	}
	return "山田太郎"
}

func walkWith(t *testing.T, x attack) *walk {
	t.Helper()
	w := &walk{T: t, attack: x, model: &obedient{attack: x}, now: start(), cards: map[string]card.Message{}}
	w.ask()
	w.plan()
	if x.must == nil {
		w.execute()
	}
	return w
}

// ask rejects a first policy and approves a second.
func (w *walk) ask() {
	w.Helper()
	c, ref, err := task.Receive("01TENANT", task.Request{TeamID: "T1", Text: w.said(aMessage), User: requester,
		Channel: "C0HR", ChannelType: "channel", MessageTS: "1776522792.000100", ThreadTS: "1776522792.000100"}, w.now)
	w.a = &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1, Requester: requester},
		TaskID: ref.ID}}
	w.do("received", c, err)
	e, _, err := model.Extract(w.Context(), w.model, model.ExtractInput{Text: w.said(aMessage),
		Thread: []model.Said{{User: "U0OTHER001", Text: w.said(aThread)}}, Locale: "ja", Now: w.now})
	expect.NoError(w, err)
	w.made = append(w.made, e.Title, e.Description)
	c, err = w.a.Extracted(1, e, w.now)
	w.do("extracted", c, err)
	var earlier []model.Version
	for _, stage := range []string{"first policy", "policy"} {
		c, err = w.a.BeginPrompt(w.a.Head.Run, w.now)
		w.do(stage+" begun", c, err)
		made, _, err := model.Draft(w.Context(), w.model, model.DraftInput{Task: *w.a.Task, Request: w.said(aMessage),
			Earlier: earlier, Locale: "ja", Now: w.now, Fits: card.PromptFits})
		expect.NoError(w, err)
		w.made = append(w.made, made.Content)
		if made.Title != "" { // the title stays
			w.made = append(w.made, made.Title)
		}
		c, err = w.a.FinishPrompt(w.a.Head.Run, made, tenancy.DefaultSettings(), w.now)
		w.do(stage, c, err)
		if len(earlier) > 0 {
			break
		}
		earlier = []model.Version{{Content: made.Content, Reason: w.said(aReason)}}
		c, err = decide.Reject(w.said(aReason))(w.a, w.a.Prompt().ID, approver, rules, w.now)
		w.do(stage+" rejected", c, err)
	}
	c, err = decide.Approve(w.a, w.a.Prompt().ID, approver, rules, w.now)
	w.do("policy approved", c, err)
}

func (w *walk) plan() {
	w.Helper()
	c, err := w.a.BeginProcess(w.a.Head.Run, w.now)
	w.do("steps begun", c, err)
	w.steps, _, _, err = model.Plan(w.Context(), w.model, model.PlanInput{Task: *w.a.Task, Request: w.said(aMessage),
		Policy: w.a.Prompt().Content, Tools: w.attack.tools(w.T), Requester: requester, Locale: "ja", Now: w.now})
	expect.NoError(w, err)
	for _, s := range w.steps {
		w.made = append(w.made, s.Title, s.Description, s.ExpectedOutput)
	}
	c, err = w.a.FinishProcess(w.a.Head.Run, w.steps, "", tenancy.DefaultSettings(), w.now)
	w.do("steps", c, err)
	if w.a.Unopened() != nil { // others get messages
		w.now = w.now.Add(-time.Second)
		c, err = w.a.Open(w.a.Head.Run, w.a.Process().Key(), nil, tenancy.DefaultSettings(), w.now)
		w.do("steps", c, err)
	}
}

// execute runs the steps. The second waits for a person; the third first fails and, from the same state, also
// completes.
func (w *walk) execute() {
	w.Helper()
	c, err := decide.Approve(w.a, w.a.Process().ID, approver, rules, w.now)
	w.do("steps approved", c, err)
	c, err = w.a.StartExecution(w.a.Head.Run, task.Series{}, w.now)
	w.do("started", c, err)
	people := expect.Value(json.Marshal(map[string]any{"count": 1,
		"employees": []any{map[string]any{"display_name": w.said(aPerson)}}, "note": w.said(anOutput),
		"url": w.said(anOutput)}))(w)
	w.run(1, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: aggregate.JSON(people),
		Bytes: len(people)}})
	planned := expect.Value(tool.Parse(w.steps[1].ToolInput))(w)
	resolved := expect.Value(planned.Resolve(func(string) (json.RawMessage, error) { return people, nil }))(w)
	args := resolved.JSON()
	c, err = w.a.OpenStepGate(w.a.Head.Run, 2, aggregate.Blob{JSON: aggregate.JSON(args), Bytes: len(args)},
		aggregate.HashOf(string(args)), nil, w.now)
	w.do("asked", c, err)
	_, err = w.a.ClaimStep(w.a.Head.Run, w.call(2), w.now)
	expect.That(w, err != nil, "a step was claimed that nobody has approved")
	gate := w.a.Gates[0]
	c, err = decide.Approve(w.a, gate.ID, approver, rules, w.now)
	w.do("answered", c, err)
	w.run(2, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: `{"updated_rows":1}`}})
	world, at := w.a, w.now
	why := &explain.CallError{Outcome: explain.CallFailed, Problem: explain.ProblemRejected}
	detail := explain.FailedCall("ja", why.Problem, explain.Slack, 400, w.said(anError))
	w.run(3, task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: detail})
	_, err = w.a.CompleteExecution(w.a.Head.Run, "成功", w.now)
	expect.That(w, err != nil, "an execution was completed though a step failed")
	c, err = w.a.FailExecution(w.a.Head.Run, task.ReasonToolFailed, detail, w.now)
	w.do("failed", c, err)
	w.a, w.now = world, at
	w.run(3, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: `{"user":"U0REQUESTER"}`}})
	w.end(people)
}

// end completes the execution twice from the same state: with the model's summary, and with Ringi's own.
func (w *walk) end(people json.RawMessage) {
	w.Helper()
	in := model.SummaryInput{Task: *w.a.Task, Request: w.said(aMessage), Locale: "ja", Now: w.now,
		Steps: []model.StepResult{{StepID: "step-1", Title: w.steps[0].Title, Tool: "list_employees", Result: people}}}
	summary, _, err := model.Summarize(w.Context(), w.model, in)
	expect.NoError(w, err)
	world, at := w.a, w.now
	for stage, text := range map[string]string{"done": summary, "done without a model": model.Plain(in)} {
		w.a, w.now = world, at
		w.made = append(w.made, text)
		c, err := w.a.CompleteExecution(w.a.Head.Run, text, w.now)
		w.do(stage, c, err)
	}
}

func (w *walk) call(n int) task.Call {
	c := task.Call{Order: n, Arguments: aggregate.Blob{JSON: "{}"}, ArgumentsHash: "h",
		Claim:     aggregate.Claim{Invocation: "i", LeaseUntil: w.now.Add(time.Minute)},
		NeedsGate: w.steps[n-1].RequiresHumanCheck}
	if len(w.a.Gates) > 0 {
		c.ArgumentsHash = w.a.Gates[0].ArgumentsHash
	}
	return c
}

func (w *walk) run(n int, o task.Outcome) {
	w.Helper()
	c, err := w.a.ClaimStep(w.a.Head.Run, w.call(n), w.now)
	w.do("claimed "+w.steps[n-1].StepID, c, err)
	e := w.a.Execution()
	c, err = w.a.FinishStep(task.StepKey(e.ProcessVersion, e.Attempt, n), "i", o, w.now)
	w.do(string(o.Status)+" "+w.steps[n-1].StepID, c, err)
}
