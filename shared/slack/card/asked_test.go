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

// A correction changes the policy but not the task's title: the task's card names the version of the newest policy once
// that can be read.
func TestATasksCardSaysWhichVersionHasTheNewest(t *testing.T) {
	s := received(t).extracted().drafted(tenancy.DefaultSettings())
	said := func(locale string) string {
		return drawn(render(s.Aggregate, s.card(taskCard), locale, s.now).Attachments[0].Blocks.BlockSet)
	}
	never := func(when string) {
		text := said("ja")
		expect.That(t, !strings.Contains(text, "依頼されたときの内容です"), "%s: %s", when, text)
	}
	never("nothing was corrected")
	s.rejectPrompt("開発部も")
	s.drafting()
	never("the next version is being drafted")
	s.do(s.FinishPrompt(s.Head.Run, task.Drafted{Content: content}, tenancy.DefaultSettings(), s.now))
	for locale, want := range map[string]string{"ja": "最新の内容は実行方針 v2 にあります", "en": "For the latest, see policy v2"} {
		expect.Has(t, said(locale), want, "%s", locale)
	}
}

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

// The gate of a second attempt closes by itself when the first attempt's write turns out to have completed.
func TestAGateThatLateTruthClosedSaysSo(t *testing.T) {
	s := gated(t, arguments)
	s.Gates[0].Status = aggregate.Cancelled
	s.Add(&task.StepResult{ProcessVersion: 1, Attempt: 1, Order: 2, StepID: "step-2", Status: task.StepCompleted,
		Reused: true})
	for locale, want := range map[string]string{"ja": "すでに完了していた", "en": "had already completed"} {
		b := expect.Value(json.Marshal(render(s.Aggregate, s.card(stepCard), locale, s.now)))(t)
		expect.That(t, strings.Contains(string(b), want) && !strings.Contains(string(b), "approve_step"),
			"%s: the card says %s", locale, b)
	}
}

// A task that is parked because nobody may approve it has not failed, on every card.
func TestWhatNobodyMayApproveIsOnHoldAndHasNotFailed(t *testing.T) {
	for locale, says := range map[string][3]string{"ja": {"保留", "失敗", "エラー"}, "en": {"on hold", "fail", "error"}} {
		set := tenancy.DefaultSettings()
		set.Locale = locale
		for name, x := range map[string]struct {
			s    *scenario
			card string
		}{
			"before a first draft":   {received(t).lastExtracted(), taskCard},
			"a draft that was begun": {received(t).extracted().drafting(), promptCard},
			"a rejected one":         {received(t).extracted().drafted(set).rejectPrompt("短く"), promptCard},
			"steps that were begun":  {planning(received(t)), processCard},
		} {
			x.s.park(task.ReasonNobodyApproves)
			m := card.Render(x.s.Aggregate, x.s.card(x.card), set, card.Around{}, x.s.now)
			err := cardtest.Check(m)
			expect.That(t, err == nil, "%v", err)
			said := strings.ToLower(drawn(m.Attachments[0].Blocks.BlockSet) + m.Text)
			list := strings.ToLower(drawn(card.HomeView(card.Summary{Mine: []card.Mine{{Task: x.s.Aggregate}}}, set,
				locale).Blocks.BlockSet))
			for where, text := range map[string]string{"card": said, "Home": list} {
				expect.That(t, strings.Contains(text, says[0]) && !strings.Contains(text, says[1]) &&
					!strings.Contains(text, says[2]), "%s, %s, %s: %s", name, locale, where, text)
			}
		}
	}
}

