package card_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/words/language"
)

func TestHashChangesWithWhatIsShownOnly(t *testing.T) {
	s := planned(t, fiveSteps(), tenancy.DefaultSettings())
	c := s.card(processCard)
	m := render(s.Aggregate, c, "ja", s.now)
	later := render(s.Aggregate, c, "ja", s.now.Add(time.Hour))
	expect.That(t, card.Hash(later) == card.Hash(m), "an hour that changes nothing changes the hash")
	sorted := expect.Value(json.Marshal(decoded(t, m)))(t)
	if want := aggregate.HashOf(string(sorted)); card.Hash(m) != want {
		t.Errorf("hash is %q, that of the JSON with sorted keys is %q", card.Hash(m), want)
	}
	seen := map[string]string{card.Hash(m): "as it was"}
	for name, other := range map[string]card.Message{
		"another language": render(s.Aggregate, c, "en", s.now),
		"another text":     {Text: "x", Attachments: m.Attachments},
		"another colour":   {Text: m.Text, Attachments: []slack.Attachment{{Color: "#000000", Blocks: m.Attachments[0].Blocks}}},
		"decided": render(s.do(decide.Approve(s, s.Process().ID, approver, policy, s.now)).Aggregate, c, "ja",
			s.now),
	} {
		same, ok := seen[card.Hash(other)]
		expect.That(t, !ok, "%s has the hash of %s", name, same)
		seen[card.Hash(other)] = name
	}
}

// Effects relies on this: nothing is drawn for an acceptance.
func TestAnAcceptedRequestLooksAsBefore(t *testing.T) {
	for _, locale := range language.All {
		for _, kind := range []string{"channel", "group", "mpim", "im"} {
			s := received(t)
			s.Request.ChannelType = kind
			before := render(s.Aggregate, s.card(taskCard), locale, s.now)
			s.do(s.Accept(s.Head.Run, requester, tenancy.DefaultSettings(), s.now))
			after := render(s.Aggregate, s.card(taskCard), locale, s.now)
			if s.Head.AcceptedAt == nil || s.Head.Rev != 2 || card.Hash(before) != card.Hash(after) {
				t.Errorf("%s, %s: revision %d shows %v, was %v", locale, kind, s.Head.Rev, after, before)
			}
		}
	}
}

// Before a model is called people read to whom a request is shown because nobody else is where they asked.
func TestAnAcceptedRequestSaysToWhomItIsShown(t *testing.T) {
	for _, locale := range language.All {
		for want, to := range map[string][]string{"<#C0HOME>": {"C0HOME"}, "<@U0TANAKA> <@U0MORI>": {"U0TANAKA", "U0MORI"}} {
			s := received(t)
			s.Request.ChannelType = "im"
			s.do(s.Accept(s.Head.Run, requester, tenancy.DefaultSettings(), s.now, to...))
			s.card(taskCard).State, s.Head.ShownRev = aggregate.CardPosted, 1
			expect.That(t, s.Effects(s.now).Cards, "it is drawn")
			m := render(s.Aggregate, s.card(taskCard), locale, s.now)
			text := drawn(m.Attachments[0].Blocks.BlockSet)
			expect.That(t, strings.Contains(text, want) && strings.Contains(text, "/ringi list"), "%s: %s", locale, text)
		}
	}
}

// TestMessageSurvivesTheWire: a message that Slack returns has the same hash as the one that was sent.
func TestMessageSurvivesTheWire(t *testing.T) {
	for _, st := range states {
		s := st.scenario(t)
		m := render(s.Aggregate, s.card(st.card), "ja", s.now)
		b := expect.Value(json.Marshal(m))(t)
		var back card.Message
		err := json.Unmarshal(b, &back)
		expect.Must(t, err == nil, "%s: %v", st.name, err)
		expect.That(t, card.Hash(back) == card.Hash(m), "%s: the hash changes over the wire", st.name)
	}
}

// TestTornRows: an aggregate may mix two commits. A card then offers nothing that the newer one has removed.
func TestTornRows(t *testing.T) {
	ended := &task.Ended{As: task.TaskCancelled, By: approver.ID, Reason: task.ReasonByPerson,
		At: time.Unix(1776522792, 0)}
	set := tenancy.DefaultSettings()
	for name, tc := range map[string]struct {
		s    *scenario
		card string
	}{
		"a prompt that waits":  {received(t).extracted().drafted(set), promptCard},
		"a process that waits": {planned(t, fiveSteps(), set), processCard},
		"a step that waits":    {gated(t, arguments), stepCard},
	} {
		tc.s.Head.Ended = ended
		m := render(tc.s.Aggregate, tc.s.card(tc.card), "ja", tc.s.now)
		if len(buttons(m)) > 0 || m.Attachments[0].Color != "#888888" {
			t.Errorf("%s beside an ended head: %d buttons, colour %s", name, len(buttons(m)), m.Attachments[0].Color)
		}
	}
	s := approved(t, fiveSteps())
	s.Executions = nil
	if m := render(s.Aggregate, s.card(executionCard), "ja", s.now); len(buttons(m)) > 0 || cardtest.Check(m) != nil {
		t.Errorf("a card without its execution: %d buttons, %v", len(buttons(m)), cardtest.Check(m))
	}
}

