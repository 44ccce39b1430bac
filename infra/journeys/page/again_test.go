package page

import (
	"fmt"

	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
)

const (
	modal  = `dialog.modal[open]`
	submit = modal + ` button[type="submit"]`
)

// complaint returns where the page tells a person to try again, or "": in a "form" that can be sent again, in a dialog
// that can only be "closed", in a "whisper", or by a "mark" at a message that the app didn't answer.
const complaint = `((says) => {
  const dialog = [...document.querySelectorAll("dialog.modal[open]")].at(-1);
  if (dialog && (says(dialog) || dialog.querySelector(".trouble:not([hidden])"))) return dialog.querySelector("[type=submit]") ? "form" : "closed";
  if ([...document.querySelectorAll(".whisper")].some(says)) return "whisper";
  return [...document.querySelectorAll(".msg:has(.card) .mark")].some((m) => +m.dataset.attempt > (window.heard || 0)) ? "mark" : "";
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

// turns goes to another page of a dialog, by a button that stays if nothing happened.
func (v *visitor) turns(selector, js string) {
	v.t.Helper()
	v.Until(fmt.Sprintf(`document.querySelector(%q)`, selector))
	driver.UntilTaken(v.t, js, func() {
		v.Eval(fmt.Sprintf(`(%s) || document.querySelector(%q)?.click()`, js, selector))
	}, func() bool { return browser.Read[bool](v.Tab, fmt.Sprintf(`!!(%s)`, js)) })
}
