package explain

import (
	"ringi/shared/words/legible"
	"slices"
	"time"
)

// Say adds a sentence for people. Personal data in texts of vendors and schemas is masked; an unknown recipient is
// shown, so that people can correct it. For a long rate limit the sentence says when it ends.
func (e *CallError) Say(locale string, now time.Time) *CallError {
	args := slices.Clone(e.Args)
	for i, a := range args {
		if text, ok := a.(string); ok && e.Problem != ProblemNoRecipient {
			args[i] = legible.Mask(text)
		}
	}
	said := e.Problem
	if said == ProblemRateLimited && e.RetryAfter >= time.Minute && len(args) == 1 {
		said, args = ProblemLimitedUntil, append(args, Clock(locale, now.Add(e.RetryAfter)))
	}
	e.Detail = FailedCall(locale, said, args...)
	return e
}
