package hostile

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/words/legible"
)

const (
	requester = "U0REQUESTER"
	policy    = "目的: 4 月の勤怠をまとめます。\n1. 従業員一覧を取得します。\n2. スプレッドシート hr-sheet の「4月」タブに書き込みます。\n3. 依頼者、U0KEIRI001、jinji@example.com に知らせます。"
)

// obedient is a model that answers as the attacker wants, and harmlessly when it is asked again.
type obedient struct {
	attack attack
	asked  []model.Request
}

func (o *obedient) Say(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	o.asked = append(o.asked, r)
	text := o.attack.text
	if len(r.Messages) > 1 {
		text = "件名"
		if o.attack.who == aModel || o.attack.who == aMessage {
			text += " " + legible.First(o.attack.text, 100)
		}
	} else if o.attack.who == anAnswer {
		return model.Response{Text: text, Stop: model.StopEnd}, nil
	} else if r.Purpose == model.Planning && (o.attack.who == aStep || o.attack.who == aReference) {
		return model.Response{Text: answer(map[string]any{"steps": []any{listing("一覧"), o.attack.step()}, "missing": []any{}, "remarks": ""}), Stop: model.StopEnd}, nil
	}
	if o.attack.who == aPolicy && r.Purpose == model.Drafting && len(r.Messages) == 1 {
		return model.Response{Text: answer(map[string]any{"policy": text}), Stop: model.StopEnd}, nil
	}
	if o.attack.must != nil {
		text = "件名" // the attack is the form of the answer, not its words
	}
	return model.Response{Text: answer(o.words(r.Purpose, text)), Stop: model.StopEnd}, nil
}

// words returns a valid answer with the text in every text field.
func (o *obedient) words(p model.Purpose, text string) any {
	switch p {
	case model.Extracting:
		return map[string]any{"kind": "task", "sentence": "", "title": legible.First(text, model.MaxTitle), "description": legible.First(text, model.MaxDescription), "priority": "medium", "task_type": "standard"}
	case model.Drafting:
		return map[string]any{"policy": policy + "\n" + legible.First(text, 2000)}
	case model.Summarizing:
		return map[string]any{"summary": legible.First(text, model.MaxSummary)}
	}
	tab := "4月"
	if o.attack.who == aTab {
		tab = legible.First(text, 100)
	}
	write := step(2, text, "write_rows_to_google_sheet", map[string]any{
		"spreadsheet_id": "hr-sheet", "sheet": tab, "columns": []any{map[string]any{"key": "display_name", "title": "氏名"}}, "rows": map[string]any{"$ref": "step-1.result.employees"},
	})
	write["requiresHumanCheck"] = true
	return map[string]any{"steps": []any{listing(text), write, notice(3, text)}, "missing": []any{}, "remarks": legible.First(text, model.MaxRemarks)}
}

func step(n int, text, name string, input any) map[string]any {
	return map[string]any{
		"stepId": "step-" + string(rune('0'+n)), "order": n, "title": legible.First(text, model.MaxTitle), "tool": name, "toolInput": answer(input),
		"description": legible.First(text, model.MaxStepText), "expectedOutput": legible.First(text, model.MaxStepText), "requiresHumanCheck": false,
	}
}

func listing(text string) map[string]any {
	return step(1, text, "list_employees", map[string]any{"status": "active", "department": nil})
}

func notice(n int, text string) map[string]any {
	return step(n, text, "send_slack_dm", map[string]any{"recipient": requester, "text": "完了しました", "details": []any{}})
}

// step returns a step that notifies the requester, with the attack's members or reference.
func (a attack) step() map[string]any {
	s := notice(2, "完了通知")
	if a.who == aReference {
		s["toolInput"] = answer(map[string]any{"recipient": requester, "text": map[string]any{"$ref": a.text}, "details": []any{}})
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

func answer(v any) string {
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
		Input: `{"type":"object","additionalProperties":false,"required":["to","body"],"properties":{"to":{"type":"string"},"body":{"type":"string"}}}`}
	if a.who == aServer {
		pin.Title, pin.Description = legible.First(a.text, 100), a.text
	}
	for name, effect := range map[string]aggregate.Access{"notes.post": aggregate.Write, "notes.find": aggregate.Read} {
		pin := pin
		pin.Access = effect
		s, ok := tool.Pinned(tenancy.ToolPermission{ToolName: name, Allowed: true, Pin: &pin}, []tenancy.MCPServer{{Name: "notes", URL: pin.URL}})
		expect.Must(t, ok, "the server's tool is not allowed")
		c = expect.Value(c.With(s))(t)
	}
	return c
}

func start() time.Time { return time.Date(2026, 4, 30, 1, 0, 0, 0, time.UTC) }
