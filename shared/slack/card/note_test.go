package card_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Each class of errors has its sentence in package explain; a card's note says who and when in Slack's form, and
// nothing of what others wrote has an effect.
func TestNoteSaysWhatIsTheMatter(t *testing.T) {
	at := time.Date(2026, 4, 18, 14, 33, 12, 0, time.UTC)
	date := "<!date^1776522792^{date_short_pretty} {time}|2026-04-18 14:33 UTC>"
	for _, tc := range []struct {
		err  error
		want string
	}{
		{aggregate.ErrDecided{Status: "approved", By: "U1", At: at}, "<@U1> が " + date + " に承認しました。"},
		{aggregate.ErrDecided{Status: "delegated", By: "U1", At: at}, "<@U1> が " + date + " に決定しました。"},
		{aggregate.ErrDecided{Status: "cancelled", At: at, Reason: task.ReasonExpired}, "期限までに決定されず、" + date},
		{aggregate.ErrDecided{Status: "approved", By: "<!channel>", At: at}, "&lt;!channel&gt; が"},
		{aggregate.ErrDecided{Status: "approved", By: "U1"}, "<@U1> が — に"},
		{aggregate.Problem{Field: "slug", Code: "must be <short>"}, "slug must be &lt;short&gt;"},
		{task.StopError{Reason: task.ReasonToolChanged, Detail: "send_slack_dm"}, "(send_slack_dm)"},
		{fmt.Errorf("commit: %w: %w", aggregate.ErrUnconfirmed, context.DeadlineExceeded),
			"保存できたか確認できませんでした"},
		{errors.New("boom: secret"), "保存できませんでした"},
		{aggregate.ErrNotAllowed{Rule: "brand_new"}, "許可されていません"},
	} {
		got := card.Note("ja", tc.err)
		expect.Has(t, got, tc.want)
		rest := strings.ReplaceAll(got, date, "")
		expect.That(t, !strings.Contains(got, "secret") && !strings.ContainsAny(rest, "{}"), "%q", got)
	}
}

// TestANoteInEveryLanguage: without the settings, the tenant's language is unknown.
func TestANoteInEveryLanguage(t *testing.T) {
	err := explain.ErrUnavailable
	want := card.Note("ja", err) + "\n" + card.Note("en", err)
	note, refused := card.Note("", err), card.Refused(err, tenancy.Settings{}, aggregate.Origin{})
	expect.That(t, note == want && refused == want, "%q and %q, not %q", note, refused, want)
}

func TestOtherNotes(t *testing.T) {
	for _, locale := range language.All {
		expect.That(t, card.Surface(locale).CancelAccepted() != "", "%s: an empty note", locale)
		got := card.Unreachable(locale, "C0HR", "is_archived")
		expect.That(t, strings.Contains(got, "<#C0HR>") &&
			(strings.Contains(got, "(is＿archived)") || strings.Contains(got, "(is_archived)")), "%s: %q", locale, got)
		got = card.Unreachable(locale, "<!channel>", "")
		expect.That(t, !strings.Contains(got, "<!channel>"), "%s: %q", locale, got)
	}
}

func TestADetailInSentencesStandsBeforeTheSentence(t *testing.T) {
	for _, tt := range []struct{ locale, detail, want string }{
		{"ja", "list_employees", "ツールの呼び出しに失敗しました (list_employees)。接続先の状態を確認してから [🔄 再実行] を押してください。完了したステップはやり直しません。"},
		{"ja", "freee人事労務 でエラーが起きています(500)。しばらくしてから再実行してください。",
			"freee人事労務 でエラーが起きています(500)。しばらくしてから再実行してください。\nツールの呼び出しに失敗しました。接続先の状態を確認してから [🔄 再実行] を押してください。完了したステップはやり直しません。"},
		{"en", "freee HR didn't respond in time.",
			"freee HR didn't respond in time.\nA tool call failed. Check the service, then press [🔄 Run again]. Completed " +
				"steps won't run again."},
		{"en", "", "A tool call failed. Check the service, then press [🔄 Run again]. Completed steps won't run again."},
	} {
		expect.Is(t, card.Sentence(tt.locale, task.ReasonToolFailed, tt.detail, explain.RetryRun), tt.want, "%q", tt.detail)
	}
}

