package page

import (
	"strings"
	"testing"
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
