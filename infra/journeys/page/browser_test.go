package page

import (
	"strings"
	"testing"
	"unicode"

	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// words is what people write and read in one language.
type words struct {
	locale, attendance, staff                     string
	policy, steps, approved, done, summary        string
	reason, more, required, rejected, next        string
	cancel, cancelled, onlyYou, accepted          string
	stop, waits, stopped, newcomer, welcome, long string
	check, faster                                 string
}

var japanese = words{locale: "ja", attendance: "今月の勤怠をまとめて", staff: "従業員一覧を取得して", policy: "📝 実行方針",
	steps: "⚙️ 実行ステップ", approved: "(承認済み)", done: "✅ 実行完了", summary: "従業員 42 名を確認しました。", reason: "もっと簡潔に",
	more: "お願いします", required: "この項目は必須です", rejected: "理由: もっと簡潔に お願いします", next: "新しいバージョン v2 が生成されました",
	cancel: "キャンセル・終了", cancelled: "によりキャンセルされました", onlyYou: "あなただけに表示されています", accepted: "依頼をキャンセルしました。",
	stop: "実行を中止しますか?", waits: "実行前の確認を待っています", stopped: "により中止されました", check: "🔍 実行前の確認", faster: "承認しました",
	long: "従業員一覧を取得して、DM は不要", newcomer: webapi.Guest, welcome: "HR AI Agent です。業務を依頼してください。"}

var english = words{locale: "en", attendance: "Summarize this month's attendance", staff: "Get the list of employees",
	policy: "📝 Policy", steps: "⚙️ Steps", approved: " (approved)", done: "✅ Completed", summary: "42 employees",
	reason: "Make it shorter", more: "please", required: "This field is required",
	rejected: "Reason: Make it shorter please", next: "v2 is ready", cancel: "Cancel or end", cancelled: "Cancelled by",
	onlyYou: "Only visible to you", accepted: "The request is cancelled.", stop: "Stop this run?",
	waits: "needs a check before it runs", stopped: "Stopped by", check: "🔍 Check before running",
	faster: "already approved this", long: "Get the list of employees, no DM", newcomer: webapi.Sato,
	welcome: "This is Ringi. Tell me what you need done."}

// stories are what people do with the sandbox, and what they see.
var stories = []struct {
	name string
	live func(*visitor)
}{
	{"the first page", func(v *visitor) {
		v.becomes(v.words.newcomer) // new to Ringi: the person is greeted, and may choose a sample request
		v.Press(v.menu(`[data-focus="` + webapi.DirectMessage(v.words.newcomer) + `"]`))
		v.Until(`[...document.querySelectorAll(".text-body")].some((m) => ` +
			`m.innerText.includes(` + browser.Quote(v.words.welcome) + `))`)
		v.Until(`document.querySelectorAll(".suggestion").length === 4 && ` +
			`document.querySelector(".suggestion").innerText.includes(` + browser.Quote(v.words.attendance) + `)`)
		v.looks("first-page")
		v.becomes(v.requester)
		v.Press(v.menu(`[data-focus="` + v.channel + `"]`))
	}},
	{"two stamps and it is done", func(v *visitor) {
		v.asks(v.words.attendance)
		v.becomes(v.approver)
		v.sees(v.words.policy)
		v.looks("policy")
		v.presses("approve_prompt")
		v.sees(v.words.steps)
		v.looks("steps")
		v.presses("approve_process")
		v.sees(v.words.done)
		v.sees(v.words.summary)
		v.sees(v.words.steps + v.words.approved)
		v.lacks(v.button("approve_prompt"))
		v.lacks(v.button("approve_process"))
		v.looks("done")
	}},
	{"a reason makes version 2", func(v *visitor) {
		v.asks(v.words.staff)
		v.becomes(v.approver)
		v.presses("reject_prompt")
		v.Until(`document.activeElement?.matches("dialog.modal[open] textarea")`)
		v.looks("form")
		v.Keys(kb.Escape)
		v.lacks("dialog")
		// the keyboard is where it was
		v.Until(`document.activeElement?.matches(` + browser.Quote(v.button("reject_prompt")) + `)`)
		v.presses("reject_prompt")
		v.Press(`dialog button[type="submit"]`)
		v.Until(`document.querySelector("dialog .error")?.innerText.includes(` + browser.Quote(v.words.required) + `)`)
		v.Until(`document.activeElement?.matches("dialog textarea[aria-invalid=true]")`)
		v.looks("form-empty")
		v.Keys(v.words.reason)
		v.Keys(kb.Enter) // a new line, as in Slack
		v.Keys(v.words.more)
		v.Until(`document.querySelector("dialog textarea").value.includes("\n") && document.querySelector("dialog ` +
			`.error").hidden`)
		v.Chord([]rune(kb.Enter)[0], kb.ModifierCtrl)
		v.lacks("dialog")
		v.sees(v.words.rejected)
		v.sees(v.words.next)
		v.Until(`document.querySelectorAll(` + browser.Quote(v.button("approve_prompt")) + `).length === 1`)
		v.looks("version-2")
	}},
	{"cancelled from the menu", func(v *visitor) {
		v.asks(v.words.staff)
		v.sees(v.words.policy)
		v.Until(`document.querySelector(` + browser.Quote(v.button("approve_prompt")) + `)`)
		more := `.msg:has(` + v.button("approve_prompt") + `) [data-focus="more"]`
		v.opens(more)
		v.Until(`document.activeElement?.matches("[role=menuitem]")`)
		v.looks("menu")
		v.Keys(kb.Escape)
		v.lacks(".menu")
		v.Until(`document.activeElement?.matches(` + browser.Quote(more) + `)`)
		v.does(func() {
			v.opens(more)
			v.Keys(kb.ArrowUp + kb.ArrowUp + kb.ArrowUp) // once round, to the first
			v.Tab.Until(`document.activeElement?.innerText.includes(` + browser.Quote(v.words.cancel) + `)`)
			v.Keys(kb.Enter)
		})
		v.Until(`document.querySelector("dialog.modal[open] button[type=submit]")`)
		v.looks("cancel-asks")
		v.Press(`dialog.modal button[type="submit"]`)
		v.lacks("dialog")
		v.sees(v.words.cancelled)
		v.lacks(v.button("approve_prompt"))
		v.Until(`document.querySelector(".whisper")?.innerText.includes(` + browser.Quote(v.words.accepted) +
			`) && document.querySelector(".only-you").innerText.includes(` + browser.Quote(v.words.onlyYou) + `)`)
		v.looks("cancelled")
		v.Press(".whisper .link")
		v.lacks(".whisper")
	}},
	{"stopped while it runs", func(v *visitor) {
		v.asks(v.words.staff + " demo: human check")
		v.becomes(v.approver)
		v.presses("approve_prompt")
		v.presses("approve_process")
		v.sees(v.words.waits)
		// the last card: nothing moves any more
		v.Until(`document.querySelector(` + browser.Quote(v.button("approve_step")) + `)`)
		v.presses("cancel_execution")
		v.Until(`document.querySelector("dialog.confirm[open] h2")?.innerText === ` + browser.Quote(v.words.stop))
		v.looks("stop")
		v.Keys(kb.Escape)
		v.lacks("dialog")
		v.presses("cancel_execution")
		v.Press("dialog.confirm footer .btn") // the first says no
		v.lacks("dialog")
		v.Until(`document.querySelector(` + browser.Quote(v.button("cancel_execution")) + `)`)
		v.does(func() {
			if stops := v.button("cancel_execution"); v.has(stops) {
				v.opens(stops)
				v.Tab.Until(`document.activeElement?.matches("dialog.confirm .danger")`)
				v.Keys(kb.Enter)
			}
		})
		v.sees(v.words.stopped)
		v.lacks(v.button("cancel_execution"))
		v.lacks(v.button("approve_step"))
		v.looks("stopped")
	}},
	{"the panel and the faults", func(v *visitor) {
		v.Press("#open-faults")
		v.Until(`document.querySelectorAll("dialog.faults .switch").length === 5`)
		v.looks("faults")
		v.Keys(kb.Escape)
		v.lacks("dialog")
		if v.Press(`[data-focus="run"]`); !v.phone { // a wide window shows it from the beginning
			v.lacks(".panel:not([hidden])")
			v.Press(`[data-focus="run"]`)
		}
		v.Press(".now")
		v.Until(`document.querySelectorAll(".panel .step").length > 3 && document.querySelectorAll(".panel .row").length > 3`)
		v.Until(`document.querySelector(".usage")?.innerText.includes("$")`)
		v.looks("run")
		v.Press(".panel-head > .icon-btn")
	}},
}

// TestInTheBrowser: Japanese on a phone, and the first stories in English on a desktop; at night all stories in both
// languages on both devices.
func TestInTheBrowser(t *testing.T) {
	s := start(t)
	b := browser.Start(t)
	for _, w := range []words{japanese, english} {
		driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = w.locale })
		t.Run(w.locale, func(t *testing.T) {
			for name, window := range map[string]browser.Window{
				"desktop": {Width: 1440, Height: 900, Calm: true}, "phone": {Width: 390, Height: 844, Phone: true, Calm: true},
			} {
				if !expect.Long() && window.Phone != (w.locale == "ja") {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					v := visit(t, b, s, w, window)
					for i, story := range stories {
						if !expect.Long() && !window.Phone && i > 2 {
							break
						}
						if !t.Run(story.name, func(t *testing.T) { story.live(v.with(t)) }) {
							return // the page is in an unknown state
						}
					}
					v.Clean()
				})
			}
		})
	}
}

