package card_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Where not all that waits was looked at, Home and /ringi neither deny that something waits nor give a number as if it
// were all.
func TestASummaryCountsOnlyWhatWasLookedAt(t *testing.T) {
	w := card.Waits{Of: received(t).extracted().Aggregate, Question: aggregate.Question{Kind: task.CardPrompt, Version: 1}}
	many := slices.Repeat([]card.Waits{w}, 50)
	flat := map[string][]string{"ja": {"(0 件", "(50 件)", "承認を待っているものはありません。"}, "en": {"(0", "(50)", "Nothing waits"}}
	for _, x := range []struct {
		name  string
		in    card.Summary
		ja    []string
		en    []string
		whole bool
	}{
		{"none among a thousand", card.Summary{Looked: 1000}, []string{"1000 件だけを調べました。その中に"}, []string{"only the 1000 oldest", "none of them"}, false},
		{"fifty, and there may be more", card.Summary{Looked: 60, Waiting: many}, []string{"(50 件以上)", "件以上", "60 件だけ"}, []string{"(50 or more)", "or more besides", "the 60 oldest"}, false},
		{"none", card.Summary{}, []string{"(0 件)", "承認を待っているものはありません。"}, []string{"(0)", "Nothing waits"}, true},
		{"all of fifty", card.Summary{Waiting: many}, []string{"(50 件)", "ほか "}, []string{"(50)", " more"}, true},
	} {
		for locale, says := range map[string][]string{"ja": x.ja, "en": x.en} {
			home := jsonOf(card.HomeView(x.in, tenancy.DefaultSettings(), locale, time.Now()))
			for where, said := range map[string]string{"Home": home, "the list": card.List(locale, x.in)} {
				for _, want := range says {
					expect.That(t, strings.Contains(said, want), "%s, %s, %s lacks %q: %.400s", x.name, locale, where, want, said)
				}
				for _, no := range flat[locale] {
					expect.That(t, x.whole || !strings.Contains(strings.ReplaceAll(said, "その中に、あなたの承認を待っているものはありません。", ""), no),
						"%s, %s, %s says %q: %.400s", x.name, locale, where, no, said)
				}
			}
		}
	}
}
