package journeys

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// spoken is who asks in one language, where, and what people write. What Slack told of somebody is cached for a minute.
type spoken struct {
	user, channel, month, staff, overtime, reason, question, unknown, toAgent, stop, byAgent string
}

var spokenIn = language.InEach(
	spoken{webapi.Sato, webapi.HR, "今月の勤怠をまとめて", "従業員一覧を取得して", "先月の残業時間を確認して", "もっと簡潔にしてください", "使い方は?", "来期の予算を組んで",
		"claude: ファイルを作って", "DM は不要",
		"claude: 今月の勤怠をまとめて。これは稟議にします"},
	spoken{webapi.Alex, webapi.General, "Summarize this month's attendance", "Get the list of employees",
		"Check last month's overtime hours", "Please make it shorter", "What can you do?",
		"Plan the budget of next year", "claude: make a file", "no DM",
		"claude: Get the list of employees. Please make it a request"})

// In one language, people ask, reject, stop, cancel, see failures and open their Home tab, and talk with an agent in
// the workspace's. Whatever Ringi writes meanwhile is in that language, also in a workspace of another.
func TestOneLanguageFromTheRequestToTheEnd(t *testing.T) {
	for _, workspaces := range language.All {
		for _, locale := range language.All {
			t.Run(locale+" in a workspace of "+workspaces, func(t *testing.T) {
				if workspaces != language.English || locale == workspaces {
					expect.AtNight(t)
				}
				testOneLanguage(t, locale, workspaces)
			})
		}
	}
}

func testOneLanguage(t *testing.T, locale, workspaces string) {
	ours := expect.SentencesBelow(t, "../../shared")
	expect.Patience(t) // and before all that runs beside others, whose cards would be read, too
	driver.Leave(t, running)
	s, w := running, spokenIn.In(locale)
	people := []string{w.user, webapi.Suzuki}
	driver.Settings(t, s, func(x *tenancy.Settings) { driver.SetTitles(x); x.Locale = workspaces })
	for _, user := range people {
		was := expect.Value(s.Sandbox.Workspace.User(user))(t).Locale
		expect.NoError(t, s.Sandbox.Workspace.Speak(user, locale+"-XX"))
		t.Cleanup(func() { expect.NoError(t, s.Sandbox.Workspace.Speak(user, was)) })
	}
	before := ofRingi(s, people)
	tasksIn(t, s, w)
	if locale == workspaces {
		talkIn(t, s, w)
	} else {
		offeredIn(t, s, w, func(said string) []string { return ours.Foreign(locale, said, fmt.Sprint(w)) })
	}
	for _, user := range people {
		expect.NoError(t, s.Sandbox.Open(user, "home"))
		expect.Eventually(t, "the tab of "+user, func() bool { _, ok := s.Sandbox.Home(user); return ok })
	}
	n := 0
	for key, said := range ofRingi(s, people) {
		if _, was := before[key]; !was {
			n++
			found := ours.Foreign(locale, said, fmt.Sprint(spokenIn)) // lists quote what others said
			expect.That(t, len(found) == 0, "%s in\n%s", strings.Join(found, "\n"), said)
		}
	}
	expect.That(t, n >= 30, "only %d messages", n)
}

func (w spoken) ask(t *testing.T, s *stack.Stack, text string) *driver.Request {
	t.Helper()
	return driver.AskIn(t, s, w.user, w.channel, "<@"+webapi.Bot+"> "+text)
}

