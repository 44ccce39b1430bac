package card_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// routeStates are the screens L1 to L7 of cards of gates under a rule.
var routeStates = []state{
	{"route_looked_up", processCard, func(s *scenario) *scenario {
		p := onRoute(s, threeStages()...)
		g := &p.Process().Gate
		*g = aggregate.Gate{Status: aggregate.Generating, Terms: g.Terms}
		return p
	}},
	{"route_first_stage", processCard, func(s *scenario) *scenario { return onRoute(s, threeStages()...) }},
	{"route_stand_in", processCard, func(s *scenario) *scenario {
		s = onRoute(s, desk("課長", 1, suzuki), desk("次長", 1, takada), desk("部長", 1, yamada))
		return s.act(circulation.Stamp, 1, tanaka, standingFor(suzuki)).stamps(2, takada)
	}},
	{"route_sent_back", processCard, func(s *scenario) *scenario {
		return onRoute(s, threeStages()...).stamps(1, suzuki).stamps(2, tanaka, takada).act(circulation.SendBack, 3, yamada)
	}},
	{"route_denied", processCard, func(s *scenario) *scenario {
		return onRoute(s, threeStages()...).stamps(1, suzuki).act(circulation.Deny, 2, mori)
	}},
	{"route_second_round", "CARD#process#0002", sentBack},
	{"route_numbered", processCard, numberedOnRoute},
	{"route_amount", processCard, saw(aggregate.Seen{Amount: "298000", Currency: "JPY"})},
	{"route_amount_unknown", processCard, saw(aggregate.Seen{ByAmount: true})},
	{"route_amount_not_given", processCard, saw(aggregate.Seen{Why: string(rules.WhyMissing)})},
	{"execution_numbered", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3, 4, 5)
		s.Execution().Number = "2026-000123"
		return s.do(s.CompleteExecution(s.Head.Run, "42 名分の勤怠を集計し、シートに書き込みました。", s.now))
	}},
	{"route_settled", processCard, func(s *scenario) *scenario {
		return onRoute(s, threeStages()...).stamps(1, suzuki).stamps(2, tanaka, takada).stamps(3, yamada)
	}},
	{"route_stuck", processCard, stuck},
	{"route_channel", processCard, func(s *scenario) *scenario {
		return onRoute(s, desk("課長", 1, suzuki), circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}).
			stamps(1, suzuki)
	}},
	{"route_counts", processCard, func(s *scenario) *scenario {
		twoOf := func(name string, before string) circulation.Stage {
			x := desk(name, 1, takada, mori)
			x.Before = []circulation.Person{{User: before}}
			return x
		}
		return onRoute(s, desk("課長", 1, suzuki), twoOf("経理", suzuki), twoOf("総務", suzuki)).stamps(1, suzuki).stamps(2, mori)
	}},
	{"route_unknown", processCard, func(s *scenario) *scenario {
		s = onRoute(s, threeStages()...)
		s.Process().Gate.Route.Form = circulation.Form + 1
		return s
	}},
	{"route_expired", processCard, func(s *scenario) *scenario {
		return onRoute(s, threeStages()...).stamps(1, suzuki).expire()
	}},
	{"route_folded", processCard, func(s *scenario) *scenario {
		desks := []circulation.Stage{desk("申請部門の課長による一次確認", 1, suzuki), desk("経理部による予算と勘定科目の確認", 3, tanaka, takada, mori),
			desk("法務部による契約書の内容の確認", 2, "U0LEGAL1", "U0LEGAL2"), desk("申請部門の部長による承認", 1, yamada),
			desk("担当役員による最終の承認", 1, "U0BOARD1", "U0BOARD2")}
		for i := range desks {
			desks[i].Name += "、次の段階に進めてよいかどうかの判断"
		}
		s = onRoute(s, desks...).stamps(1, suzuki).stamps(2, tanaka, takada, mori)
		return s.stamps(3, "U0LEGAL1", "U0LEGAL2").stamps(4, yamada)
	}},
	{"route_of_step", stepCard, func(s *scenario) *scenario {
		s = gated(s, arguments)
		routed(&s.Gates[0].Gate, s.now, desk("部長", 1, yamada))
		return s
	}},
}

// stuck waits for somebody who has left.
func stuck(s *scenario) *scenario {
	s = onRoute(s, threeStages()...).stamps(1, suzuki).stamps(2, tanaka, mori)
	s.Copies = append(s.Copies, &aggregate.Card{CardType: task.CardProcess, Subject: s.Process().Key(), User: yamada,
		Stage: 3, State: aggregate.CardUnreachable, Refusal: "user_not_found"})
	return s
}

