package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// maxListed is how many steps of unknown outcome are named; steps run one after another, so there is hardly ever a second.
const maxListed = 3

// failure says why an attempt failed and what to do: for a write whose outcome is unknown,
// what to check before trying again.
func (d drawing) failure(r attempt) string {
	unknown := d.each(r, task.StepUnknown, d.w.CheckUnknown)
	why := d.w.sentence(r.Error, d.named(r, r.ErrorDetail))
	switch {
	case r.Error == task.ReasonToolUnknown && len(unknown) == 0:
		why = d.w.UnknownSettled
	case r.Error == task.ReasonToolUnknown:
		why = d.w.sentence(r.Error, "") // the steps are named below
	}
	return strings.Join(append([]string{why}, unknown...), "\n")
}

// stopped says who or what stopped an attempt, and the outcome of calls that were under way.
func (d drawing) stopped(r attempt) []string {
	lines := []string{fill(d.w.StoppedBy, "who", d.w.mention(r.CancelledBy), "when", whenSet(r.CancelledAt))}
	if e := d.a.Head.Ended; e != nil && e.Reason == task.ReasonExpired {
		lines[0] = d.ended()
	}
	for _, g := range d.a.Gates {
		if g.Status == aggregate.Rejected && g.ProcessVersion == r.ProcessVersion && g.Attempt == r.Attempt {
			lines = append(lines, fill(d.w.RejectedBy, "who", d.w.mention(g.RejectedBy), "reason", or(inline(g.RejectionReason, maxReason), d.w.None)))
			break
		}
	}
	lines = append(lines, d.each(r, task.StepRunning, d.w.StoppedInFlight)...)
	return append(lines, d.each(r, task.StepUnknown, d.w.StoppedUnknown)...)
}

// each says a text of every step with a status.
func (d drawing) each(r attempt, status task.StepStatus, text string) []string {
	var out []string
	for _, s := range r.steps {
		if r.status(s) == status && len(out) < maxListed {
			out = append(out, fill(text, "step", s.Order, "tool", or(code(s.Tool, maxTool), "?")))
		}
	}
	return out
}

// named turns a step's id into what the card calls it.
func (d drawing) named(r attempt, detail string) string {
	for _, s := range r.steps {
		if s.StepID == detail && detail != "" {
			return fill(d.w.StepNumber, "step", s.Order)
		}
	}
	return detail
}
