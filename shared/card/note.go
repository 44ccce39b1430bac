package card

import (
	"errors"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

var (
	// ErrUnverified: Slack did not say who the person is, so nothing was decided.
	ErrUnverified = errors.New("could not check who is asking")
	// ErrUnsaved: the decision could not be written; trying again is safe.
	ErrUnsaved = errors.New("could not be saved")
	// ErrMalformedForm: a submitted form does not name what it is about.
	ErrMalformedForm = errors.New("the form can't be read")
)

// Note is what the person alone sees whose click or submission was refused: who
// decided and when, or why not, and what to do. It knows every error of the
// domain; any other error is said to be ErrUnsaved. It is mrkdwn.
func Note(locale string, err error) string {
	w := wordsOf(locale)
	var (
		decided    aggregate.ErrDecided
		notLatest  aggregate.ErrNotLatest
		notAllowed aggregate.ErrNotAllowed
		field      aggregate.ErrField
		stop       task.StopError
	)
	switch {
	case errors.As(err, &decided):
		return w.decided(decided)
	case errors.As(err, &notLatest):
		return fill(w.NoteNotLatest, "latest", notLatest.Latest)
	case errors.As(err, &notAllowed):
		return or(w.Rules[notAllowed.Rule], w.NoteNotAllowed)
	case errors.As(err, &field) && field.Field == "rejection_reason":
		return fill(w.NoteReason, "max", task.MaxReason)
	case errors.As(err, &field):
		return fill(w.NoteField, "field", inline(field.Field, maxTool), "limit", inline(field.Limit, maxDetail))
	case errors.As(err, &stop):
		return w.sentence(stop.Reason, stop.Detail)
	}
	for _, n := range []struct {
		err  error
		text string
	}{
		{aggregate.ErrInFlight, w.NoteInFlight},
		{aggregate.ErrUncovered, w.NoteUncovered},
		{aggregate.ErrUnconfirmed, w.NoteUnconfirmed},
		{task.ErrNothingToRetry, w.NoteNothingToRetry},
		{task.ErrMaxAttempts, fill(w.NoteMaxAttempts, "max", task.MaxAttempts)},
		{task.ErrMaxRetries, fill(w.NoteMaxRetries, "max", task.MaxRetries)},
		{aggregate.ErrNotFound, w.NoteNotFound},
		{aggregate.ErrSuperseded, w.NoteStale},
		{aggregate.ErrConflict, w.NoteStale},
		{aggregate.ErrMoved, w.NoteStale},
		{aggregate.ErrSettings, w.NoteStale},
		{aggregate.ErrNotDue, w.NoteStale},
		{ErrUnverified, w.NoteUnverified},
		{ErrMalformedForm, w.NoteOddForm},
	} {
		if errors.Is(err, n.err) {
			return n.text
		}
	}
	return w.NoteUnsaved
}

// ruleOf is the rule that refused, empty if none did.
func ruleOf(err error) aggregate.Rule {
	var refused aggregate.ErrNotAllowed
	if errors.As(err, &refused) {
		return refused.Rule
	}
	return ""
}

// CancelledBefore is the note for whoever cancels what they cancelled already.
func CancelledBefore(locale string, e task.Ended) string {
	w := wordsOf(locale)
	return fill(w.NoteCancelled, "who", w.mention(e.By), "when", when(e.At))
}

// decided says who was faster, or how the task ended.
func (w *words) decided(e aggregate.ErrDecided) string {
	var text string
	switch {
	case e.Reason == task.ReasonByPerson:
		text = w.NoteCancelled
	case e.Reason == task.ReasonExpired:
		text = w.NoteExpired
	case e.Reason != "" && e.Status == string(task.TaskFailed):
		text = w.NoteFailed
	case e.Reason != "":
		text = w.NoteEnded
	case e.Status == string(aggregate.Approved) && e.By == "":
		text = w.NoteAutoApproved
	case e.Status == string(aggregate.Approved):
		text = w.NoteApproved
	case e.Status == string(task.AsReason):
		text = w.NoteAsReason
	case e.Status == string(task.AsRequest):
		text = w.NoteAsRequest
	case e.Status == string(aggregate.Rejected):
		text = w.NoteRejected
	default:
		text = w.NoteDecided
	}
	why := ""
	if e.Reason != "" {
		why = w.sentence(e.Reason, "")
	}
	return fill(text, "who", w.mention(e.By), "when", when(e.At), "why", why)
}

// CancelAccepted is the note after a task was cancelled by its message shortcut.
func CancelAccepted(locale string) string { return wordsOf(locale).CancelAccepted }

// RetryAccepted is the note after something is tried again.
func RetryAccepted(locale string) string { return wordsOf(locale).RetryAccepted }

// Unreachable is what the requester is told by direct message when Slack refuses
// a card's channel for good; refusal is Slack's error code.
func Unreachable(locale, channel, refusal string) string {
	w := wordsOf(locale)
	name := or(inline(channel, maxTool), w.None)
	if idForm().MatchString(channel) {
		name = "<#" + channel + ">"
	}
	return fill(w.Unreachable, "channel", name, "code", or(inline(refusal, maxTool), w.None))
}
