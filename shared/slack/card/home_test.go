package card_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Home has one line for each waiting item, with what the list of approvals shows, and what is due first at the top.
func TestHomeHasALineForEachThatWaits(t *testing.T) {
	now := time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC)
	due := func(hours int) *time.Time {
		at := now.Add(time.Duration(hours) * time.Hour)
		return &at
	}
	of := func(title string, p task.Priority, steps ...task.Step) *task.Aggregate {
		a := *received(t).extracted().Aggregate
		x := *a.Task
		x.Title, x.Priority = title, p
		a.Task, a.Processes = &x, []*task.Process{{Version: 1, Steps: steps, Gate: aggregate.Gate{Status: aggregate.PendingApproval}}}
		return &a
	}
	write := func(tool string) task.Step { return task.Step{Tool: tool, Access: aggregate.Write, ToolInput: "{}"} }
	in := card.Summary{Waiting: []card.Waits{
		{Of: of("いつでも", task.Medium), Question: aggregate.Question{Kind: task.CardPrompt, Version: 1}},
		{Of: of("後で", task.Low, task.Step{Tool: "list_employees", Access: aggregate.Read}), Question: aggregate.Question{Kind: task.CardProcess, Version: 1, DecideBy: due(48)}},
		{Of: of("先に", task.Urgent, write("send_slack_dm"), write("write_rows_to_google_sheet"), write("send_slack_dm")),
			Question: aggregate.Question{Kind: task.CardProcess, Version: 2, DecideBy: due(1)}, Link: "https://x.slack.com/archives/C1/p1"},
	}}
	for locale, says := range map[string][]string{
		"ja": {"先に", "実行ステップ v2", "書き込み: メッセージ ×2 · シート", "🚨", "のメンバー", "今月の勤怠"},
		"en": {"先に", "Steps v2", "writes: Message ×2 · Sheet", "🚨", "members of", "due"},
	} {
		home := jsonOf(card.HomeView(in, tenancy.DefaultSettings(), locale, now))
		first, rest, _ := strings.Cut(home[strings.Index(home, "• "):], `\n• `)
		for _, want := range says {
			expect.That(t, strings.Contains(first, want), "%s: the line lacks %q: %s", locale, want, first)
		}
		expect.That(t, strings.Index(rest, "後で") < strings.Index(rest, "いつでも"), "%s: not by due time: %s", locale, rest)
		none := map[string]string{"ja": "書き込み: なし", "en": "writes: None"}[locale]
		expect.That(t, strings.Contains(rest, none), "%s: what only reads is not said to: %s", locale, rest)
		list := card.List(locale, in)
		expect.That(t, strings.Index(list, "先に") < strings.Index(list, "後で"), "%s: the list is not by due time", locale)
	}
	for _, n := range []int{30, 31, 200} {
		var many []card.Waits
		for i := range n {
			many = append(many, card.Waits{Of: of(fmt.Sprint("件", i, "件"), task.High, write("send_slack_dm")), Question: aggregate.Question{Kind: task.CardProcess, Version: 1, DecideBy: due(i)}})
		}
		view := card.HomeView(card.Summary{Waiting: many}, tenancy.DefaultSettings(), "ja", now)
		text := jsonOf(view)
		expect.That(t, strings.Contains(text, "件29件") && strings.Contains(text, "ほか ") == (n > 30), "%d: thirty have no line, or more are not counted", n)
		expect.That(t, len(view.Blocks.BlockSet) <= 100 && len(text) <= 250_000, "%d: %d blocks, %d bytes", n, len(view.Blocks.BlockSet), len(text))
	}
}

// Where rules stand a button of Home leads to where people name who stands in for them.
func TestHomeLeadsToStandIns(t *testing.T) {
	ruled := tenancy.DefaultSettings()
	ruled.RulesRev = 1
	for locale, label := range map[string]string{"ja": "代理を決める", "en": "Name a stand-in"} {
		home := func(s tenancy.Settings, console string) string {
			return jsonOf(card.HomeView(card.Summary{Console: console}, s, locale, time.Now()))
		}
		is := home(ruled, "https://ringi.example/console")
		expect.That(t, strings.Contains(is, label) && strings.Contains(is, `"https://ringi.example/console/stand-ins"`), "%s", is)
		for _, none := range []string{home(ruled, ""), home(tenancy.DefaultSettings(), "https://ringi.example/console")} {
			expect.That(t, !strings.Contains(none, label), "%s", none)
		}
	}
}
