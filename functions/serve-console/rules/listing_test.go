package rules_test

import (
	"context"
	"iter"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// listing is a workspace in which somebody is missing, everybody has the same address, or nobody has one.
type listing struct {
	people.Listing
	without, mail string
	noMail        bool
}

func (l listing) Users(ctx context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		for u, err := range l.Listing.Users(ctx) {
			if l.mail != "" {
				u.Mail = l.mail
			}
			if l.noMail {
				u.Mail = ""
			}
			if u.ID != l.without && !yield(u, err) {
				return
			}
		}
	}
}

func TestEachRuleOfAFileHasItsWords(t *testing.T) {
	gaps := []organisation.GapRule{organisation.GapNoHead, organisation.GapNoRow, organisation.GapHeads,
		organisation.GapNoManager, organisation.GapManagerGone, organisation.GapCycle}
	for _, locale := range language.All {
		w, said := web.TextsOf("organisation", locale), map[string]bool{}
		for _, rule := range organisation.Rules() {
			text := w.In("rules", rule)
			expect.That(t, text != "" && !said[text], "%s has no words of its own in %s: %q", rule, locale, text)
			said[text] = true
		}
		for _, rule := range gaps {
			expect.That(t, w.In("gap_rules", rule) != "", "%s has no words in %s", rule, locale)
		}
	}
}
