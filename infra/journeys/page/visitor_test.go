// Package page uses Ringi in a browser, on the sandbox's page and in the console: on a phone and on a desktop.
package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests; each test leaves it as it found it. Tests that don't change the
// workspace for others are parallel, and run after the others.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(browser.Share(func() int {
		return driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s })
	}))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	driver.Settings(t, running, driver.SetTitles)
	return running
}

// visitor is a person at the sandbox.
type visitor struct {
	*browser.Tab
	d *driver.Request // of the request at hand

	t         *testing.T
	s         *stack.Stack
	phone     bool
	channel   string
	requester string // nobody else acts as these two, since a person's forms open in all of their windows
	approver  string
	again     func() // repeats the person's last act at a card or its dialog, for when they are told to try again
	shots     string // prefix of screenshots' paths; "": take none
}

// asks writes a request as people do, with the button that mentions Ringi.
func (v *visitor) asks(text string) {
	v.t.Helper()
	v.becomes(v.requester)
	v.Press("#composer-main")
	v.Press(".composer-area .at")
	v.Keys(text)
	v.sends()
}

// sends sends what is typed, which is the request at hand from now on.
func (v *visitor) sends() {
	v.t.Helper()
	before := len(v.s.Sandbox.Messages(v.channel, ""))
	v.Keys(kb.Enter)
	expect.Eventually(v.t, "the message is said", func() bool { return len(v.s.Sandbox.Messages(v.channel, "")) > before })
	v.Until(`document.querySelector("#composer-main").value === ""`)
	said := v.s.Sandbox.Messages(v.channel, "")
	v.d = driver.At(v.t, v.s, v.channel, said[len(said)-1].TS)
}

// becomes switches to another person; a phone has them in the menu.
func (v *visitor) becomes(user string) {
	v.t.Helper()
	v.Press(v.menu(fmt.Sprintf(`[data-person=%q]`, user)))
	v.Until(fmt.Sprintf(`document.querySelector(".person.here")?.dataset.person === %q && `+
		`!document.querySelector(".drawer-open")`, user))
}

// menu opens the sidebar on a phone, and returns the selector of an element in it.
func (v *visitor) menu(selector string) string {
	v.t.Helper()
	if v.phone {
		v.Press(".menu-btn")
	}
	return "#sidebar " + selector
}

// sees waits until a card or note of the request has a text.
func (v *visitor) sees(text string) {
	v.t.Helper()
	v.Until(fmt.Sprintf(`[...document.querySelectorAll('[data-root=%q] :is(.card, .text-body)')].some((c) => `+
		`c.innerText.includes(%s))`, v.d.Root, browser.Quote(text)))
}

func (v *visitor) button(action string) string {
	return fmt.Sprintf(`[data-block-id^=%q] [data-action=%q]`, v.d.Ref.ID, action)
}

// lacks waits until nothing on the page matches.
func (v *visitor) lacks(selector string) {
	v.t.Helper()
	v.Until(fmt.Sprintf(`!document.querySelector(%q)`, selector))
}

// looks checks that everything on the page can be read and reached, and takes a screenshot if RINGI_SCREENSHOTS is set.
func (v *visitor) looks(name string) {
	v.t.Helper()
	v.Until(`document.getAnimations().every((a) => a.effect.getComputedTiming().iterations === Infinity || ` +
		`a.playState !== "running")`)
	v.Fits()
	if v.shots != "" {
		v.Whole(v.shots + name + ".png")
	}
}

// visit opens the sandbox, as a first-time visitor.
func visit(t *testing.T, b *browser.Browser, s *stack.Stack, window browser.Window) *visitor {
	v := &visitor{t: t, s: s, phone: window.Phone, channel: webapi.HR, requester: webapi.Sato, approver: webapi.Suzuki,
		Tab: b.Open(t, s.URL, window)}
	name := "desktop-"
	if v.phone { // its own channel, so that nobody else scrolls it
		v.channel, v.requester, v.approver, name = webapi.General, webapi.Alex, webapi.Tanaka, "phone-"
		v.Press(v.menu(`[data-focus="` + v.channel + `"]`))
	}
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		v.shots = filepath.Join(dir, name)
	}
	v.Press(`[data-focus="lang-ja"]`)
	v.Until(`document.documentElement.lang === "ja"`)
	return v
}

