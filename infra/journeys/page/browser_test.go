package page

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// What people ask for and read.
const (
	attendance, staff          = "今月の勤怠をまとめて", "従業員一覧を取得して"
	policy, planned, completed = "📝 実行方針", "⚙️ 実行ステップ", "✅ 実行完了"
)

// stories are what people do with the sandbox, and what they see.
var stories = []struct {
	name string
	live func(*visitor)
}{
	{"the first page", func(v *visitor) {
		v.becomes(webapi.Guest) // new to Ringi: the person is greeted, and may choose a sample request
		v.Press(v.menu(`[data-focus="` + webapi.DirectMessage(webapi.Guest) + `"]`))
		v.Until(`[...document.querySelectorAll(".text-body")].some((m) => ` +
			`m.innerText.includes(` + browser.Quote("HR AI Agent です。業務を依頼してください。") + `))`)
		v.Until(`document.querySelectorAll(".suggestion").length === 4 && ` +
			`document.querySelector(".suggestion").innerText.includes(` + browser.Quote(attendance) + `)`)
		v.looks("first-page")
		v.becomes(v.requester)
		v.Press(v.menu(`[data-focus="` + v.channel + `"]`))
	}},
	{"two stamps and it is done", func(v *visitor) {
		v.asks(attendance)
		v.becomes(v.approver)
		v.sees(policy)
		v.looks("policy")
		v.presses("approve_prompt")
		v.sees(planned)
		v.looks("steps")
		v.presses("approve_process")
		v.sees(completed)
		v.sees("従業員 42 名を確認しました。")
		v.sees(planned + "(承認済み)")
		v.lacks(v.button("approve_prompt"))
		v.lacks(v.button("approve_process"))
		v.looks("done")
	}},
	{"a reason makes version 2", func(v *visitor) {
		v.asks(staff)
		v.becomes(v.approver)
		v.presses("reject_prompt")
		v.Until(`document.activeElement?.matches("dialog.modal[open] textarea")`)
		v.looks("form")
		v.Keys("もっと簡潔に")
		v.Keys(kb.Enter) // a new line, as in Slack
		v.Keys("お願いします")
		v.Chord([]rune(kb.Enter)[0], kb.ModifierCtrl)
		v.lacks("dialog")
		v.sees("理由: もっと簡潔に お願いします")
		v.sees("新しいバージョン v2 が生成されました")
		v.Until(`document.querySelectorAll(` + browser.Quote(v.button("approve_prompt")) + `).length === 1`)
		v.looks("version-2")
	}},
	{"cancelled from the menu", func(v *visitor) {
		v.asks(staff)
		v.sees(policy)
		v.Until(`document.querySelector(` + browser.Quote(v.button("approve_prompt")) + `)`)
		v.does(func() {
			v.opens(`.msg:has(` + v.button("approve_prompt") + `) [data-focus="more"]`)
			v.Tab.Until(`document.activeElement?.matches("[role=menuitem]")`)
			v.Keys(kb.ArrowUp + kb.ArrowUp + kb.ArrowUp) // once round, to the first
			v.Tab.Until(`document.activeElement?.innerText.includes("キャンセル・終了")`)
			v.Keys(kb.Enter)
		})
		v.Until(`document.querySelector("dialog.modal[open] button[type=submit]")`)
		v.looks("cancel-asks")
		v.Press(`dialog.modal button[type="submit"]`)
		v.lacks("dialog")
		v.sees("によりキャンセルされました")
		v.lacks(v.button("approve_prompt"))
		v.Until(`document.querySelector(".whisper")?.innerText.includes("依頼をキャンセルしました。")`)
		v.looks("cancelled")
	}},
	{"stopped while it runs", func(v *visitor) {
		v.asks(staff + " demo: human check")
		v.becomes(v.approver)
		v.presses("approve_prompt")
		v.presses("approve_process")
		v.sees("実行前の確認を待っています")
		// the last card: nothing moves any more
		v.Until(`document.querySelector(` + browser.Quote(v.button("approve_step")) + `)`)
		v.does(func() {
			if stops := v.button("cancel_execution"); v.has(stops) {
				v.opens(stops)
				v.Tab.Until(`document.activeElement?.matches("dialog.confirm .danger")`)
				v.Keys(kb.Enter)
			}
		})
		v.sees("により中止されました")
		v.lacks(v.button("cancel_execution"))
		v.lacks(v.button("approve_step"))
		v.looks("stopped")
	}},
	{"the faults", func(v *visitor) {
		v.Press("#open-faults")
		v.Until(`document.querySelectorAll("dialog.faults .switch").length === 5`)
		v.looks("faults")
		v.Keys(kb.Escape)
		v.lacks("dialog")
	}},
	{"a gate that is read to its end", aLongGateIsReadToItsEnd},
}

// TestInTheBrowser: on a phone, and at night on a desktop, too.
func TestInTheBrowser(t *testing.T) {
	s, b := start(t), browser.Start(t)
	for name, window := range map[string]browser.Window{
		"desktop": {Width: 1440, Height: 900, Calm: true}, "phone": {Width: 390, Height: 844, Phone: true, Calm: true},
	} {
		if !expect.Long() && !window.Phone {
			continue
		}
		t.Run(name, func(t *testing.T) {
			v := visit(t, b, s, window)
			for _, story := range stories {
				if !t.Run(story.name, func(t *testing.T) { story.live(v.with(t)) }) {
					return // the page is in an unknown state
				}
			}
			v.Clean()
		})
	}
}

// shows waits until the open dialog has a text.
func (v *visitor) shows(text string) {
	v.t.Helper()
	v.Until(`document.querySelector("dialog.modal[open]")?.innerText.includes(` + browser.Quote(text) + `)`)
}

// aLongGateIsReadToItsEnd: content too long for a card can only be approved in its dialog.
func aLongGateIsReadToItsEnd(v *visitor) {
	more := slices.Repeat([]vendors.Person{{Name: "新人", Entry: "2020-04-01",
		Departments: [][2]string{{"2020-04-01", "HR"}}}}, 118) // 160 people: more rows than a card shows
	v.t.Cleanup(v.s.Vendors.AddPeople(more...))
	v.d = driver.Say(v.t, v.s, v.requester, v.channel, "<@"+webapi.Bot+"> 従業員一覧を取得して、DM は不要 demo: human check")
	v.becomes(v.approver)
	v.presses("approve_prompt")
	v.presses("approve_process")
	v.Until(`document.querySelector(` + browser.Quote(v.button("review_step")) + `)`)
	v.lacks(v.button("approve_step"))
	v.looks("long-gate")

	v.presses("review_step")
	v.shows("C0118")
	v.looks("read-first")
	v.Eval(`document.querySelector("dialog .modal-body").scrollTop = 1e6`)
	v.looks("read-end")
	v.approves()
	v.lacks("dialog")
	v.sees("🔍 実行前の確認(承認済み") // (approved), or soon (approved → completed)
	v.sees(completed)
	v.lacks(v.button("review_step"))
	v.looks("read-approved")
	a := v.d.Load()
	g := a.Gates[0]
	expect.That(v.t, g.Status == aggregate.Approved && g.ApprovedBy == v.approver, "%s by %s", g.Status, g.ApprovedBy)
}

// approves submits the dialog that was read; if nothing was saved, it reads the dialog again.
func (v *visitor) approves() {
	v.t.Helper()
	v.again = func() {
		v.presses("review_step")
		v.shows("C0118")
		v.approves()
	}
	v.Press(submit)
}
