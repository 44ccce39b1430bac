package sandbox_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
)

// permissionPanel keeps rules as the local stack does; it refuses a channel's id as a person's.
type permissionPanel struct {
	mu    sync.Mutex
	rules []sandbox.Permission
}

func (b *permissionPanel) List(context.Context) ([]sandbox.Permission, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]sandbox.Permission{}, b.rules...), nil
}

func (b *permissionPanel) Save(_ context.Context, _ string, p sandbox.Permission) error {
	var c map[string]any
	if err := json.Unmarshal(p.Constraints, &c); err != nil {
		return err
	}
	if list, _ := c["recipients"].([]any); len(list) > 1 && list[1] == "#general" {
		return sandbox.FieldErrors{"constraints.recipients[1]": "must be a Slack user id"}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.rules {
		if b.rules[i].Tool == p.Tool {
			b.rules[i].Allowed, b.rules[i].Constraints = p.Allowed, p.Constraints
		}
	}
	return nil
}

// saved are a tool's rules as JSON.
func (b *permissionPanel) saved(tool string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.rules {
		if p.Tool == tool {
			text, err := json.Marshal(map[string]any{"allowed": p.Allowed, "constraints": p.Constraints})
			if err == nil {
				return string(text)
			}
		}
	}
	return ""
}

func TestRulesForToolsInTheBrowser(t *testing.T) {
	book := &permissionPanel{rules: []sandbox.Permission{
		{Tool: "send_slack_dm", Title: "完了通知", TitleEN: "Notify by DM", Allowed: true, Constraints: json.RawMessage(`{}`), Knows: []string{"recipients"}},
		{Tool: "write_rows_to_google_sheet", Title: "Sheet 書き込み", TitleEN: "Write to the sheet", Allowed: true, Constraints: json.RawMessage(`{"max_rows":500}`), Knows: []string{"max_rows", "spreadsheet_ids"}},
	}}
	w := newWorld(t, func(o *sandbox.Options) { o.Permissions = book })
	p := browser.Open(t, w.url, 1280, 800)
	p.Click("#open-settings")
	p.Until(`document.querySelector('[name="write_rows_to_google_sheet.max_rows"]')?.value === "500"`)
	fill := func(name, text string) {
		p.Eval(`(() => { const x = document.querySelector('[name="` + name + `"]'); x.focus(); x.select(); })()`)
		p.Keys(kb.Backspace)
		if text != "" {
			p.Keys(text)
		}
		p.Keys(kb.Tab)
	}
	saves := func(tool, want string) {
		t.Helper()
		eventually(t, tool+" has "+want, func() bool { return book.saved(tool) == want })
	}
	fill("send_slack_dm.recipients", "U0SANDSATO、 sato@example.com,")
	saves("send_slack_dm", `{"allowed":true,"constraints":{"recipients":["U0SANDSATO","sato@example.com"]}}`)
	fill("write_rows_to_google_sheet.max_rows", "41")
	saves("write_rows_to_google_sheet", `{"allowed":true,"constraints":{"max_rows":41}}`)
	p.Click(`[name="rule-write_rows_to_google_sheet"]`)
	saves("write_rows_to_google_sheet", `{"allowed":false,"constraints":{"max_rows":41}}`)

	fill("send_slack_dm.recipients", "U0SANDSATO, #general")
	p.Until(`document.querySelector('[data-field="rule-send_slack_dm"] .field-error')?.innerText.includes("must be a Slack user id")`)
	saves("send_slack_dm", `{"allowed":true,"constraints":{"recipients":["U0SANDSATO","sato@example.com"]}}`)
	fill("send_slack_dm.recipients", "")
	saves("send_slack_dm", `{"allowed":true,"constraints":{}}`)
	p.Until(`!document.querySelector(".field-error")`)

	p.Do(chromedp.EmulateViewport(390, 844))
	p.Until(`innerWidth === 390 && document.documentElement.scrollWidth <= innerWidth && document.querySelector("dialog.settings").scrollWidth <= innerWidth`)
	p.Until(`failures.length === 0`)
}
