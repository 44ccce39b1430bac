package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/words/language"
)

// The model's sentence and Ringi's sentence below it are in one language.
func TestAReplyIsInOneLanguage(t *testing.T) {
	for said, ours := range map[string]string{
		"I can't prepare invoices.": "No task was created", "請求書は作成できません。": "タスクは作成していません", "无法制作": "",
	} {
		for _, workspace := range language.All {
			s := received(t)
			s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: said}, s.now))
			want := ours
			if want == "" {
				want = map[string]string{"ja": "タスクは作成していません", "en": "No task was created"}[workspace]
			}
			expect.Has(t, render(s.Aggregate, s.card(taskCard), workspace, s.now).Text, want, "%s, %s", workspace, said)
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
			[]string{"*👉 いま:* <#C0HR> のメンバーのうち 1 人", "依頼した <@U0REQUESTER> さん本人も承認できます"}},
		"people but for the requester": {[]string{"U1", "U0REQUESTER"}, nil, false, []string{"*👉 いま:* <@U1>\n"}},
		"a group but for the requester": {nil, []string{"S1"}, false,
			[]string{"<!subteam^S1>のうち 1 人", "依頼した <@U0REQUESTER> は、自分の依頼を承認できません"}},
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
		expect.NoError(t, cardtest.Check(m))
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
		"summary": func() (*scenario, string) {
			s := started(t, fiveSteps()).steps(1, 2, 3, 4, 5)
			s.Execution().Status, s.Execution().Summary = task.ExecutionCompleted, text
			return s, executionCard
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, kind := s()
			m := render(s.Aggregate, s.card(kind), "ja", s.now)
			expect.NoError(t, cardtest.Check(m))
			got := drawn(m.Attachments[0].Blocks.BlockSet)
			expect.That(t, strings.Contains(got, "完了したら、<@U0SANDSUZU> (U0SANDSUZU)に知らせます。"), "the person has no name: %s", got)
			for _, marks := range []string{"<!channel", "<!subteam", "<#C0HR00001", "<@u", "|社長>", "@here", "<@U0ESCAPED",
				"<@B0"} {
				expect.That(t, !strings.Contains(got, marks), "%s works: %s", marks, got)
			}
		})
	}
}

func TestAReplyDrawsPeopleByName(t *testing.T) {
	s := received(t)
	s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: "「<@U0SANDSUZU>」が誰のことか分かりません。<!channel>"},
		s.now))
	said := render(s.Aggregate, s.card(taskCard), "ja", s.now).Text
	expect.That(t, strings.Contains(said, "「<@U0SANDSUZU> (U0SANDSUZU)」が誰のこと") && !strings.Contains(said, "<!channel"),
		"the reply says %q", said)
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

// Names are longer than ids. A card that has no room for all of them offers no approval.
func TestManyPeopleStillFit(t *testing.T) {
	for n, whole := range map[int]bool{200: true, 900: false} {
		text := strings.Repeat("<@U0SANDSUZU>\u3001", n) + "<@U0LAST0000>"
		expect.That(t, card.PromptFits(text) == whole, "%d people fit: %v", n, !whole)
		s := received(t).extracted().drafted(tenancy.DefaultSettings())
		s.Prompt().Content = text
		m := render(s.Aggregate, s.card(promptCard), "ja", s.now)
		expect.NoError(t, cardtest.Check(m))
		got := drawn(m.Attachments[0].Blocks.BlockSet)
		if strings.Contains(got, "<@U0LAST0000> (U0LAST0000)") != whole || offers(m, "approve_prompt") != whole {
			t.Errorf("%d people: approve %v: the last is to be seen: %v", n, offers(m, "approve_prompt"), !whole)
		}
		for _, piece := range strings.Split(got, "<@")[1:] {
			id, _, closed := strings.Cut(piece, ">")
			own := id == "U0REQUESTER" // the card's own words
			expect.That(t, closed && (own || len(id) == len("U0SANDSUZU")), "a mention is cut: %.20s", piece)
		}
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
		m := render(s.Aggregate, s.card(kind), "ja", s.now)
		expect.NoError(t, cardtest.Check(m))
		got := drawn(m.Attachments[0].Blocks.BlockSet)
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