// saw is a process along a route of whose amount rules saw this.
func saw(seen aggregate.Seen) func(*scenario) *scenario {
	return func(s *scenario) *scenario {
		s = onRoute(s, threeStages()...)
		s.Process().Seen = &seen
		return s
	}
}

// copyOf is the copy of the process to a person at a stage.
func (s *scenario) copyOf(user string, stage int) *aggregate.Card {
	return &aggregate.Card{CardType: task.CardProcess, Subject: s.Process().Key(), User: user, Stage: stage,
		CreatedAt: s.now}
}

func copied(s *scenario, c *aggregate.Card, locale string) card.Message {
	set := tenancy.DefaultSettings()
	set.Locale = locale
	return copyOf(s.Aggregate, c, set, "https://x.slack.com/archives/C0HR/p1", s.now)
}

func copiesOnARoute(t *testing.T, locale string) map[string]card.Message {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	c := s.copyOf(tanaka, 2)
	all := map[string]card.Message{"asks": copied(s, c, locale)}
	s.stamps(2, tanaka)
	all["stamped"] = copied(s, c, locale)
	all["passed_by"] = copied(s, s.copyOf("U0OTHER", 1), locale)
	s.stamps(2, mori).stamps(3, yamada)
	all["settled"] = copied(s, s.copyOf(yamada, 3), locale)
	return all
}

// A copy changes when what its person owes changes, and not with what others stamp.
func TestACopyChangesWithWhatItsPersonOwes(t *testing.T) {
	s := onRoute(received(t), threeStages()...)
	asks := func(m card.Message) bool { return offers(m, "approve_process") && offers(m, "reject_process") }
	copies := map[string]*aggregate.Card{"suzuki": s.copyOf(suzuki, 1), "tanaka": s.copyOf(tanaka, 2),
		"takada": s.copyOf(takada, 2), "mori": s.copyOf(mori, 2), "yamada": s.copyOf(yamada, 3)}
	was := map[string]card.Message{}
	changed := func(what string, want ...string) {
		t.Helper()
		for name, c := range copies {
			m := copied(s, c, "ja")
			expect.That(t, (card.Hash(m) != card.Hash(was[name])) == slices.Contains(want, name), "%s: the copy of %s", what,
				name)
			owes := card.Owes(circulation.Walk(s.Process().Circulating()), c)
			expect.That(t, asks(m) == (owes && s.Process().Status == aggregate.PendingApproval), "%s: buttons of %s", what, name)
			text := drawn(m.Attachments[0].Blocks.BlockSet)
			expect.That(t, strings.Contains(text, "👉 あなたの番です") == asks(m) && !strings.Contains(text, "👉 承認待ち"), "%s: %s", what,
				text)
			was[name] = m
		}
	}
	changed("opened", "suzuki", "tanaka", "takada", "mori", "yamada")
	s.stamps(1, suzuki)
	changed("the first stage stamped", "suzuki", "tanaka", "takada", "mori")
	s.stamps(2, tanaka)
	changed("one of two stamped", "tanaka")
	s.stamps(2, mori)
	changed("two of two stamped", "takada", "mori", "yamada")
	s.stamps(3, yamada)
	changed("settled", "yamada")
}

// Who stood in for another at their own stage owes no stamp any more: their copy shows the one that they gave.
func TestTheCopyOfWhoStoodInShowsThatStamp(t *testing.T) {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	s.act(circulation.Stamp, 2, tanaka, standingFor(takada))
	for _, user := range []string{tanaka, takada} {
		m := copied(s, s.copyOf(user, 2), "ja")
		expect.That(t, !offers(m, "approve_process"), "%s can stamp", user)
		expect.Has(t, drawn(m.Attachments[0].Blocks.BlockSet), "✅ 承認: <@"+tanaka+">", user)
	}
	expect.That(t, offers(copied(s, s.copyOf(mori, 2), "ja"), "approve_process"), "the third can't stamp")
}

