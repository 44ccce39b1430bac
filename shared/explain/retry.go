package explain

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// Retry is the button by which people go on from where a sentence stands.
type Retry int

const (
	NoRetry    Retry = iota // there is none: a sentence that names one ends before
	RetryDraft              // tries to draft again
	RetryRun                // makes another attempt
)

// pressed finds in a text where a button is named.
var pressed = language.Regexp{Text: `\{(again|press|button)\}`}

// RetryOf is by which button people go on with a task now; none after an attempt that isn't its newest.
func RetryOf(a *task.Aggregate, after ...*task.Execution) Retry {
	if len(after) > 0 && after[0] != a.Execution() {
		return NoRetry
	}
	for _, o := range a.Offers() {
		switch o.Act {
		case task.ActRetryExecution:
			return RetryRun
		case task.ActRetryGeneration:
			return RetryDraft
		}
	}
	return NoRetry
}

// KnownEnd returns the sentence of a code for places without buttons, without a detail. It returns false for any other
// text, such as a person's own words.
func KnownEnd(locale string, code string) (sentence string, known bool) {
	w := endWordsOf.In(locale)
	text, known := w.Sentences[aggregate.Reason(code)]
	return language.Fill(w.Log.put(text, ""), "why", w.lacks(nil)), known
}
