package journeys

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
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
	ours := expect.SentencesBelow(t, "../../shared", "../../functions")
	s, w := start(t), spokenIn.In(locale)
	people := []string{w.user, webapi.Suzuki}
	driver.Settings(t, s, func(x *tenancy.Settings) { driver.SetTitles(x); x.Locale = workspaces })
	for _, user := range people {
		was := expect.Value(s.Sandbox.Workspace().User(user))(t).Locale
		expect.NoError(t, s.Sandbox.Workspace().Speak(user, locale+"-XX"))
		t.Cleanup(func() { expect.NoError(t, s.Sandbox.Workspace().Speak(user, was)) })
	}
	before := written(s, people)
	tasksIn(t, s, w)
	if locale == workspaces {
		talkIn(t, s, w)
	} else {
		offeredIn(t, s, w, func(said string) []string { return ours.Foreign(locale, said, fmt.Sprint(w)) })
	}
	for _, user := range people {
		expect.NoError(t, s.Sandbox.OpenHome(user))
		expect.Eventually(t, "the tab of "+user, func() bool { _, ok := s.Sandbox.Home(user); return ok })
	}
	n := 0
	for key, said := range written(s, people) {
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
	expect.Value(s.Sandbox.Reply(w.user, r.Channel, r.Root, "<@"+webapi.Bot+"> "+w.stop))(t)
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

// written is everything that Ringi has written and these people see, by its place.
func written(s *stack.Stack, people []string) map[string]string {
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
		all, _ := s.Sandbox.Workspace().Everything(c)
		for _, m := range all {
			if m.User == webapi.Bot {
				add(c+m.TS, []any{m.Text, m.Attachments, m.Blocks})
			}
		}
	}
	return out
}

// commands are Slack's forms for people and dates; ids are ULIDs.
var commands, ids, english = regexp.MustCompile(`<[@#!][^>]*>|https?://[^ |>]*`),
	regexp.MustCompile(`\b[0-9A-Z]{26}\b`),
	regexp.MustCompile(`[A-Za-z][A-Za-z_.'’-]*`)

// What people read of a request, from asking to its end, has at most so many English words: in all of its messages as
// they stand in the end, without ids.
func TestARequestIsToldInFewWords(t *testing.T) {
	s := start(t)
	expect.NoError(t, driver.ConnectOrdering(t.Context(), s, aggregate.TenantID(s.Sandbox.TeamID())))
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "en" })
	asks := func(text string) *driver.Request { return driver.Ask(t, s, webapi.Sato, text) }
	form := func() *driver.Request {
		return driver.FillIn(t, s, webapi.Sato, map[string]any{"matter": "Spending", "title": "Replace the copier",
			"amount": "1200000", "description": "It jams every day."})
	}
	for _, of := range []struct {
		name string
		asks func() *driver.Request
		rule *rules.Rule
		most int
	}{
		{"a DM", func() *driver.Request {
			return asks("Send <@" + webapi.Tanaka + "> a DM “The meeting is at three”")
		}, nil, 90},
		{"overtime", func() *driver.Request { return asks("Check last month's overtime") }, nil, 330},
		{"an order", func() *driver.Request { return asks("Order 3 PCs from Acme, 447,000 yen in total") },
			&rules.Rule{ID: "01KS000000000000000000000H", Name: "Orders", Outcome: rules.Outcome{
				Stages: []rules.Stage{desk("Manager", 1, webapi.Suzuki), desk("Accounts", 1, webapi.Tanaka)}}}, 220},
		{"a decision", form, nil, 90},
	} {
		if of.rule != nil {
			driver.SaveRules(t, s, *of.rule)
		}
		d := of.asks()
		seen := map[string]string{} // by message, as it stood when it had most to say
		look := func() {
			for _, m := range s.Sandbox.Messages(d.Channel, d.Root) {
				if text := m.Text + "\n" + words(m.Attachments); m.User == webapi.Bot && count(text) > count(seen[m.TS]) {
					seen[m.TS] = text
				}
			}
		}
		steps := driver.TaskCard
		if of.name != "a decision" {
			steps = driver.ProcessCard
			d.Card(driver.PromptCard, "approve_prompt")
			look()
			d.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
		}
		d.Card(steps, "approve_process")
		look()
		d.Click(webapi.Suzuki, steps, "approve_process")
		if of.rule != nil {
			d.Card(driver.ProcessCard, "Now: Accounts")
			d.Click(webapi.Tanaka, driver.ProcessCard, "approve_process")
			driver.SaveRules(t, s)
		}
		d.Until("it is done and shown", func(a *task.Aggregate) bool {
			return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev
		})
		sum, end, all := 0, 0, ""
		for _, m := range s.Sandbox.Messages(d.Channel, d.Root) {
			if m.User == webapi.Bot {
				end += count(m.Text + "\n" + words(m.Attachments))
			}
		}
		look()
		for _, ts := range slices.Sorted(maps.Keys(seen)) {
			sum, all = sum+count(seen[ts]), all+"\n"+strings.Repeat("-", 20)+"\n"+seen[ts]
		}
		t.Logf("%s: %d, in the end %d", of.name, sum, end)
		expect.That(t, end <= of.most, "%s has %d words, not %d:%s", of.name, end, of.most, all)
	}
}

// count counts the English words of a text.
func count(text string) int {
	return len(english.FindAllString(ids.ReplaceAllString(commands.ReplaceAllString(text, ""), ""), -1))
}

// words are the texts of blocks, a line each.
func words(v any) (out string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out += words(e)
		}
	case map[string]any:
		if text, is := v["text"].(string); is {
			return text + "\n"
		}
		for _, key := range []string{"blocks", "text", "fields", "elements"} {
			out += words(v[key])
		}
	}
	return out
}
