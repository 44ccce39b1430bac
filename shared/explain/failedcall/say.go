package failedcall

import (
	"slices"
	"time"

	"ringi/shared/words/mask"
)

// Say adds a sentence for people. Personal data in what vendors and schemas say is masked; a recipient who was not
// found is shown, so that people can correct it. A rate limit that lasts is told with the time when it ends.
func (e *Error) Say(locale string, now time.Time) *Error {
	args := slices.Clone(e.Args)
	for i, a := range args {
		if text, ok := a.(string); ok && e.Problem != ProblemNoRecipient {
			args[i] = mask.Text(text)
		}
	}
	said := e.Problem
	if said == ProblemRateLimited && e.RetryAfter >= time.Minute && len(args) == 1 {
		said, args = ProblemLimitedUntil, append(args, Clock(locale, now.Add(e.RetryAfter)))
	}
	e.Detail = Sentence(locale, said, args...)
	return e
}