// said writes a request of several lines at once; typed, the first line break would send it.
func (v *visitor) said(text string) {
	v.t.Helper()
	v.d = driver.Say(v.t, v.s, v.requester, v.channel, "<@"+webapi.Bot+"> "+text)
}

// shows waits until the open dialog has a text.
func (v *visitor) shows(text string) {
	v.t.Helper()
	v.Until(shown(text))
}

func shown(text string) string {
	return `document.querySelector("dialog.modal[open]")?.innerText.includes(` + browser.Quote(text) + `)`
}

// aLongGateIsReadToItsEnd: content too long for a card can only be approved in its dialog; later people are told who
// decided first.
func aLongGateIsReadToItsEnd(v *visitor) {
	v.t.Cleanup(v.s.Vendors.AddEmployees(118)) // 160 people: more rows than a card shows
	v.said(v.words.long + " demo: human check")
	v.becomes(v.approver)
	v.presses("approve_prompt")
	v.presses("approve_process")
	v.Until(`document.querySelector(` + browser.Quote(v.button("review_step")) + `)`)
	v.lacks(v.button("approve_step"))
	v.looks("long-gate")

	late := []string{v.requester, v.third} // have read it too, and have the dialog open
	for _, user := range late {
		v.hasRead(user, "CARD#step#0001#001#02")
	}

	v.presses("review_step")
	v.shows("B0118")
	v.looks("read-first")
	v.Eval(`document.querySelector("dialog .modal-body").scrollTop = 1e6`)
	v.looks("read-end")
	v.approves()
	v.lacks("dialog")
	v.sees(v.words.check + strings.TrimRight(v.words.approved, ")")) // (approved), or soon (approved → completed)
	v.sees(v.words.done)
	v.lacks(v.button("review_step"))
	v.looks("read-approved")
	a := v.d.Load()
	g := a.Gates[0]
	expect.That(v.t, g.Status == aggregate.Approved && g.ApprovedBy == v.approver, "%s by %s", g.Status, g.ApprovedBy)

	faster := `[...document.querySelectorAll(".whisper")].some(w => ` +
		`w.innerText.includes(` + browser.Quote(v.words.faster) + `))`
	for _, user := range late { // a person whose decision could not be saved can't open it again: ask the next
		v.becomes(user)
		v.Press(submit)
		v.Until(`(` + faster + `) || (` + complaint + `) === "closed"`)
		if browser.Read[bool](v.Tab, faster) {
			v.lacks("dialog")
			v.looks("read-late")
			return
		}
		v.Press(modal + ` footer .btn`)
		v.Tab.Until(`!document.querySelector("dialog")`)
	}
	v.t.Error("nobody was told that somebody was faster")
}

