package card

import (
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// ConversationRefused is Refused about an action or a conversation: who decided before, or how it ended.
func ConversationRefused(err error, s tenancy.Settings, o aggregate.Origin, askers ...string) string {
	w, texts := wordsOf(s.Locale), conversationWordsOf(s.Locale)
	var decided aggregate.ErrDecided
	switch {
	case errors.Is(err, aggregate.ErrInFlight):
		return texts.InFlight
	case !errors.As(err, &decided), decided.Reason == "" && (decided.Status == string(aggregate.Approved) || decided.Status == string(aggregate.Rejected)):
		return Refused(err, s, o, askers...)
	}
	text := texts.TooLate
	switch decided.Reason {
	case conversation.ReasonWithdrawn:
		text = texts.TooLateCancelled
	case conversation.ReasonExpired:
		text = texts.TooLateExpired
	}
	return fill(text, "who", w.mention(decided.By), "when", when(decided.At))
}
