package card_test

import (
	"os"
	"regexp"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// reasons returns what the resolver may give as the reason for which a stage is left out.
func reasons(t *testing.T) (all []string) {
	t.Helper()
	source := string(expect.Value(os.ReadFile("../../domain/rules/resolve.go"))(t))
	for _, m := range regexp.MustCompile(`(?m)^\tLeft\w+ += "(\w+)"`).FindAllStringSubmatch(source, -1) {
		all = append(all, m[1])
	}
	expect.Must(t, len(all) == 13, "found %q", all)
	return all
}

// A stage that is left out says why in words of its own.
func TestEveryReasonOfTheResolverHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		left := map[string]string{}
		for _, why := range reasons(t) {
			out := circulation.Stage{Name: "室長", Mode: circulation.ModePeople, LeftOut: why}
			s := onRoute(received(t), desk("課長", 1, suzuki), out)
			m := render(s.Aggregate, s.card(processCard), locale, s.now)
			text := regexp.MustCompile(`➖ 室長 ?\(([^)]+)\)`).FindStringSubmatch(drawn(m.Attachments[0].Blocks.BlockSet))
			expect.Must(t, len(text) == 2 && text[1] != why, "%s in %s: %q", why, locale, text)
			expect.That(t, left[text[1]] == "", "%s is said as %s", why, left[text[1]])
			left[text[1]] = why
		}
	}
}