// approves submits the dialog that was read; if nothing was saved, it reads the dialog again.
func (v *visitor) approves() {
	v.t.Helper()
	v.again = func() {
		v.presses("review_step")
		v.shows("B0118")
		v.approves()
	}
	v.Press(submit)
}

// hasRead has a person open a gate's dialog on the card with this key.
func (v *visitor) hasRead(user, key string) {
	v.t.Helper()
	v.d.Click(user, key, card.ReviewAction+"step")
	v.t.Cleanup(func() { // a person's dialogs are open in all of their windows
		for _, open := range v.s.Sandbox.Views(user) {
			_ = v.s.Sandbox.CloseView(user, open.ID)
		}
	})
	expect.Eventually(v.t, "a reader has the dialog", func() bool {
		open := v.s.Sandbox.Views(user)
		return len(open) == 1 && open[0].Submit != nil
	})
}

// TestReadingInTheBrowser is like TestInTheBrowser, for what people have to read.
func TestReadingInTheBrowser(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { // three people decide, one of them the requester
		x.Approvers, x.AllowSelfApproval = tenancy.DefaultSettings().Approvers, true
	})
	b := browser.Start(t)
	for _, w := range []words{japanese, english} {
		driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = w.locale })
		window := browser.Window{Width: 1440, Height: 900, Calm: true}
		if w.locale == "ja" {
			window = browser.Window{Width: 390, Height: 844, Phone: true, Calm: true}
		}
		t.Run(w.locale, func(t *testing.T) {
			if w.locale != "ja" {
				expect.AtNight(t)
			}
			v := visit(t, b, s, w, window)
			t.Run("a gate that is read to its end", func(t *testing.T) { aLongGateIsReadToItsEnd(v.with(t)) })
		})
	}
}

