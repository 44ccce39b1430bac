package main

import (
	"testing"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A form of a conversation that is gone is answered.
func TestAFormOfAConversationThatIsGoneIsAnswered(t *testing.T) {
	for _, locale := range language.All {
		v := verdict{decision.Verdict{Err: aggregate.ErrNotFound, Settings: tenancy.Settings{Locale: locale}}}
		text, stays := v.inForm()
		expect.That(t, text != "" && stays, "%s: %q, stays %t", locale, text, stays)
	}
}
