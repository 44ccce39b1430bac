package card

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// execution draws the newest attempt: the progress of its steps, and how it ended.
func (d drawing) execution() face {
	e, w := d.a.Execution(), d.w
	if e == nil {
		return face{w.RunningHeader, navy, nil}.with(header(w.RunningHeader), section(w.None))
	}
	r := d.attempt(e)
	switch e.Status {
	case task.ExecutionCompleted:
		summary := paragraph(r.Summary, maxSection-units(w.Summary))
		ran := w.timed(e.RanFrom(), e.CompletedAt, w.CompletedTimed, w.Completed)
		return d.drawn(r, w.CompletedHeader, green).with(d.links(r)...).
			with(section(fill(w.Summary, "text", or(summary, w.None)))).with(d.below(r)...).
			with(contextLine(append(d.attempted(e), ran)...))
	case task.ExecutionFailed:
		f := d.drawn(r, w.FailedHeader, red).with(section(d.failure(r, w.Error))).with(d.below(r)...)
		over := append(d.attempted(e), w.timed(e.RanFrom(), e.CompletedAt, w.FailTimed, w.Failed))
		switch {
		case d.left(): // nobody will know
			over = append(over, d.ended())
		case e.Error == task.ReasonToolValue: // trying again would fail again
		case !e.AttemptsLeft():
			f = f.with(section(fill(w.AttemptsUsed, "max", task.MaxAttempts)))
		default:
			f = f.with(d.actions(d.onward(r)...))
		}
		return f.with(contextLine(over...))
	case task.ExecutionCancelled:
		over := append(d.attempted(e), d.stopped(r)...)
		return d.drawn(r, w.StoppedHeader, grey).with(d.below(r)...).with(contextLine(over...))
	}
	progress := []string{fill(w.Progress, "done", r.count(task.StepCompleted), "all", len(r.steps))}
	if r.waits != nil {
		progress = append(progress, fill(w.WaitsForCheck, "step", r.waits.Order))
	}
	stop := confirmed(button(w.Cancel, "cancel_execution", e.ID, slack.StyleDanger), w.ConfirmTitle, w.ConfirmText,
		w.ConfirmYes, w.ConfirmNo)
	return d.drawn(r, w.RunningHeader, navy).with(contextLine(append(progress, d.attempted(e)...)...), d.actions(stop))
}

// onward are the buttons by which people go on after a failed attempt.
func (d drawing) onward(r attempt) (all []slack.BlockElement) {
	w, again := d.w, button(d.w.Retry, "retry_execution", r.ID, slack.StylePrimary)
	if r.count(task.StepUnknown) == 0 {
		return append(all, again)
	}
	if slices.ContainsFunc(d.a.Offers(), func(o aggregate.Offer) bool { return o.Act == task.ActConfirm }) {
		all, again = append(all, d.arrived(r.ID)), again.WithStyle(slack.StyleDanger) // it may be done twice
	}
	return append(all, confirmed(again, w.RetryTitle, w.RetryText, w.RetryYes, w.CancelNo),
		confirmed(button(w.End, "end_execution", r.ID, slack.StyleDanger), w.EndTitle, w.EndText, w.EndYes, w.CancelNo))
}

// arrived is the button by which people say that a write of unknown outcome arrived.
func (d drawing) arrived(id string) *slack.ButtonBlockElement {
	return confirmed(button(d.w.Arrived, "confirm_write", id, slack.StylePrimary), d.w.ArrivedTitle, d.w.ArrivedText,
		d.w.ArrivedYes, d.w.CancelNo)
}

// left reports whether somebody ended the task after its attempt failed.
func (d drawing) left() bool { return d.a.Head.Ended != nil && d.a.Head.Ended.As == task.TaskCancelled }

func (d drawing) drawn(r attempt, title, colour string) face {
	lines := d.stepList(r.steps, maxPages, longName,
		func(s task.Step, name string) string { return d.progressLine(r, s, name) })
	f := face{title, colour, nil}.with(header(title))
	switch s, kept := explain.SumUp(d.w.Locale, r.steps), d.kept(r); {
	case r.Status == task.ExecutionCancelled: // nothing is kept of writes whose outcome is named below
		f = f.with(kept...)
	case r.Status == task.ExecutionFailed:
		if r.failed != nil {
			name := people(bounded(stepName(d.w, *r.failed), longName))
			f = f.with(section(strong(FailedStep(d.w.Locale, r.failed.Order, name))))
		}
		if s.Final {
			f = f.with(kept...)
		}
	}
	return f.with(lines.blocks...).with(divider())
}