// Buttons say which stage and which content their person saw, on a card and a copy.
func TestButtonsNameTheirStage(t *testing.T) {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	of := fmt.Sprintf("%s/2/%s", s.Head.TaskID, s.Asked(s.Process().ID).Hash)
	expect.Is(t, blockOf(render(s.Aggregate, s.card(processCard), "ja", s.now)), of, "second stage")
	expect.Is(t, blockOf(copied(s, s.copyOf(mori, 2), "ja")), of, "copy")
	for block, want := range map[string]string{
		"01T": "01T 0  true", "01T/1": "01T 1  true", "01T/12": "01T 12  true", "01T/": "01T 0  false",
		"01T/0": "01T 0  false", "01T/01": "01T 1  false", "01T/-1": "01T -1  false", "01T/+1": "01T 1  false",
		"01T/1/2": "01T 1 2 true", "01T/0/2": "01T 0 2 true", "01T/-1/2": "01T -1 2 false", "01T/x": "01T 0  false",
	} {
		id, stage, hash, ok := card.Subject(block)
		expect.Is(t, fmt.Sprint(id, " ", stage, " ", hash, " ", ok), want, "%s", block)
	}
}

// blockOf returns the block_id of a message's buttons.
func blockOf(m card.Message) (id string) {
	for _, b := range m.Attachments[0].Blocks.BlockSet {
		if a, ok := b.(*slack.ActionBlock); ok {
			id = a.BlockID
		}
	}
	return id
}

// What names the person comes first, however soon the rest is due.
func TestHomeBeginsWithWhatNamesThePerson(t *testing.T) {
	due := func(h int) *time.Time {
		at := time.Date(2026, 4, 18, h, 0, 0, 0, time.UTC)
		return &at
	}
	of := func(title string, stage int, by *time.Time) card.Waits {
		a := *received(t).extracted().Aggregate
		x := *a.Task
		x.Title, a.Task = title, &x
		return card.Waits{Of: &a, Stage: stage, Question: aggregate.Question{Kind: task.CardPrompt, DecideBy: by}}
	}
	in := card.Summary{Waiting: []card.Waits{of("甲", 0, due(1)), of("乙", 1, nil), of("丙", 1, due(3)), of("丁", 0, nil)}}
	text, at := drawn(card.HomeView(in, defaults, "ja").Blocks.BlockSet), -1
	for _, title := range []string{"丙」*", "乙」*", "甲」*", "丁」*"} {
		i := strings.Index(text, title)
		expect.That(t, i > at, "%s at %d: %s", title, i, text)
		at = i
	}
}

// The model's sentence and Ringi's sentence below it are in one language.
func TestAReplyIsInOneLanguage(t *testing.T) {
	for said, ours := range map[string]string{
		"I can't prepare invoices.": "Ringi can’t take this request", "請求書は作成できません。": "この依頼はお受けできません", "无法制作": "",
	} {
		for _, workspace := range language.All {
			s := received(t)
			s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: said}, s.now))
			want := ours
			if want == "" {
				want = map[string]string{"ja": "この依頼はお受けできません", "en": "Ringi can’t take this request"}[workspace]
			}
			m := render(s.Aggregate, s.card(taskCard), workspace, s.now)
			expect.Has(t, m.Text, want, "%s, %s", workspace, said)
			expect.Is(t, len(m.Attachments), 1, "Slack marks a message without them as edited")
		}
	}
}

// A waiting card says who decides, and until when.
func TestACardThatWaitsSaysWhoDecidesAndUntilWhen(t *testing.T) {
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("U%02d", i)
	}
	for name, tt := range map[string]struct {
		users, groups []string // none: the channel
		self          bool
		want          []string
	}{
		"the channel": {nil, nil, true,
			[]string{"*👉 承認待ち:* <#C0HR> のメンバーのうち 1 人", "依頼した <@U0REQUESTER> さん本人も承認できます"}},
		"people but for the requester": {[]string{"U1", "U0REQUESTER"}, nil, false, []string{"*👉 承認待ち:* <@U1>\n"}},
		"a group but for the requester": {nil, []string{"S1"}, false,
			[]string{"<!subteam^S1>のうち 1 人", "依頼した <@U0REQUESTER> さんは、自分の依頼を承認できません"}},
		"more than a line holds":      {many, []string{"S1"}, true, []string{"<@U09> ほか 3 件のうち 1 人\n"}},
		"nobody but the requester":    {[]string{"U0REQUESTER"}, nil, false, []string{"👥 承認できる人: 今の設定では、いません"}},
		"an id that forges a mention": {[]string{"U1> <!channel"}, nil, true, []string{"U1&gt; &lt;!channel\n"}},
	} {
		s := received(t).extracted().drafted(defaults)
		set := settings(func(set *tenancy.Settings) {
			set.AllowSelfApproval = tt.self
			if tt.users != nil || tt.groups != nil {
				set.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: tt.users, Usergroups: tt.groups}
			}
		})
		m := card.Render(s.Aggregate, s.card(promptCard), set, card.Around{}, s.now)
		expect.NoError(t, ringitest.CheckCard(m))
		shown := drawn(m.Attachments[0].Blocks.BlockSet)
		for _, want := range append(tt.want, fmt.Sprintf("<!date^%d^", s.Prompt().Terms.DecideBy.Unix())) {
			expect.Has(t, shown, want, name)
		}
	}
}

