package page

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// The tour of README.md by somebody whose browser is in English: everything is in English, and people may do what their
// titles say. What the gear's language is for changes at once, while a card keeps its request's language.
func TestANewcomersTour(t *testing.T) {
	v := newcomer(t, browser.Window{Width: 1440, Height: 900, Calm: true, Language: english.locale})
	s := v.s
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		v.shots = filepath.Join(dir, "tour-")
	}
	v.asks("Get the list of employees")
	card := v.d.Card(driver.PromptCard, "approve_prompt")
	v.sees(english.policy)
	v.sees("Can approve or reject: @Ichiro Suzuki, @Megumi Tanaka (not @Hanako Sato")
	v.looks("newcomer")
	v.cantStamp(webapi.Sato, card)
	v.becomes(webapi.Suzuki)
	v.Click(v.button("approve_prompt"))
	v.Until(`document.querySelector(` + browser.Quote(v.button("approve_process")) + `)`)
	v.Click(v.button("approve_process"))
	v.sees(english.done)
	v.looks("toured")

	// Somebody of another department can't stamp alone either, not even in their own direct messages.
	v.requester, v.channel = webapi.Alex, webapi.DirectMessage(webapi.Alex)
	v.becomes(webapi.Alex)
	v.Press(`#sidebar [data-focus="` + v.channel + `"]`)
	v.d = driver.AskIn(t, s, webapi.Alex, v.channel, "Get the list of employees")
	v.cantStamp(webapi.Alex, v.d.Card(driver.PromptCard, "approve_prompt"))

	v.Press("#open-settings")
	v.Press(`#cards-language [lang="ja"]`)
	v.Press(`dialog.settings [aria-label="Close"]`)
	v.cantStamp(webapi.Alex, v.d.Card(driver.PromptCard, "approve_prompt")) // what only they see is as their page is
	v.sees(english.policy)
	v.looks("switched")
	v.d = driver.AskIn(t, s, webapi.Alex, v.channel, "従業員一覧を取得して")
	v.sees(japanese.policy)
	v.Clean()
}

// newcomer opens the first page of a stack that was just started.
func newcomer(t *testing.T, window browser.Window) *visitor {
	t.Helper()
	o := driver.Options()
	o.Sandbox.FirstPage = true
	o.PrepareTeam = func(ctx context.Context, s *stack.Stack, team string) error {
		return driver.UsualSettings(ctx, s, team, "")
	}
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
	v.Until(fmt.Sprintf(`[...document.querySelectorAll(".msg")].some((m) => m.innerText.includes(%q) && m.innerText.includes(%q))`,
		english.onlyYou, said))
	expect.That(v.t, strings.Contains(said, "approve"), "not in English: %s", said)
	expect.That(v.t, v.d.Shows(driver.PromptCard, "approve_prompt"), "%s stamped alone", user)
}
