package conversation

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Administrators are told that a saved rule no longer lets anything begin.
func TestARuleThatIsLeftOutIsSaid(t *testing.T) {
	s, ja := tenancy.DefaultSettings(), web.TextsOf("settings", "ja")
	s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "*"}, Place: "D1"},
		{Type: agent.TestRun, Argv: []string{"npx", "*"}, Place: "D1"}}
	for _, admin := range []bool{true, false} {
		p := agentsPage{}
		p.define(&Pages{}, &web.Viewer{Admin: admin, Locale: "ja"}, s)
		var told []agentWarning
		if admin {
			told = []agentWarning{{Row: 2, Field: ja.In("columns", "auto_actions.argv"), Limit: ruleText(ja, agent.RuleAutoStar)}}
		}
		expect.Same(t, told, p.Warnings)
		expect.Same(t, []autoRule{{[]string{"go", "test", "*"}, "D1"}}, p.Rules)
	}
}

// Whoever decides about an action that was rejected for good is told that, not that it was cancelled.
func TestAnActionThatWasDeniedSaysSo(t *testing.T) {
	e := aggregate.ErrDecided{Status: string(conversation.ActionCancelled), Reason: conversation.ReasonDenied}
	for locale, want := range map[string]string{"ja": "却下して終了", "en": "Rejected for good"} {
		words := web.TextsOf("conversation", locale)
		expect.Has(t, decidedBefore(words, e, "@A", "now"), want, locale)
		x := &conversation.Action{CancelReason: conversation.ReasonDenied, CancelledBy: "A", ErrorDetail: "宛名"}
		l, row := &loaded{person: func(id string) string { return "@" + id }}, actionRow{}
		l.decided(x, &row, words)
		expect.Same(t, []string{want, "badge-bad", "@A", "宛名", ""},
			[]string{row.Status, row.Badge, row.Rejected, row.Because, row.Cancelled})
	}
}