// A person in a policy, a task or a summary is drawn by name and id. All other markup of Slack's has no effect.
func TestPeopleAreDrawnByNameWithTheirIDs(t *testing.T) {
	text := "完了したら、<@U0SANDSUZU>に知らせます。<!channel> <!subteam^S0TEAM01> <#C0HR00001> <@u0small00> <@U0SANDSUZU|社長> " +
		"@here &lt;@U0ESCAPED&gt; <@B0BOT0000>"
	for name, s := range map[string]func() (*scenario, string){
		"policy": func() (*scenario, string) {
			s := received(t).extracted().drafted(tenancy.DefaultSettings())
			s.Prompt().Content = text
			return s, promptCard
		},
		"description": func() (*scenario, string) {
			s := received(t).extracted().drafted(tenancy.DefaultSettings())
			s.Task.Description = text
			return s, taskCard
		},
		"reply": func() (*scenario, string) {
			s := received(t)
			return s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: text}, s.now)), taskCard
		},
		"summary": func() (*scenario, string) {
			s := started(t, fiveSteps()).steps(1, 2, 3, 4, 5)
			s.Execution().Status, s.Execution().Summary = task.ExecutionCompleted, text
			return s, executionCard
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, kind := s()
			m := render(s.Aggregate, s.card(kind), "ja", s.now)
			expect.NoError(t, ringitest.CheckCard(m))
			got := m.Text // of a plain reply
			if len(m.Attachments) > 0 {
				got = drawn(m.Attachments[0].Blocks.BlockSet)
			}
			expect.That(t, strings.Contains(got, "完了したら、<@U0SANDSUZU> (U0SANDSUZU)に知らせます。"), "the person has no name: %s", got)
			expect.Has(t, got, "<#C0HR00001>")
			for _, marks := range []string{"<!channel", "<!subteam", "<@u", "|社長>", "@here", "<@U0ESCAPED",
				"<@B0"} {
				expect.That(t, !strings.Contains(got, marks), "%s works: %s", marks, got)
			}
		})
	}
}

// A step that would fail again under any permission has no button to retry, and a click on an old button decides
// nothing.
func TestWhatMustFailAgainHasNoButton(t *testing.T) {
	for _, tt := range []struct {
		reason aggregate.Reason
		button bool
	}{{task.ReasonPlanLacks, true}, {task.ReasonPlanNever, false}} {
		s := received(t)
		s.Head.Parked = &task.Parked{Layer: task.L1, Sentence: tt.reason}
		b := expect.Value(json.Marshal(render(s.Aggregate, s.card(taskCard), "ja", s.now)))(t)
		_, err := s.RetryGeneration(approver, policy, s.now)
		expect.That(t, strings.Contains(string(b), "retry_generation") == tt.button && (err == nil) == tt.button,
			"%s: %v, %s", tt.reason, err, b)
	}
}

// Slack notifies everybody who is mentioned. A text mentions no more people than a policy may name, and shows the
// others by id.
func TestNoTextCallsEverybody(t *testing.T) {
	var text strings.Builder
	for n := range 500 {
		fmt.Fprintf(&text, "<@U0PERSON%03d> ", n%250) // each twice
	}
	s := received(t).extracted().drafted(tenancy.DefaultSettings())
	s.Task.Description, s.Prompt().Content = text.String(), text.String()
	for _, kind := range []string{taskCard, promptCard} {
		got := s.drawn(kind)
		called := map[string]bool{}
		for _, piece := range strings.Split(got, "<@")[1:] {
			id, _, _ := strings.Cut(piece, ">")
			called[id] = true
		}
		delete(called, "U0REQUESTER") // the card's own words
		expect.That(t, len(called) == task.MaxMentioned && strings.Contains(got, "&lt;@U0PERSON020&gt;"),
			"%s calls %d people", kind, len(called))
	}
}
