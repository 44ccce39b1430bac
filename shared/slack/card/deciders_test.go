package card_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

// Whoever looks at a card that waits sees whom to ask, and until when.
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
		{"the channel", tenancy.Approvers{Mode: aggregate.ApproversChannel}, true, false, "<#C0HR> のメンバー", "members of <#C0HR>"},
		{"the channel but for the requester", tenancy.Approvers{Mode: aggregate.ApproversChannel}, false, false,
			"<#C0HR> のメンバー(依頼した <@U0REQUESTER> は、自分の依頼を承認できません)", "members of <#C0HR> (not <@U0REQUESTER>: nobody approves their own request)"},
		{"a direct message", tenancy.Approvers{Mode: aggregate.ApproversChannel}, true, true, "<@U0REQUESTER>", "<@U0REQUESTER>"},
		{"people and groups", list([]string{"U1"}, []string{"S1"}), true, false, "<@U1> <!subteam^S1>", "<@U1> <!subteam^S1>"},
		{"more than a line holds", list(many, []string{"S1"}), true, false, strings.Join(mentions(many[:10]), " ") + " ほか 3 件", strings.Join(mentions(many[:10]), " ") + " and 3 more"},
		{"nobody", list(nil, nil), true, false, "なし(承認者が登録されていません", "nobody (no approver is listed"},
		{"an id that forges a mention", list([]string{"U1> <!channel"}, []string{"S1> <!here"}), true, false, "U1&gt; &lt;!channel S1&gt; &lt;!here", "U1&gt; &lt;!channel S1&gt; &lt;!here"},
	} {
		for locale, who := range map[string]string{"ja": "👥 承認・却下できる人: " + tt.ja, "en": "👥 Can approve or reject: " + tt.en} {
			t.Run(tt.name+" "+locale, func(t *testing.T) {
				set := tenancy.DefaultSettings()
				set.Approvers, set.AllowSelfApproval, set.Locale = tt.approvers, tt.self, locale
				opened := tenancy.DefaultSettings() // under which there was somebody
				opened.Locale = locale
				s := received(t).extracted().drafted(opened)
				if tt.direct {
					r := *s.Request
					r.ChannelType = "im"
					s.Request = &r
				}
				m := card.RenderUnder(s.Aggregate, s.card(promptCard), set, s.now)
				err := cardtest.Check(m)
				expect.That(t, err == nil, "%v", err)
				shown := fmt.Sprint(decoded(t, m.Attachments))
				until := fmt.Sprintf("<!date^%d^", s.Prompt().Terms.DecideBy.Unix())
				expect.That(t, strings.Contains(shown, who) && strings.Contains(shown, until),
					"shows %s\nwant %q and %q", shown, who, until)
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

// The card that asks what a message is meant to be says who may choose what: nobody approves anything there.
func TestAChoiceSaysWhoMayChoose(t *testing.T) {
	list := tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1"}}
	for _, tt := range []struct {
		name      string
		text      string
		approvers tenancy.Approvers
		says      map[string][]string
	}{
		{"a listed approver, and whoever wrote it", "もっと短く", list, map[string][]string{
			"ja": {"👥 却下理由にできる人: <@U1>", "👥 新しい依頼にできる人: <@U0REQUESTER> / <@U1>"},
			"en": {"👥 Can make it the reason: <@U1>", "👥 Can make it a request: <@U0REQUESTER> / <@U1>"},
		}},
		{"the channel", "もっと短く", tenancy.Approvers{Mode: aggregate.ApproversChannel}, map[string][]string{
			"ja": {"👥 却下理由にできる人: <#C0HR> のメンバー", "👥 新しい依頼にできる人: <@U0REQUESTER> / <#C0HR> のメンバー"},
			"en": {"👥 Can make it the reason: members of <#C0HR>", "👥 Can make it a request: <@U0REQUESTER> / members of <#C0HR>"},
		}},
		{"nobody is listed", strings.Repeat("長", task.MaxReason+1), tenancy.Approvers{Mode: aggregate.ApproversList}, map[string][]string{
			"ja": {"👥 新しい依頼にできる人: <@U0REQUESTER>"}, "en": {"👥 Can make it a request: <@U0REQUESTER>"},
		}},
	} {
		for locale, says := range tt.says {
			set := tenancy.DefaultSettings()
			set.Approvers, set.AllowSelfApproval, set.Locale = tt.approvers, false, locale
			s := received(t)
			s.Request.Text = tt.text
			s.do(s.Ask(1, task.Beside{TaskID: "01OTHER", Title: "x", ID: "01GATE", Kind: task.CardPrompt, Version: 1}, set, s.now))
			m := card.RenderUnder(s.Aggregate, s.card(taskCard), set, s.now)
			err := cardtest.Check(m)
			expect.That(t, err == nil, "%v", err)
			shown := drawn(m.Attachments[0].Blocks.BlockSet)
			for _, says := range append(says, fmt.Sprintf("<!date^%d^", s.Choice.Terms.DecideBy.Unix())) {
				expect.That(t, strings.Contains(shown, says), "%s: %q lacks %q", tt.name, shown, says)
			}
			if strings.Contains(shown, "承認・却下できる人") || strings.Contains(shown, "Can approve or reject") || len(says) == 1 && strings.Contains(shown, "Can make it the reason") {
				t.Errorf("%s: it says who may approve, or make a reason of what can be none: %s", tt.name, shown)
			}
		}
	}
}