// Who stands in for those whose turn it is stands below them, with dates that are true whenever they are read. Who
// can't stamp by it isn't named.
func TestACardSaysWhoStandsInForThoseWhoseTurnItIs(t *testing.T) {
	s := onRoute(received(t), threeStages()...)
	person := func(user string) circulation.Person { return circulation.Person{User: user} }
	day := 24 * time.Hour
	away := func(hand, principal, setBy string, begins, ends time.Duration) circulation.StandIn {
		return circulation.StandIn{Delegation: circulation.Delegation{Key: hand + "#" + principal + "#1", Rev: 1},
			Hand:      person(hand),
			Principal: person(principal), SetBy: person(setBy), Begins: s.now.Add(begins), Ends: s.now.Add(ends)}
	}
	around := card.Around{StandIns: []circulation.StandIn{
		away("U0HAND", suzuki, suzuki, -day, 3*day), away("U0SOON", suzuki, suzuki, day, 2*day),
		away("U0OVER", suzuki, suzuki, -2*day, 0), away("U0LATE", suzuki, suzuki, 40*day, 50*day),
		away(requester.ID, suzuki, suzuki, 0, day), away("U0CHOSEN", suzuki, requester.ID, 0, day),
		away("U0OTHER", tanaka, tanaka, 0, day),
	}}
	says := func() string {
		m := card.Render(s.Aggregate, s.card(processCard), tenancy.DefaultSettings(), around, s.now)
		return drawn(m.Attachments[0].Blocks.BlockSet)
	}
	text := says()
	expect.Has(t, text, "👥 2026-04-17 から 2026-04-21 まで <@"+suzuki+"> さんが不在の間、<@U0HAND> さんが代わりに承認します\n👥")
	expect.Has(t, text, "<@U0SOON> さんが代わりに")
	for _, who := range []string{"U0OVER", "U0LATE", requester.ID + "> さんが代わりに", "U0CHOSEN", "U0OTHER"} {
		expect.That(t, !strings.Contains(text, who), "%s is named: %s", who, text)
	}
	m := card.Render(s.Aggregate, s.copyOf(suzuki, 1), tenancy.DefaultSettings(), around, s.now)
	copied := drawn(m.Attachments[0].Blocks.BlockSet)
	expect.That(t, !strings.Contains(copied, "U0HAND"), "the copy says it: %s", copied)
	s.stamps(1, suzuki)
	expect.That(t, !strings.Contains(says(), "U0HAND"), "the stage is over: %s", says())
	expect.Has(t, says(), "<@U0OTHER> さんが代わりに")
}

func (s *scenario) drawn(key string) string {
	return drawn(render(s.Aggregate, s.card(key), "ja", s.now).Attachments[0].Blocks.BlockSet)
}

// told is the message about the end to the requester.
func (s *scenario) told() card.Message {
	return copied(s, &aggregate.Card{CardType: task.CardOutcome, Subject: "OUTCOME", User: requester.ID}, "ja")
}

// The copy of a version that was decided speaks of that version, whatever came after it.
func TestACopySpeaksOfTheVersionThatItShows(t *testing.T) {
	s := reordered(received(t))
	head := func(kind aggregate.CardType, key string) string {
		m := copied(s, &aggregate.Card{CardType: kind, Subject: key, User: suzuki, CreatedAt: s.now}, "ja")
		text, _, _ := strings.Cut(drawn(m.Attachments[0].Blocks.BlockSet), "\n")
		return text
	}
	for i, amount := range []string{"¥447,000 — ", "¥298,000 — "} { // which stands once
		key := s.Processes[i].Key()
		expect.Has(t, head(task.CardProcess, key), s.Task.Title, "the version")
		expect.That(t, !strings.Contains(head(task.CardProcess, key), "¥"), "the first line knows the money")
		expect.Has(t, s.drawn([]string{processCard, "CARD#process#0002"}[i]), "\n*"+amount, "the version")
	}
	expect.Has(t, head(task.CardPrompt, s.Prompt().Key()), s.Task.Title, "the policy")
	expect.That(t, !strings.Contains(head(task.CardPrompt, s.Prompt().Key()), "¥"), "the policy knows the money")
}