// The tour of README.md by somebody whose browser is in English: everything is in English, and names are in Latin
// letters.
func TestANewcomersTour(t *testing.T) {
	expect.AtNight(t)
	o := driver.Options()
	o.Sandbox.Language, o.PrepareTeam = "", driver.UsualSettings
	s := expect.Value(stack.Start(t.Context(), o))(t)
	t.Cleanup(s.Close)
	v := &visitor{t: t, s: s, words: english, channel: webapi.HR, requester: webapi.Sato, approver: webapi.Suzuki,
		Tab: browser.Start(t).Open(t, s.URL, browser.Window{Width: 1440, Height: 900, Calm: true, Language: english.locale})}
	v.Until(`document.querySelector("#composer-main") && document.documentElement.lang === "en"`)
	v.asks("Overtime for Sales for last month")
	v.sees(english.policy)
	v.sees("👉 Now: one of @Ichiro Suzuki, @Megumi Tanaka")
	v.becomes(webapi.Suzuki)
	v.presses("approve_prompt")
	v.presses("approve_process")
	v.sees(english.done)
	v.sees("“Attendance 2026”")
	v.latin()
	sheet := browser.Read[string](v.Tab, `document.querySelector('.card a[href*="/sheets/"]').href`)
	v.Clean()
	v.Visit(sheet)
	v.latin()
}

// latin expects a page whose text has Latin letters only, but for the name of the other language.
func (v *visitor) latin() {
	v.t.Helper()
	v.Until(`document.querySelector("body")`)
	text := strings.ReplaceAll(browser.Read[string](v.Tab, `document.body.innerText`), "日本語", "")
	for line := range strings.Lines(text) {
		expect.That(v.t, !strings.ContainsFunc(line, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		}), "not in Latin letters: %s", line)
	}
}
