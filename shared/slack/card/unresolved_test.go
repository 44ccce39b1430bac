package card_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// reasons returns what the resolver may give as the reason for which a stage is left out, or a request refused.
func reasons(t *testing.T) (all []string) {
	t.Helper()
	source := string(expect.Value(os.ReadFile("../../domain/rules/resolve.go"))(t))
	for _, m := range regexp.MustCompile(`(?m)^\tLeft\w+ += "(\w+)"`).FindAllStringSubmatch(source, -1) {
		all = append(all, m[1])
	}
	expect.Must(t, len(all) == 9, "found %q", all)
	return all
}

// A stage that is left out, and a request that can't go round, say why in words of their own.
func TestEveryReasonOfTheResolverHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		left, refused := map[string]string{}, map[string]string{}
		for _, why := range reasons(t) {
			out := circulation.Stage{Name: "室長", Mode: circulation.ModePeople, LeftOut: why}
			s := onRoute(received(t), desk("課長", 1, suzuki), out)
			m := render(s.Aggregate, s.card(processCard), locale, s.now)
			text := regexp.MustCompile(`➖ 室長 ?\(([^)]+)\)`).FindStringSubmatch(drawn(m.Attachments[0].Blocks.BlockSet))
			expect.Must(t, len(text) == 2 && text[1] != why, "%s in %s: %q", why, locale, text)
			expect.That(t, left[text[1]] == "", "%s is said as %s", why, left[text[1]])
			left[text[1]] = why
			sentence := card.Unresolved(&rules.Unresolved{Stage: 2, Name: "<室長>", Why: why}, nil, locale)
			expect.That(t, !strings.ContainsAny(sentence, "{}") && !strings.Contains(sentence, "<室長>"), "%s", sentence)
			expect.That(t, refused[sentence] == "", "%s is said as %s", why, refused[sentence])
			refused[sentence] = why
		}
	}
}

// Who can't have a request go round is told for which stage nobody is found, and which administrators can help.
func TestARequestThatCannotGoRoundSaysWhomToTell(t *testing.T) {
	u := &rules.Unresolved{Stage: 2, Name: "室長", Why: rules.LeftVacant}
	for locale, want := range map[string]string{
		"ja": "室長 を担当する人が見つからないため、回覧を始められません。管理者(<@U1> <@U2>)に連絡してください。",
		"en": "Nobody is found for 室長, so it can't go round. Please tell <@U1> <@U2>.",
	} {
		expect.Is(t, card.Unresolved(u, []string{"U1", "U2"}, locale), want, "%s", locale)
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("U%d", i))
	}
	expect.Has(t, card.Unresolved(u, many, "en"), "<@U9> and 2 more.", "many")
	u.Name = ""
	expect.Is(t, card.Unresolved(u, nil, "en"),
		"Nobody is found for this stage, so it can't go round. Please tell an administrator.", "without a name")
}