func TestAPauseThatIsOverIsNotShown(t *testing.T) {
	s := received(t)
	until := s.now.Add(time.Minute)
	s.do(s.WaitUntil(1, s.Generating(), until, s.now))
	for now, blocks := range map[time.Time]int{until.Add(-time.Second): 2, until: 1} {
		n := len(render(s.Aggregate, s.card(taskCard), "ja", now).Attachments[0].Blocks.BlockSet)
		expect.That(t, n == blocks, "at %s: %d blocks, want %d", now, n, blocks)
	}
}

func TestMarker(t *testing.T) {
	got := map[task.StepStatus]string{}
	for _, s := range []task.StepStatus{"", task.StepRunning, task.StepCompleted, task.StepFailed, task.StepUnknown,
		"brand_new"} {
		got[s] = card.Marker(s)
	}
	want := map[task.StepStatus]string{"": "⬜", "running": "🔄", "completed": "✅", "failed": "❌", "unknown": "❓",
		"brand_new": "⬜"}
	expect.Same(t, want, got)
}

func TestPriorities(t *testing.T) {
	for p, want := range map[task.Priority]string{
		task.Low: "🟢 Low", task.Medium: "🟡 Medium", task.High: "🔴 High", task.Urgent: "🚨 Urgent", "<odd>": "&lt;odd&gt;", "": "(なし)",
	} {
		s := received(t).extracted()
		s.Task.Priority = p
		m := render(s.Aggregate, s.card(taskCard), "ja", s.now)
		got := m.Attachments[0].Blocks.BlockSet[3].(*slack.SectionBlock).Fields[0].Text
		expect.That(t, got == "*優先度*\n"+want, "%q shows %q", p, got)
	}
}

// TestProgressIsByStep: two steps that call the same tool don't share their progress.
func TestProgressIsByStep(t *testing.T) {
	steps := fiveSteps()
	steps[2].Tool = "list_employees"
	s := started(t, steps).steps(1).claim(2)
	m := render(s.Aggregate, s.card(executionCard), "ja", s.now)
	want := "✅ 1. *従業員一覧を取得* — `list_employees`\n🔄 2. *勤怠データ取得* — `list_attendance` 実行中...\n⬜ 3. *残業時間計算* — `list_employees`\n" +
		"⬜ 4. *Sheet 書き込み* — `write_rows_to_google_sheet`\n⬜ 5. *完了通知* — `send_slack_dm`"
	expect.Same(t, want, m.Attachments[0].Blocks.BlockSet[1].(*slack.SectionBlock).Text.Text)
}

func TestElapsed(t *testing.T) {
	for took, want := range map[time.Duration]string{
		0: "0", 400 * time.Millisecond: "0.4", 3*time.Second + 240*time.Millisecond: "3.2", 7 * time.Second: "7",
		9*time.Second + 990*time.Millisecond: "10", 61*time.Second + 600*time.Millisecond: "62", -time.Second: "0",
	} {
		s := started(t, fiveSteps()).steps(1, 2, 3, 4, 5)
		s.do(s.CompleteExecution(s.Head.Run, "ok", s.now))
		end := s.Execution().StartedAt.Add(took)
		s.Execution().CompletedAt = &end
		m := render(s.Aggregate, s.card(executionCard), "en", s.now)
		blocks := m.Attachments[0].Blocks.BlockSet
		got := blocks[len(blocks)-1].(*slack.ContextBlock).ContextElements.Elements[0].(*slack.TextBlockObject).Text
		wantText := "⏱️ Took " + want + " s · "
		expect.That(t, got[:len(wantText)] == wantText, "%s: %q", took, got)
	}
}

func TestRejectionModalOfEveryKind(t *testing.T) {
	for _, kind := range []aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep} {
		want := card.Rejection{Type: kind, ID: "01ROW", TaskID: "01TASK"}
		var got card.Rejection
		expect.NoError(t, json.Unmarshal([]byte(card.RejectionModal(want, "ja").PrivateMetadata), &got))
		expect.Same(t, want, got)
	}
}
