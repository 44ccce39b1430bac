package main

import (
	"context"
	"strings"
	"time"

	"ringi/shared/task"
)

// takeAsReason makes a message the reason of the rejection of what waits in its thread.
// These are two commits: first the rejection, as by a click on 却下, then the end of
// the message's own head. When the second is lost, the same person's next click makes it up.
func (h *Handler) takeAsReason(ctx context.Context, c click) {
	var beside task.Beside
	var reason string
	v := h.check(ctx, c, func(a *task.Aggregate, id string, by task.Actor, p task.Policy, now time.Time) (task.Change, error) {
		if a.Choice != nil && a.Request != nil {
			beside, reason = a.Choice.Beside, a.Request.Text
		}
		return a.TakeAsReason(id, by, p, now)
	})
	reject := rejections()[beside.Kind]
	if v.err != nil || v.empty || reject == nil {
		h.tell(ctx, c, v)
		return
	}
	other := c
	other.ref.Task, other.id = beside.TaskID, beside.ID
	if v := h.decide(ctx, other, reject.once(reason)); v.err != nil {
		h.tell(ctx, other, v)
		return
	}
	h.tell(ctx, c, h.decide(ctx, c, (*task.Aggregate).TakeAsReason))
}

// once is with, where the rejection may be there already: by the same person with this very
// reason it is no change. With another reason it is ErrDecided, since this one would be lost.
func (r rejection) once(reason string) decision {
	return func(a *task.Aggregate, id string, by task.Actor, p task.Policy, now time.Time) (task.Change, error) {
		c, err := r(a, id, reason, by, p, now)
		if v := verdictOn(a, id); err == nil && c.Empty() && v.RejectedAt != nil && v.RejectionReason != strings.TrimSpace(reason) {
			return task.Change{}, task.ErrDecided{Status: string(task.Rejected), By: v.RejectedBy, At: *v.RejectedAt}
		}
		return c, err
	}
}

// verdictOn is what was decided about the gate with an id, of whatever kind.
func verdictOn(a *task.Aggregate, id string) task.Verdict {
	for _, p := range a.Prompts {
		if p.ID == id {
			return p.Verdict
		}
	}
	for _, p := range a.Processes {
		if p.ID == id {
			return p.Verdict
		}
	}
	for _, g := range a.Gates {
		if g.ID == id {
			return g.Verdict
		}
	}
	return task.Verdict{}
}
