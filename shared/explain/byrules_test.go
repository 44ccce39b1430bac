package explain

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEveryRefusalByRulesNamesItsRule(t *testing.T) {
	asIs := func(s string, _ int) string { return s }
	who := func(id string) string { return "@" + id }
	for _, locale := range language.All {
		for _, why := range []aggregate.Reason{
			task.ReasonRuleRefuses, task.ReasonNoRoute, task.ReasonNoDepartment, task.ReasonNoHome, task.ReasonUnknownPost,
			conversation.ReasonSilent, conversation.ReasonUnrouted,
		} {
			e := conversation.ErrByRules{Why: why, Rule: circulation.Rule{Name: "外部への書き込み"}, Detail: "経理"}
			said := RefusedByRules(locale, e, asIs, who)
			expect.That(t, strings.Contains(said, "外部への書き込み") && !strings.ContainsAny(said, "{}"), "%s %s: %q", locale,
				why, said)
			detailed := why == task.ReasonRuleRefuses || why == task.ReasonNoRoute || why == task.ReasonUnknownPost
			expect.Is(t, strings.Contains(said, "経理"), detailed, locale, why)
		}
	}
	none := conversation.ErrByRules{Why: task.ReasonRuleRefuses, Rule: circulation.Rule{Name: "その他"}}
	expect.Is(t, RefusedByRules("ja", none, asIs, who), "ルール「その他」により、この操作は提案できません。")
}
