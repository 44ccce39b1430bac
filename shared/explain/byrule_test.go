package explain

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A refusal for want of people says why, and which page of the console helps, whatever the reason.
func TestWhyNobodyIsFoundIsSaidWithWhatToDo(t *testing.T) {
	as := func(marks string) func(string) string { return func(s string) string { return marks + s } }
	for _, locale := range language.All {
		pages := map[string][]string{"ja": {"「組織」", "「回覧ルール」"}, "en": {"“Organisation”", "“Routing rules”"}}[locale]
		for _, detail := range []string{"課長", "課長\nabo", "課長\nabove\nU1\n高額", "課長\nvacant\nU1\n高額",
			"課長\nvacant\n\n高額", "課長\nstanding\n\n高額", "課長\nown\n\n高額", "\npeople\n\n高額", "課長\nalone\n\n高額",
			"課長\nmany\n\n高額", "課長\nchannel\n\n高額", "課長\nnew\n\n高額"} {
			said := Ended(locale, task.ReasonNoRoute, FitDetail(task.ReasonNoRoute, detail, as(""), as("@")), NoRetry)
			expect.That(t, strings.Contains(said, pages[0]) || strings.Contains(said, pages[1]), "%q: %s", detail, said)
			expect.That(t, !strings.ContainsAny(said, "{}\n"), "%q: %s", detail, said)
			expect.Is(t, strings.Contains(said, "@U1"), strings.Contains(detail, "U1"), said)
			expect.Is(t, strings.Contains(said, "課長"), strings.HasPrefix(detail, "課長"), said)
		}
		for _, code := range []string{rules.LeftVacant, rules.LeftStanding, rules.LeftOwn, rules.LeftPeople, rules.LeftAlone,
			rules.LeftMany, rules.LeftChannel, rules.LeftAbove + "_of"} {
			expect.That(t, endWordsOf.In(locale).Lacks[code] != "", "%s has no words for %s", locale, code)
		}
	}
	for locale, want := range map[string][2]string{"ja": {"承認できる別々の方が足りないか",
		"見つからない"}, "en": {"Too few different people can approve", "Nobody is found"}} {
		for _, why := range []aggregate.Reason{task.ReasonNoRoute, task.ReasonStepNoRoute} {
			said := Ended(locale, why, "部長\npeople\n\n高額", NoRetry)
			expect.That(t, strings.Contains(said, want[0]) && strings.Contains(said, "部長") && strings.Contains(said, "高額") &&
				!strings.Contains(said, want[1]), "%s", said)
			expect.Has(t, Ended(locale, why, "部長\nvacant\n\n高額", NoRetry), map[string]string{"ja": want[1],
				"en": "obody is found"}[locale])
		}
	}
	detail := FitDetail(task.ReasonUnknownPost, "課長\nabove\nU1\n高額", as(""), func(string) string { return "加藤 真" })
	said := Ended("ja", task.ReasonUnknownPost, detail, NoRetry)
	expect.Has(t, said, "加藤 真 さんの上長が、組織表にありません。管理者に、コンソールの「組織」への登録を頼み")
}

// Whatever is known of an end or a refusal, its sentence has a word in each place.
func TestNoSentenceHasAPlaceLeft(t *testing.T) {
	details := []string{"", "x", "1/2", "/x", "x/", "12", "a\nabove\nU1\nb", "a\n\n\n", "a\nb", "a (b)"}
	for _, locale := range language.All {
		s := Surface{locale, page{}}
		said := []string{DecidedOn(locale, "a", "b"), s.CancelAccepted(), s.ReasonNotTaken(),
			s.CancelledBefore("U1", time.Time{})}
		ended, refused := endWordsOf.In(locale), refusalWordsOf.In(locale)
		for r := range ended.Sentences {
			known, _ := KnownEnd(locale, string(r))
			said = append(said, known)
			for _, detail := range details {
				no := conversation.ErrByRules{Why: r, Detail: detail}
				said = append(said, EndedInTalk(locale, r, detail), s.Note(no), s.Note(aggregate.ErrDecided{Reason: r}))
				for _, by := range []Retry{NoRetry, RetryDraft, RetryRun} {
					said = append(said, Ended(locale, r, detail, by))
				}
			}
		}
		for _, r := range []aggregate.Reason{task.ReasonStandIn, task.ReasonStoodFor, task.ReasonStandInEnded} {
			said = append(said, StandIn(locale, r, task.StandInTold{Hand: "a"}))
		}
		for left := range ended.NotAttached {
			said = append(said, NotAttached(locale, task.ReadFile{Left: left}))
		}
		for rule := range refused.Rules {
			said = append(said, s.Note(aggregate.ErrNotAllowed{Rule: rule}))
		}
		for status := range refused.Decided {
			said = append(said, s.Note(aggregate.ErrDecided{Status: status}))
		}
		for why := range refused.Acts {
			said = append(said, s.Note(&circulation.Refusal{Why: circulation.Why(why)}))
		}
		for _, x := range sentinels {
			said = append(said, s.Note(x.err))
		}
		said = append(said, s.Note(aggregate.ErrNotLatest{}), s.Note(aggregate.ErrField{}), s.Note(task.StopError{}),
			s.Note(aggregate.ErrField{Field: "rejection_reason"}))
		for _, text := range said {
			expect.That(t, !strings.Contains(text, "{"), "%s: %s", locale, text)
		}
	}
}