// attempted says which number an attempt has, and why the one before it failed.
func (d drawing) attempted(e *task.Execution) (lines []string) {
	if e.Number != "" {
		lines = append(lines, fill(explain.RouteOf(d.w.Locale).Number, "number", e.Number))
	}
	if was := aggregate.Find(d.a.Executions, task.ExecutionKey(e.ProcessVersion, e.Attempt-1)); was != nil {
		why := explain.Happened(d.failure(d.attempt(was), "{text}"))
		lines = append(lines, fill(d.w.Tried, "n", was.Attempt, "text", why))
	}
	return lines
}

// kept says which writes of an attempt that didn't complete stay, or that no call of any attempt can have written.
func (d drawing) kept(r attempt) []slack.Block {
	var lines []string
	for i, s := range r.steps {
		if s.Access == aggregate.Read || r.status(s) != task.StepCompleted {
			continue
		}
		e := explain.EffectOf(d.w.Locale, s, nil, r.steps[:i])
		rows, _ := resultOf(r.rows[s.StepID])["updated_rows"].(json.Number) // "": the result doesn't say
		lines = append(lines, ordersOf(&e)+d.line(e.Done(d.w.Locale, inline(rows.String(), maxTool))))
	}
	if lines != nil {
		return sectionOf(append([]string{d.w.Kept}, lines...))
	}
	return sectionOf([]string{explain.Unwritten(d.w.Locale, d.a.Steps)})
}

type attempt struct {
	*task.Execution
	steps  []task.Step
	rows   map[string]*task.StepResult // by step id
	waits  *task.StepGate              // the gate of the next step, if it waits
	failed *task.Step                  // which failed, or was refused before its call
}

func (d drawing) attempt(e *task.Execution) attempt {
	r := attempt{Execution: e, rows: map[string]*task.StepResult{}}
	if p := d.a.ProcessOf(e); p != nil {
		r.steps = p.Steps
	}
	for _, row := range d.a.StepsOf(e) {
		r.rows[row.StepID] = row
	}
	for _, s := range r.steps {
		if g := d.a.GateOf(e, s.Order); g != nil && g.Status == aggregate.PendingApproval && d.a.Head.Ended == nil {
			r.waits = g
		}
	}
	if e.Status == task.ExecutionFailed {
		refused := beforeCall(e.Error) && r.count(task.StepFailed) == 0
		if i := slices.IndexFunc(r.steps, func(s task.Step) bool {
			return r.status(s) == task.StepFailed || refused && r.status(s) != task.StepCompleted
		}); i >= 0 {
			r.failed = &r.steps[i]
		}
	}
	return r
}

// beforeCall reports whether a reason refuses a step before its call. Such a step has no row.
func beforeCall(why aggregate.Reason) bool {
	return slices.Contains([]aggregate.Reason{task.ReasonToolNotAllowed, task.ReasonToolConstraint,
		task.ReasonToolChanged, task.ReasonBadArguments, task.ReasonResultExpired, task.ReasonStepsChanged,
		task.ReasonApprovalAged}, why)
}

// status looks a step up by its id, since two steps may call the same tool.
func (r attempt) status(s task.Step) task.StepStatus {
	if row := r.rows[s.StepID]; row != nil {
		return row.Status
	}
	return ""
}

func (r attempt) count(status task.StepStatus) (n int) {
	for _, s := range r.steps {
		if r.status(s) == status {
			n++
		}
	}
	return n
}

// progressLine is a step's line with its marker, and a word if the marker says too little.
func (d drawing) progressLine(r attempt, s task.Step, name string) string {
	w, row := d.w, r.rows[s.StepID]
	line, marker := stepLine(s, name), Marker(r.status(s))
	switch {
	case row == nil && r.failed != nil && s.StepID == r.failed.StepID:
		marker = Marker(task.StepFailed)
	case row == nil && r.waits != nil && r.waits.StepID == s.StepID:
		line += " " + w.Waiting
	case row == nil:
	case row.Status == task.StepRunning && r.Status == task.ExecutionCancelled:
		line += " " + w.InFlight
	case row.Status == task.StepRunning:
		line += " " + w.Running
	case row.Status == task.StepUnknown:
		line += " " + w.Unknown
	case row.Found:
		line += " " + w.Found
	case row.ConfirmedBy != "":
		line += " " + fill(w.Confirmed, "who", w.mention(row.ConfirmedBy))
	case row.Status == task.StepCompleted && row.Reused:
		line += " " + w.CarriedOver
	case row.Status == task.StepCompleted && after(row.CompletedAt, r.CancelledAt):
		line += " " + w.AfterStop
	}
	return marker + " " + line
}

