package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

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
	v.said(v.words.quiet + " demo: human check")
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

func (v *visitor) rejects(action, reason string) {
	v.t.Helper()
	v.presses(action)
	v.Until(`document.querySelector("dialog textarea")`)
	v.Press("dialog textarea")
	v.Keys(reason)
	v.Press(submit)
	v.lacks("dialog")
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

// cardsOfOtherKinds checks the cards that no other story reaches.
func cardsOfOtherKinds(v *visitor) {
	v.becomes(v.requester)
	expect.NoError(v.t, driver.Rule(v.t, v.s, "write_rows_to_google_sheet", `{"spreadsheet_ids":["another"]}`))
	v.said(v.words.staff)
	v.becomes(v.approver)
	v.presses("approve_prompt")
	v.sees(": another)")
	v.looks("plan-lacks")
	expect.NoError(v.t, driver.Rule(v.t, v.s, "write_rows_to_google_sheet", `{}`))

	v.said(v.words.attendance + " demo: human check")
	v.presses("approve_prompt")
	v.presses("approve_process")
	v.Until(`document.querySelector(` + browser.Quote(v.button("approve_step")+", "+v.button(card.ReviewAction+"step")) +
		`)`) // many rows are read in a dialog
	v.looks("rows")

	v.said(v.words.staff)
	v.rejects("reject_prompt", v.words.reason)
	v.sees(v.words.next)
	v.Until(`document.querySelectorAll(` + browser.Quote(v.button("approve_prompt")) + `).length === 1`)
	v.presses("approve_prompt")
	v.rejects("reject_process", v.words.odd)
	v.sees(v.words.notTaken)
	v.looks("remarks")

	v.said(v.words.nowhere)
	v.presses("approve_prompt")
	v.presses("approve_process")
	v.sees("営業部, ")
	v.lacks(v.button("retry_execution"))
	v.looks("no-department")

	if now := time.Now(); now.Add(time.Minute).Hour() != now.Hour() {
		time.Sleep(time.Until(now.Truncate(time.Hour).Add(time.Hour))) // the two requests that follow are of one hour
	}
	v.said(v.words.staff)
	v.Until(`document.querySelector(` + browser.Quote(v.button("approve_prompt")) + `)`)
	v.d.SetRow("PROMPT#0001", "SET terms.decide_by = :v", time.Now().Add(-time.Minute))
	v.d.Sweep()
	v.lacks(v.button("approve_prompt"))
	v.sees(v.words.expired)
	v.looks("expired")

	v.t.Cleanup(func() { driver.Settings(v.t, v.s, func(x *tenancy.Settings) { x.MaxTasksPerHour = 0 }) })
	driver.Settings(v.t, v.s, func(x *tenancy.Settings) { x.MaxTasksPerHour = 1 })
	v.said(v.words.staff)
	v.sees(v.words.tooMuch)
	v.looks("quota")
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
		t.Run(w.locale+" cards", func(t *testing.T) {
			expect.AtNight(t)
			v := visit(t, b, s, w, window)
			cardsOfOtherKinds(v.with(t))
			v.Clean()
		})
	}
}

// The tour of README.md by somebody whose browser is in English: everything is in English, names are in Latin letters,
// and people may do what their titles say. A card keeps its request's language, whatever the workspace's becomes.
func TestANewcomersTour(t *testing.T) {
	expect.AtNight(t)
	v := newcomer(t, browser.Window{Width: 1440, Height: 900, Calm: true, Language: english.locale})
	s := v.s
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		v.shots = filepath.Join(dir, "tour-")
	}
	v.asks("Overtime for Sales for last month")
	card := v.d.Card(driver.PromptCard, "approve_prompt")
	v.sees(english.policy)
	v.sees("👉 Now: one of @Ichiro Suzuki, @Megumi Tanaka")
	v.looks("newcomer")
	v.cantStamp(webapi.Sato, card)
	v.becomes(webapi.Suzuki)
	v.Click(v.button("approve_prompt"))
	v.Until(`document.querySelector(` + browser.Quote(v.button("approve_process")) + `)`)
	v.Click(v.button("approve_process"))
	v.sees(english.done)
	v.sees("“Attendance 2026”")
	v.looks("toured")
	v.latin("body")
	sheet := browser.Read[string](v.Tab, `document.querySelector('.card a[href*="/sheets/"]').href`)
	v.Clean()
	v.Visit(sheet)
	v.latin("body")
	v.Visit(s.URL)

	// Somebody of another department can't stamp alone either, not even in their own direct messages.
	v.requester, v.channel = webapi.Alex, webapi.DirectMessage(webapi.Alex)
	v.becomes(webapi.Alex)
	v.Press(`#sidebar [data-focus="` + v.channel + `"]`)
	v.d = driver.AskIn(t, s, webapi.Alex, v.channel, "Get the list of employees")
	v.cantStamp(webapi.Alex, v.d.Card(driver.PromptCard, "approve_prompt"))

	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "ja" })
	v.cantStamp(webapi.Alex, v.d.Card(driver.PromptCard, "approve_prompt")) // what only they see is as their page is
	v.sees(english.policy)
	v.looks("switched")
	v.d = driver.AskIn(t, s, webapi.Alex, v.channel, "従業員一覧を取得して")
	v.sees(japanese.policy)
	v.Clean()
}

// latin expects an element whose text has Latin letters only, but for the name of the other language.
func (v *visitor) latin(selector string) {
	v.t.Helper()
	v.Until(`document.querySelector("` + selector + `")`)
	text := browser.Read[string](v.Tab, `document.querySelector("`+selector+`").innerText`)
	for line := range strings.Lines(strings.ReplaceAll(text, "日本語", "")) {
		expect.That(v.t, !strings.ContainsFunc(line, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		}), "not in Latin letters: %s", line)
	}
}

// newcomer opens the first page of a stack that was just started.
func newcomer(t *testing.T, window browser.Window) *visitor {
	t.Helper()
	o := driver.Options()
	o.Sandbox.Language, o.PrepareTeam = "", driver.UsualSettings
	s := expect.Value(stack.Start(t.Context(), o))(t)
	t.Cleanup(s.Close)
	v := &visitor{t: t, s: s, words: english, channel: webapi.HR, requester: webapi.Sato, approver: webapi.Suzuki,
		Tab: browser.Start(t).Open(t, s.URL, window)}
	v.Until(`document.querySelector("#composer-main") && document.documentElement.lang === "en"`)
	return v
}

// cantStamp presses approve as somebody who may not, and waits for the note in English.
func (v *visitor) cantStamp(user string, card webapi.Message) {
	v.t.Helper()
	before := len(v.s.Sandbox.Ephemerals(user))
	v.becomes(user)
	v.Until(`document.querySelector(` + browser.Quote(v.button("approve_prompt")) + `)`)
	v.Click(v.button("approve_prompt"))
	expect.Eventually(v.t, "a note", func() bool { return len(v.s.Sandbox.Ephemerals(user)) > before })
	told := v.s.Sandbox.Ephemerals(user)
	said := strings.Split(told[len(told)-1].Text, "\n")[0]
	v.Until(fmt.Sprintf(`[...document.querySelectorAll(".msg")].some((m) => m.innerText.includes(%q) && `+
		`m.innerText.includes(%q))`,
		english.onlyYou, said))
	expect.That(v.t, strings.Contains(said, "approve"), "not in English: %s", said)
	expect.That(v.t, v.d.Shows(driver.PromptCard, "approve_prompt"), "%s stamped alone", user)
}
