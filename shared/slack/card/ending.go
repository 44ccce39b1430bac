package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// withEnd adds the task's ending to the newest card, unless that card already shows it, and to a step's check.
func (d drawing) withEnd(f face, kind aggregate.CardType, key string) face {
	e, last := d.a.Head.Ended, d.a.Newest(kind, key)
	switch check := kind == task.CardStep; {
	case e != nil && (check || last && e.As != task.TaskCompleted):
		return d.outcome(f)
	case !last:
		return f
	case e == nil && d.a.Head.Parked != nil:
		failed := map[task.Layer]string{task.L2: d.w.Prompt.Failed, task.L3: d.w.Process.Failed}
		return d.parked(f, failed[d.a.Head.Parked.Layer])
	}
	return f
}

// outcome adds the task's ending to its own card and, while that is the newest, a failed generation.
func (d drawing) outcome(f face) face {
	e := d.a.Head.Ended
	if e == nil {
		return d.withEnd(f, task.CardTask, "")
	}
	switch e.As {
	case task.TaskCompleted: // as the execution's card says
		return f
	case task.TaskFailed:
		f.colour = red
	case task.TaskCancelled, task.TaskRefused:
		f.colour = grey
	}
	return f.with(contextLine(d.ended()))
}

// notMade ends the heading of a parked task's missing version: held if nobody could approve that, else failed.
func (d drawing) notMade(held, failed string) string {
	if d.a.Head.Undecidable() {
		return held
	}
	return failed
}

// parked says why a generation failed, with a button to try again, or a note that no try is left. If another try would
// fail alike, it adds neither.
func (d drawing) parked(f face, what string) face {
	w := d.w
	f.colour = red
	why := w.Error
	if d.a.Head.Undecidable() {
		f.colour, why, what = yellow, w.Held, ""
	}
	var acts []slack.BlockElement
	what += Sentence(w.Locale, d.a.Head.Parked.Sentence, d.a.Head.Parked.Detail, explain.RetryOf(d.a))
	f = f.with(section(fill(why, "text", what)))
	switch {
	case d.a.Head.Hopeless():
	case d.a.Head.RetriesLeft():
		acts = append(acts, button(w.RetryGeneration, "retry_generation", d.taskID(), slack.StylePrimary))
	default:
		f = f.with(section(fill(w.RetriesUsed, "max", task.MaxRetries)))
	}
	if acts == nil {
		return f
	}
	return f.with(d.actions(acts...))
}

func (d drawing) ended() string {
	e, w := d.a.Head.Ended, d.w
	if e == nil {
		return w.EndedOtherwise
	}
	text := or(w.Ended[e.Reason], w.EndedBy)
	switch {
	case w.Ended[e.Reason] != "":
	case byRules(e):
		return fill(w.EndedByRules, "text", d.byRules(), "when", when(e.At))
	case e.Reason == task.ReasonCostLimit && e.As == task.TaskCancelled:
		text = w.EndedCost
	case e.As == task.TaskFailed:
		text = w.EndedFailed
	}
	return fill(text, "who", w.mention(e.By), "when", when(e.At), "time", d.approvalTime(), "step", d.undecided(),
		"detail", explain.EndDetail(w.Locale, e.Reason, inline(e.Detail, maxDetail)))
}

// rejection says who rejected what ended the task, and why. It says nothing of another end.
func (d drawing) rejection() []string {
	if last := d.a.RejectedLast(); last != nil {
		return []string{d.rejectedBy(*last)}
	}
	return nil
}

func (d drawing) rejectedBy(v aggregate.Verdict) string { return d.rejectedAs(d.w.RejectedBy, v) }

// rejectedAs fills a text about a rejection with who rejected, and why.
func (d drawing) rejectedAs(text string, v aggregate.Verdict) string {
	return fill(text, "who", d.w.mention(v.RejectedBy), "reason",
		or(people(inline(v.RejectionReason, maxReason)), d.w.None))
}

// byRules reports whether a request ended by the tenant's rules: no person cancelled it.
func byRules(e *task.Ended) bool { return e.As == task.TaskRefused }

// byRules says why the tenant's rules ended the request.
func (d drawing) byRules() string {
	return Sentence(d.w.Locale, d.a.Head.Ended.Reason, d.a.Head.Ended.Detail, explain.NoRetry)
}

// approvalTime is how long the expired gate was open, in days if it was several.
func (d drawing) approvalTime() string {
	hours := tenancy.DefaultSettings().ApprovalTimeoutHours
	for _, g := range d.a.AllGates() {
		if g.Status == aggregate.Expired {
			hours = g.Terms.ApprovalHours
		}
	}
	if hours%24 == 0 && hours > 24 {
		return fill(d.w.Days, "n", hours/24)
	}
	return fill(d.w.Hours, "n", hours)
}

// undecided names the step whose check expired; "" if that is no check.
func (d drawing) undecided() string {
	for _, g := range d.a.Gates {
		if g.Status == aggregate.Expired {
			return fill(d.w.OfCheck, "step", g.Order)
		}
	}
	return ""
}

// waitNote says until when the run waits for the model, for Slack or for room to run, if it does.
func (d drawing) waitNote() []slack.Block {
	until := d.a.Head.PausedUntil
	if until == nil || !d.now.Before(*until) || d.a.Head.Ended != nil {
		return nil
	}
	text := d.w.PausedUntil
	switch {
	case d.a.Head.PausedFor == task.ReasonNoRoom:
		text = d.w.PausedForRoom
	case d.a.Waiting(), d.a.Unopened() != nil: // no model is asked: Slack doesn't say who people are
		text = d.w.PausedForSlack
	}
	return []slack.Block{contextLine(fill(text, "when", when(*until)))}
}

// late says what the result of an action was that came after its cancellation.
func (d drawing) late(x *conversation.Action) string {
	w, isCall := d.talk, x.ActionType == conversation.ToolCall
	if x.Late.Status != conversation.ActionSucceeded {
		switch unknown := x.Pushed == nil && x.Late.Error == conversation.ReasonUnknown; {
		case unknown:
			return w.CheckUnknown
		case isCall && x.Pushed != nil && x.Late.Error != "": // a branch may be there
			return explain.ActionReason(d.w.Locale, x.Late.Error, "")
		case isCall:
			return w.LateCallFailed
		}
		return w.LateFailed
	}
	after := x.CompletedAt != nil && x.Late.At.After(*x.CompletedAt)
	text := w.LateDone
	switch {
	case isCall && after:
		text = w.LateCallAfter
	case isCall:
		text = w.LateCallDone
	case after:
		text = w.LateAfter
	}
	return fill(text, "when", when(x.Late.At))
}