// A waiting card says who decides, and until when.
func TestACardThatWaitsSaysWhoDecidesAndUntilWhen(t *testing.T) {
	many := make([]string, 0, 12)
	for i := range 12 {
		many = append(many, fmt.Sprintf("U%02d", i))
	}
	list := func(users, groups []string) tenancy.Approvers {
		return tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}
	}
	for _, tt := range []struct {
		name      string
		approvers tenancy.Approvers
		self      bool
		direct    bool
		ja, en    string
	}{
		{"the channel", tenancy.Approvers{Mode: aggregate.ApproversChannel}, true, false,
			"<#C0HR> のメンバーのうち 1 人\n 依頼した <@U0REQUESTER> さん本人も承認できます",
			"one of the members of <#C0HR>\n also <@U0REQUESTER>, who asked"},
		{"people with the requester", list([]string{"U1", "U0REQUESTER"}, nil), true, false,
			"<@U1>、<@U0REQUESTER>のうち 1 人\n 依頼した <@U0REQUESTER> さん本人も承認できます",
			"one of <@U1>, <@U0REQUESTER>\n also <@U0REQUESTER>, who asked"},
		{"people without the requester", list([]string{"U1"}, nil), true, false, "<@U1>\n", "<@U1>\n"},
		{"people but for the requester", list([]string{"U1", "U0REQUESTER"}, nil), false, false, "<@U1>\n", "<@U1>\n"},
		{"the channel but for the requester", tenancy.Approvers{Mode: aggregate.ApproversChannel}, false, false,
			"<#C0HR> のメンバーのうち 1 人\n 依頼した <@U0REQUESTER> は、自分の依頼を承認できません",
			"one of the members of <#C0HR>\n not <@U0REQUESTER>, who asked"},
		{"a direct message", tenancy.Approvers{Mode: aggregate.ApproversChannel}, true, true, "<@U0REQUESTER>\n",
			"<@U0REQUESTER>\n"},
		{"people and groups", list([]string{"U1"}, []string{"S1"}), true, false, "<@U1>、<!subteam^S1>のうち 1 人\n",
			"one of <@U1>, <!subteam^S1>\n"},
		{"a group but for the requester", list(nil, []string{"S1"}), false, false,
			"<!subteam^S1>のうち 1 人\n 依頼した <@U0REQUESTER> は、自分の依頼を承認できません",
			"one of <!subteam^S1>\n not <@U0REQUESTER>, who asked"},
		{"more than a line holds", list(many, []string{"S1"}), true, false,
			strings.Join(mentions(many[:10]), "、") + " ほか 3 件のうち 1 人\n",
			"one of " + strings.Join(mentions(many[:10]), ", ") + " and 3 more\n"},
		{"nobody", list(nil, nil), true, false, "👥 承認・却下できる人: なし (承認者が登録されていません",
			"👥 Can approve or reject: nobody (ask an administrator"},
		{"nobody but the requester", list([]string{"U0REQUESTER"}, nil), false, false,
			"👥 承認できる人: 今の設定では、いません (依頼した <@U0REQUESTER> は", "👥 Can approve: nobody (<@U0REQUESTER> can't approve"},
		{"an id that forges a mention", list([]string{"U1> <!channel"}, []string{"S1> <!here"}), true, false,
			"U1&gt; &lt;!channel、S1&gt; &lt;!hereのうち 1 人\n", "one of U1&gt; &lt;!channel, S1&gt; &lt;!here\n"},
	} {
		for locale, says := range map[string]string{"ja": "*👉 いま:* " + tt.ja, "en": "*👉 Now:* " + tt.en} {
			who, note, _ := strings.Cut(says, "\n ")
			who = who[max(strings.Index(who, "👥"), 0):] // nobody's turn
			t.Run(tt.name+" "+locale, func(t *testing.T) {
				set := tenancy.DefaultSettings()
				set.Approvers, set.AllowSelfApproval, set.Locale = tt.approvers, tt.self, locale
				opened := tenancy.DefaultSettings() // settings under which somebody could approve it
				opened.Locale = locale
				s := received(t).extracted().drafted(opened)
				if tt.direct {
					r := *s.Request
					r.ChannelType = "im"
					s.Request = &r
				}
				m := card.Render(s.Aggregate, s.card(promptCard), set, card.Around{}, s.now)
				err := cardtest.Check(m)
				expect.That(t, err == nil, "%v", err)
				shown := fmt.Sprint(decoded(t, m.Attachments))
				until := fmt.Sprintf("<!date^%d^", s.Prompt().Terms.DecideBy.Unix())
				expect.That(t, strings.Contains(shown, who) && strings.Contains(shown, until) && strings.Contains(shown, note),
					"shows %s\nwant %q, %q and %q", shown, who, until, note)
			})
		}
	}
}

func mentions(ids []string) (out []string) {
	for _, id := range ids {
		out = append(out, "<@"+id+">")
	}
	return out
}

// Before there is a task, nobody knows what becomes of a message: the notes promise no card.
func TestANoteBeforeThereIsATaskPromisesNoCard(t *testing.T) {
	for locale, says := range map[string][2]string{"ja": {"確認しています", "カード"}, "en": {"Working on it", "card"}} {
		for _, n := range []card.AskNote{card.NoteAccepted} {
			told := n.Told(locale)
			expect.That(t, strings.Contains(told, says[0]) && !strings.Contains(told, says[1]), "%s, %s: %q", locale, n, told)
		}
	}
}

// The dialog for a rejection promises another version, so the card of the last one says that there is none.
func TestTheCardOfTheLastVersionSaysWhatARejectionDoes(t *testing.T) {
	for most, last := range map[int]bool{1: true, 2: false} {
		for locale, says := range map[string]string{"ja": "却下すると、タスクはキャンセルされます", "en": "Rejecting it cancels the task"} {
			set := tenancy.DefaultSettings()
			set.MaxVersions, set.Locale = most, locale
			s := received(t).extracted().drafted(set)
			shown := fmt.Sprint(decoded(t, card.Render(s.Aggregate, s.card(promptCard), set, card.Around{}, s.now).Attachments))
			expect.Is(t, strings.Contains(shown, says), last, locale, most, shown)
		}
	}
}

// A message of nothing but files and forwarded messages is called by these where its words would stand.
func TestAMessageWithoutWordsIsCalledByWhatItHas(t *testing.T) {
	for locale, says := range map[string]string{
		"ja": "田中 恵 さんのメッセージの転送, 転送されたメッセージ, 📎 名簿.csv, 📎 F2",
		"en": "Forwarded message of 田中 恵, Forwarded message, 📎 名簿.csv, 📎 F2",
	} {
		s := received(t)
		s.Request.Text = "\u200b"
		s.Request.Files = []aggregate.SharedFile{{ID: "F1", Name: "名簿.csv"}, {ID: "F2"}}
		s.Request.Forwarded = []aggregate.Quoted{{Name: "田中 恵", Text: "営業だけ"}, {Text: "DM は不要"}}
		expect.Has(t, drawn(card.HomeView(card.Summary{Mine: []card.Mine{{Task: s.Aggregate}}}, defaults,
			locale).Blocks.BlockSet), says)
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
