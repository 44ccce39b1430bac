package main

import (
	"context"
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
	if v := h.decide(ctx, other, reject.with(reason)); v.err != nil {
		h.tell(ctx, other, v)
		return
	}
	h.tell(ctx, c, h.decide(ctx, c, (*task.Aggregate).TakeAsReason))
}