// with returns the same visitor for another test.
func (v *visitor) with(t *testing.T) *visitor {
	fresh := *v
	fresh.t, fresh.Tab, fresh.d = t, v.For(t), nil
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		fresh.tells()
		if v.shots != "" {
			fresh.Whole(v.shots + "broken.png")
		}
	})
	return &fresh
}

// tells logs the current request's state for the reader of a failed test.
func (v *visitor) tells() {
	if v.d == nil {
		return
	}
	v.t.Log(v.d.Summary())
	for _, a := range v.s.Sandbox.Attempts() {
		if a.Channel == v.channel && time.Since(a.At) < 5*time.Minute {
			v.t.Logf("%s %s of %s, try %d: %d %s after %d ms", a.At.Format(time.TimeOnly), a.Kind, a.TS, a.Retry+1, a.Status,
				a.Reason, a.Millis)
		}
	}
}

const (
	modal  = `dialog.modal[open]`
	submit = modal + ` button[type="submit"]`
)

// complaint returns where the page tells a person to try again, or "": in a "form" that can be sent again, in a dialog
// that can only be "closed", in a "whisper", or by a "mark" at a message that the app didn't answer.
const complaint = `((says) => {
  const dialog = [...document.querySelectorAll("dialog.modal[open]")].at(-1);
  if (dialog && (says(dialog) || dialog.querySelector(".trouble:not([hidden])")))
    return dialog.querySelector("[type=submit]") ? "form" : "closed";
  if ([...document.querySelectorAll(".whisper")].some(says)) return "whisper";
  const marks = [...document.querySelectorAll(".msg:has(.card) .mark")];
  return marks.some((m) => +m.dataset.attempt > (window.heard || 0)) ? "mark" : "";
})((x) => /もう一度(お試し|押して)ください|(try|press) again/.test(x.innerText))`

// Until waits until a condition holds on the page. If the page says to try again, as it may when a machine stalls for
// seconds, the person does.
func (v *visitor) Until(js string) {
	v.t.Helper()
	for range 8 {
		v.Tab.Until(fmt.Sprintf(`(%s) || (%s)`, js, complaint))
		where := browser.Read[string](v.Tab, fmt.Sprintf(`(%s) ? "" : (%s)`, js, complaint))
		if where == "" {
			break
		}
		v.t.Logf("told to try again: %s", where)
		v.tries(where, js)
	}
	v.Tab.Until(js)
}

// tries repeats the act that a complaint was about, unless its result has arrived meanwhile.
func (v *visitor) tries(where, js string) {
	v.t.Helper()
	switch where {
	case "form":
		v.Eval(fmt.Sprintf(`document.querySelector(%q)?.click()`, submit))
		v.Tab.Until(fmt.Sprintf(`!document.querySelector(%q)`, submit+"[aria-busy]"))
		return
	case "closed":
		v.Eval(fmt.Sprintf(`document.querySelector(%q)?.click()`, modal+` footer .btn`))
		v.Tab.Until(fmt.Sprintf(`!document.querySelector(%q)`, modal))
	case "mark": // which stays until the message is used again
		v.Eval(`window.heard = Math.max(...[...document.querySelectorAll(".mark")].map((m) => +m.dataset.attempt))`)
	case "whisper":
		v.Eval(`for (const link of document.querySelectorAll(".whisper button.link")) link.click()`)
		v.Tab.Until(`!document.querySelector(".whisper")`)
	}
	if v.again != nil && !browser.Read[bool](v.Tab, fmt.Sprintf(`!!(%s)`, js)) {
		v.again()
	}
}

// presses waits for a card's button and presses it.
func (v *visitor) presses(action string) {
	v.t.Helper()
	button := v.button(action)
	v.Until(fmt.Sprintf(`document.querySelector(%q)`, button))
	v.does(func() {
		if v.has(button) { // or the earlier click was accepted
			v.opens(button)
		}
	})
}

// has reports whether the page has a matching element now.
func (v *visitor) has(selector string) bool {
	return browser.Read[bool](v.Tab, fmt.Sprintf(`!!document.querySelector(%q)`, selector))
}

// does calls what, and keeps it as the act to repeat.
func (v *visitor) does(what func()) {
	v.again = what
	what()
}

// opens presses a button: by touch on a phone, else with the keyboard.
func (v *visitor) opens(selector string) {
	v.t.Helper()
	if v.phone {
		v.Press(selector)
		return
	}
	v.Tab.Until(fmt.Sprintf(`(document.querySelector(%[1]q)?.focus(), document.activeElement?.matches(%[1]q))`, selector))
	v.Keys(kb.Enter)
}