const nothingWritten = "何も書き込まれず、送られていません。"

// A run that stopped or failed before its first write says that nothing was written, and only then: the outcome of a
// write that was begun may be unknown.
func TestAStopSaysThatNothingWasWritten(t *testing.T) {
	failed := task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: "x"}
	unknown := task.Outcome{Status: task.StepUnknown, Reason: task.ReasonToolUnknown, Detail: "x"}
	for name, c := range map[string]struct {
		s    *scenario
		says bool
	}{
		"stopped at once":              {started(t, orderSteps(1)).cancelExecution(), true},
		"stopped after reads":          {started(t, fiveSteps()).steps(1, 2).cancelExecution(), true},
		"stopped while writing":        {started(t, orderSteps(1)).claim(1).cancelExecution(), false},
		"stopped, and written":         {started(t, orderSteps(1)).steps(1).cancelExecution(), false},
		"stopped, and nobody knows":    {started(t, orderSteps(1)).claim(1).cancelExecution().finish(1, unknown), false},
		"a read failed":                {started(t, fiveSteps()).failedAt(1, failed), true},
		"a write failed":               {started(t, orderSteps(1)).failedAt(1, failed), false},
		"a write of an attempt before": {retry(started(t, orderSteps(1)).failedAt(1, unknown)).cancelExecution(), false},
	} {
		expect.That(t, strings.Contains(c.s.drawn(executionCard), nothingWritten) == c.says, "%s: %s", name,
			c.s.drawn(executionCard))
		if c.s.Head.Ended == nil {
			continue
		}
		text := drawn(c.s.told().Attachments[0].Blocks.BlockSet)
		expect.That(t, strings.Contains(text, nothingWritten) == c.says, "%s: the requester reads %s", name, text)
		expect.That(t, !c.says || !strings.Contains(c.s.drawn(executionCard), "place_order を実行します"), "%s: it will be: %s",
			name, c.s.drawn(executionCard))
	}
}

// A step's check is often the last message in the thread: it says how the request ended.
func TestACheckSaysHowTheRequestEnded(t *testing.T) {
	checked := func() *scenario {
		s := gated(t, arguments)
		return s.do(decide.Approve(s, s.Gates[0].ID, approver, policy, s.now)).steps(2)
	}
	s := checked()
	expect.That(t, !strings.Contains(s.drawn(stepCard), "完了"), "it still runs: %s", s.drawn(stepCard))
	s.steps(3, 4, 5).do(s.CompleteExecution(s.Head.Run, "ok", s.now))
	title := func() string { return render(s.Aggregate, s.card(stepCard), "ja", s.now).Text }
	expect.Has(t, title(), "実行前の確認(承認済み → 完了)")
	s = checked().cancelExecution()
	expect.Has(t, title(), "実行前の確認(承認済み → タスクはキャンセル)")
}

// How long a run took is told without the time in which it waited for people.
func TestARunsTimeLeavesOutWaits(t *testing.T) {
	s := started(t, fiveSteps()[:1]).claim(1)
	s.finish(1, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: `{}`}})
	s.do(s.CompleteExecution(s.Head.Run, "まとめました", s.now))
	e := s.Execution()
	begun := e.CompletedAt.Add(-time.Hour - 5*time.Second)
	e.StartedAt, e.WaitedMS = &begun, time.Hour.Milliseconds()
	expect.Has(t, s.drawn(executionCard), "実行時間: 5秒")
}