func after(t, limit *time.Time) bool { return t != nil && limit != nil && t.After(*limit) }

// timed says when something ended, and, if that is known and at least a second, how long it took.
func (w *words) timed(from, to *time.Time, with, without string) string {
	if from == nil || to == nil || to.Sub(*from) < time.Second {
		return fill(without, "when", whenSet(to))
	}
	return fill(with, "elapsed", explain.Length(w.Locale, to.Sub(*from)), "when", when(*to))
}

const maxListed = 3 // steps of unknown outcome that are named

// failure says in a form why an attempt failed and what to do. Of a write whose outcome is unknown it says, without the
// form, what to check; once that is known, that it arrived.
func (d drawing) failure(r attempt, form string) string {
	check, again, done := d.w.CheckUnknown, explain.RetryOf(d.a), r.count(task.StepCompleted)
	if d.beneath { // its button is on the card
		again = explain.NoRetry
	}
	if again == explain.NoRetry {
		check = d.w.StoppedUnknown
	}
	unknown := d.each(r, task.StepUnknown, check)
	switch {
	case r.Error == task.ReasonToolUnknown && unknown != nil:
		return strings.Join(unknown, "\n")
	case r.Error == task.ReasonToolUnknown && r.failed == nil && done > 0:
		text := fill(d.w.UnknownSettled, "step", r.steps[done-1].Order)
		if again == explain.NoRetry {
			text = explain.Happened(text)
		}
		return text
	}
	reason, detail := r.Error, r.ErrorDetail
	if r.failed != nil && reason == task.ReasonToolUnknown && r.rows[r.failed.StepID] != nil { // by now it is known
		reason, detail = r.rows[r.failed.StepID].Error, r.rows[r.failed.StepID].ErrorDetail
	}
	why := Sentence(d.w.Locale, reason, StepNamed(d.w.Locale, d.a, r.Execution, detail), again)
	return fill(form, "text", strings.Join(append([]string{why}, unknown...), "\n"))
}

// stopped says who or what stopped an attempt, and names the calls that were in progress.
func (d drawing) stopped(r attempt) []string {
	lines := []string{fill(d.w.StoppedBy, "who", d.w.mention(r.CancelledBy), "when", whenSet(r.CancelledAt))}
	if e := d.a.Head.Ended; e != nil && (e.Reason == task.ReasonExpired || byRules(e)) {
		lines[0] = d.ended()
	}
	for _, g := range d.a.Gates {
		if g.Status == aggregate.Rejected && g.ProcessVersion == r.ProcessVersion && g.Attempt == r.Attempt {
			lines = append(lines, d.rejectedBy(g.Verdict))
			break
		}
	}
	lines = append(lines, d.each(r, task.StepRunning, d.w.StoppedInFlight)...)
	return append(lines, d.each(r, task.StepUnknown, d.w.StoppedUnknown)...)
}

func (d drawing) each(r attempt, status task.StepStatus, text string) (out []string) {
	for i, s := range r.steps {
		if r.status(s) == status && len(out) < maxListed {
			e := []explain.Effect{explain.EffectOf(d.w.Locale, s, nil, r.steps[:i])}
			out = append(out, fill(text, "step", s.Order, "what", d.short(explain.SumOf(d.w.Locale, e, nil))))
		}
	}
	return out
}

// FailedStep says that a step failed.
func FailedStep(locale string, order int, name string) string {
	return fill(wordsOf.In(locale).FailedStep, "step", order, "name", name)
}

// StepNamed returns the number of the step that an error names by its id, or by the tool of what failed, on any
// surface: a title is a model's words. Another detail stays as it is.
func StepNamed(locale string, a *task.Aggregate, e *task.Execution, detail string) string {
	r := drawing{a: a}.attempt(e)
	for _, s := range r.steps {
		if detail != "" && (s.StepID == detail || s.Tool == detail && r.failed != nil && r.failed.StepID == s.StepID) {
			return fill(wordsOf.In(locale).StepNumber, "step", s.Order)
		}
	}
	return detail
}
