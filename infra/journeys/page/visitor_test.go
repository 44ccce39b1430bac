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

// visitor is a person at the sandbox, with the texts of their language.
type visitor struct {
	*browser.Tab
	d *driver.Request // of the request at hand

	t         *testing.T
	s         *stack.Stack
	words     words
	phone     bool
	channel   string
	requester string // nobody else acts as these two, since a person's forms open in all of their windows
	approver  string
	third     string // who may read, too
	again     func() // repeats the person's last act at a card or its dialog, for when they are told to try again
	shots     string // prefix of screenshots' paths; "": take none
}

// asks writes a request as people do, picking the mention from the list.
func (v *visitor) asks(text string) {
	v.t.Helper()
	v.becomes(v.requester)
	v.Press("#composer-main")
	v.mentions()
	v.Keys(text)
	v.sends()
}

// mentions picks Ringi from the list.
func (v *visitor) mentions() {
	v.t.Helper()
	v.Keys("@Ri")
	v.Until(`document.querySelector(".mentions li[aria-selected=true]")?.innerText.includes("Ringi")`)
	v.Keys(kb.Enter)
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

// replies writes in the current request's thread, and continues with that message.
func (v *visitor) replies(text string) {
	v.t.Helper()
	ts := expect.Value(v.s.Sandbox.Reply(v.requester, v.channel, v.d.Root, text))(v.t)
	root := v.d.Root
	v.d = driver.At(v.t, v.s, v.channel, ts)
	v.d.Root = root // where its cards are
}

// becomes switches to another person; a phone has them in the menu.
func (v *visitor) becomes(user string) {
	v.t.Helper()
	v.Press(v.menu(fmt.Sprintf(`[data-person=%q]`, user)))
	v.Until(fmt.Sprintf(`document.querySelector(".person.here")?.dataset.person === %q && !document.querySelector(".drawer-open")`, user))
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
	v.Until(fmt.Sprintf(`[...document.querySelectorAll('[data-root=%q] :is(.card, .text-body)')].some((c) => c.innerText.includes(%s))`, v.d.Root, browser.Quote(text)))
}

func (v *visitor) button(action string) string {
	return fmt.Sprintf(`[data-block-id=%q] [data-action=%q]`, v.d.Ref.ID, action)
}

// lacks waits until nothing on the page matches.
func (v *visitor) lacks(selector string) {
	v.t.Helper()
	v.Until(fmt.Sprintf(`!document.querySelector(%q)`, selector))
}

// looks checks that everything on the page can be read and reached, and takes a screenshot if RINGI_SCREENSHOTS is set.
func (v *visitor) looks(name string) {
	v.t.Helper()
	v.Until(`document.getAnimations().every((a) => a.effect.getComputedTiming().iterations === Infinity || a.playState !== "running")`)
	v.Fits()
	if v.shots != "" {
		v.Screenshot(v.shots + name + ".png")
	}
}

// visit opens the sandbox in a language, as a first-time visitor.
func visit(t *testing.T, b *browser.Browser, s *stack.Stack, w words, window browser.Window) *visitor {
	v := &visitor{t: t, s: s, words: w, phone: window.Phone, channel: webapi.HR, requester: webapi.Sato,
		approver: webapi.Suzuki, third: webapi.Tanaka, Tab: b.Open(t, s.URL, window)}
	name := w.locale + "-desktop-"
	if v.phone { // its own channel, so that nobody else scrolls it
		v.channel, v.requester, v.approver, v.third, name = webapi.General, webapi.Alex, webapi.Tanaka, webapi.Suzuki, w.locale+"-phone-"
		v.Press(v.menu(`[data-focus="` + v.channel + `"]`))
	}
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		v.shots = filepath.Join(dir, name)
	}
	v.Press(`[data-focus="lang-` + w.locale + `"]`)
	v.Until(fmt.Sprintf(`document.documentElement.lang === %q`, w.locale))
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
			fresh.Screenshot(v.shots + "broken.png")
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
			v.t.Logf("%s %s of %s, try %d: %d %s after %d ms", a.At.Format(time.TimeOnly), a.Kind, a.TS, a.Retry+1, a.Status, a.Reason, a.Millis)
		}
	}
}
