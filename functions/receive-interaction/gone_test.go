package main

import (
	"testing"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// A form of a conversation that is gone is answered.
func TestAFormOfAConversationThatIsGoneIsAnswered(t *testing.T) {
	for _, locale := range language.All {
		v := verdict{decision.Verdict{Err: aggregate.ErrNotFound, Settings: tenancy.Settings{Locale: locale}}}
		if text, stays := v.inForm(); text == "" || !stays {
			t.Errorf("%s: %q, stays %t", locale, text, stays)
		}
	}
}
