package card

import (
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// TalkRefused is Refused about an action or a session: who decided before, or how it ended.
func TalkRefused(err error, s tenancy.Settings, o aggregate.Origin, askers ...string) string {
	w, talk := wordsOf(s.Locale), talkWordsOf(s.Locale)
	var decided aggregate.ErrDecided
	switch {
	case errors.Is(err, aggregate.ErrInFlight):
		return talk.InFlight
	case !errors.As(err, &decided), decided.Reason == "" && (decided.Status == string(aggregate.Approved) || decided.Status == string(aggregate.Rejected)):
		return Refused(err, s, o, askers...)
	}
	text := talk.TooLate
	switch decided.Reason {
	case conversation.ReasonWithdrawn:
		text = talk.TooLateCancelled
	case conversation.ReasonExpired:
		text = talk.TooLateExpired
	}
	return fill(text, "who", w.mention(decided.By), "when", when(decided.At))
}
