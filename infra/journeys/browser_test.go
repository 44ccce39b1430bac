package journeys

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ringi/infra/journeys/desk"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/task"
)

// The first five minutes of a newcomer: a suggestion, two stamps, done work.
// With RINGI_SCREENSHOTS set to a folder, what was seen is kept there.
func TestANewcomerInTheBrowser(t *testing.T) {
	s := start(t)
	p := browser.Open(t, s.URL, 1440, 1000)
	shot := func(name string) {
		if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
			p.Screenshot(filepath.Join(dir, name+".png"))
		}
	}
	known := map[string]bool{}
	for _, m := range s.Sandbox.Messages(workspace.HR, "") {
		known[m.TS] = true
	}
	p.Click(`[data-person="` + workspace.Sato + `"]`)
	p.Eval(`document.querySelector("#composer-main").focus()`)
	p.Keys("@Ri")
	p.Until(`document.querySelector(".mentions li[aria-selected=true]")?.textContent.includes("Ringi")`)
	p.Keys(kb.Enter)
	p.Keys("今月の勤怠をまとめて")
	p.Keys(kb.Enter)
	var d *desk.Desk
	desk.Eventually(t, "the message is said", func() bool {
		for _, m := range s.Sandbox.Messages(workspace.HR, "") {
			if !known[m.TS] && m.User == workspace.Sato {
				d = desk.At(t, s, workspace.HR, m.TS)
			}
		}
		return d != nil
	})
	button := func(action string) string {
		return fmt.Sprintf(`[data-block-id=%q] [data-action=%q]`, d.Ref.Task, action)
	}
	p.Click(`[data-person="` + workspace.Suzuki + `"]`)
	p.Until(fmt.Sprintf("document.querySelector(%q)", button("approve_prompt")))
	shot("policy")
	p.Click(button("approve_prompt"))
	p.Until(fmt.Sprintf("document.querySelector(%q)", button("approve_process")))
	shot("steps")
	p.Click(button("approve_process"))
	d.Card("CARD#execution", "✅ 実行完了")
	p.Until(`document.body.textContent.includes("✅ 実行完了")`)
	d.Until("shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	shot("done")
	p.Clean()
}