// tasksIn asks for work that ends in different ways.
func tasksIn(t *testing.T, s *stack.Stack, w spoken) {
	t.Helper()
	d := w.ask(t, s, w.month)
	d.Click(w.user, driver.PromptCard, "approve_prompt") // may not
	d.Reject(webapi.Suzuki, driver.PromptCard, "reject_prompt", w.reason)
	d.Click(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")
	d.Click(webapi.Suzuki, driver.ProcessCard, "approve_process")
	d.Until("it is done", ended)

	s.Vendors.Fail("write_rows_to_google_sheet", 400, true)
	failing := w.ask(t, s, w.overtime)
	failing.Approve(webapi.Suzuki)
	failing.Card(driver.ExecutionCard, "retry_execution")
	s.Vendors.Fail("write_rows_to_google_sheet", 0, false)

	gated := w.ask(t, s, w.staff+" demo: human check")
	gated.Approve(webapi.Suzuki)
	gated.Until("a person is asked", func(a *task.Aggregate) bool { return len(a.Gates) > 0 })
	gated.Cancel(w.user, gated.Root)
	gated.Until("it is cancelled", ended)

	for _, text := range []string{w.question, w.unknown, w.staff + " demo: fail draft"} {
		r := w.ask(t, s, text)
		r.Until("it is answered", func(a *task.Aggregate) bool { return a.Head.Ended != nil || a.Head.Parked != nil })
	}
	r := w.ask(t, s, w.staff)
	r.Card(driver.PromptCard, "approve_prompt")
	expect.Value(s.Sandbox.Attach(w.user, r.Channel, r.Root, "<@"+webapi.Bot+"> "+w.stop))(t)
	expect.Eventually(t, "a note", func() bool { return len(r.Notes(w.user)) > 0 })
	r.Cancel(w.user, r.Root) // or it would be drawn again in the next language
	r.Until("nothing waits", ended)
}

// talkIn has an agent propose a file, and lets an approver decide.
func talkIn(t *testing.T, s *stack.Stack, w spoken) {
	t.Helper()
	d := driver.Talk(t, s, w.user, w.toAgent)
	d.Eventually("an action", func() bool {
		_, faces := d.Faces()
		return strings.Contains(strings.Join(faces, ""), card.RejectAction)
	})
	all, faces := d.Faces()
	for i, m := range all {
		if strings.Contains(faces[i], card.RejectAction) {
			d.Reject(webapi.Suzuki, m, w.reason)
		}
	}
	d.Rests()
}

// offeredIn has an agent make a request: its cards are in the language of its text, unlike the conversation.
func offeredIn(t *testing.T, s *stack.Stack, w spoken, foreign func(string) []string) {
	t.Helper()
	d := driver.Talk(t, s, webapi.Tanaka, w.byAgent)
	d.Eventually("an answer", func() bool { all, _ := d.Faces(); return len(all) > 0 })
	d.Eventually("an offer", func() bool { return d.Rests().OpenOffer() != nil })
	d.Press(webapi.Tanaka, d.Shows(d.Load().OpenOffer().Text), card.MakeRequest)
	d.Eventually("a task", func() bool { return d.Load().Offered[0].Done })
	r := driver.At(t, s, d.Channel, d.Root)
	expect.Is(t, r.Ref.ID, d.Load().Offered[0].TaskID)
	r.Approve(webapi.Suzuki)
	r.Until("it is done", ended)
	cards := r.AllCards()
	expect.That(t, len(cards) >= 4, "only %d cards", len(cards))
	for key, all := range cards {
		for _, m := range all {
			said := string(expect.Value(json.Marshal([]any{m.Text, m.Attachments}))(t))
			found := foreign(said)
			expect.That(t, len(found) == 0, "%s: %s in\n%s", key, strings.Join(found, "\n"), said)
		}
	}
}

// ofRingi is everything that Ringi has written and these people see, by its place.
func ofRingi(s *stack.Stack, people []string) map[string]string {
	out := map[string]string{}
	add := func(key string, v any) {
		b, _ := json.Marshal(v)
		out[key] = string(b)
	}
	channels := []string{webapi.HR, webapi.General}
	for _, user := range people {
		channels = append(channels, webapi.DirectMessage(user))
		for _, m := range s.Sandbox.Ephemerals(user) {
			add(user+m.TS, m.Text)
		}
		if v, ok := s.Sandbox.Home(user); ok {
			add("home "+user, v.Blocks)
		}
	}
	for _, c := range channels {
		all, _ := s.Sandbox.Workspace.Everything(c)
		for _, m := range all {
			if m.User == webapi.Bot {
				add(c+m.TS, []any{m.Text, m.Attachments, m.Blocks})
			}
		}
	}
	return out
}
