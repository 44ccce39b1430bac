package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// takeAsReason rejects what waits in a message's thread, with the message's text as the reason. The
// rejection, the same as by a click on 却下, and the end of the message's own task are one commit, so
// that a message is never both a reason and a request. If the gate was decided meanwhile, nothing is
// rejected and the message's card says so.
func (h *Handler) takeAsReason(ctx context.Context, c click) {
	other := c // a click on the gate's own button
	var by aggregate.Actor
	var policy aggregate.Policy
	var refused error // why the gate can't be rejected
	mine := func(a *task.Aggregate, id string, actor aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		by, policy = actor, p
		return a.TakeAsReason(id, actor, p, now)
	}
	v := h.judge(ctx, c, mine, func(ctx context.Context, f task.Decision) error {
		a, err := h.Store.Load(ctx, c.ref)
		if err != nil {
			return err
		}
		if a.Choice == nil || rejections()[a.Choice.Beside.Kind] == nil {
			_, err := f(a)
			return errors.Join(err, aggregate.ErrNotFound)
		}
		reject := rejections()[a.Choice.Beside.Kind]
		other.ref.ID, other.id = a.Choice.Beside.TaskID, a.Choice.Beside.ID
		return h.Store.DecideBoth(ctx, c.ref, other.ref, func(own, gate *task.Aggregate) (end, rejection aggregate.Change, err error) {
			refused = nil
			if end, err = f(own); err != nil || end.Empty() {
				return aggregate.Change{}, aggregate.Change{}, err
			}
			rejection, refused = reject.once(own.Request.Text)(gate, other.id, by, policy, h.Now())
			if refused == nil || errors.Is(refused, aggregate.ErrConflict) {
				return end, rejection, refused
			}
			if end, err = own.GateOver(gate, h.Now()); err != nil {
				err = refused
			}
			return end, aggregate.Change{}, err
		})
	})
	if refused != nil {
		v.err = refused
		h.tell(ctx, other, v)
		return
	}
	h.tell(ctx, c, v)
}

// once is with for a gate that may be rejected already: by the same person with the same reason it
// is no change; with another reason it is ErrDecided, since this reason would not be saved.
func (r rejection) once(reason string) decision {
	return func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		c, err := r(a, id, reason, by, p, now)
		if v := a.VerdictOn(id); err == nil && c.Empty() && v.RejectedAt != nil && v.RejectionReason != strings.TrimSpace(reason) {
			return aggregate.Change{}, aggregate.ErrDecided{Status: string(aggregate.Rejected), By: v.RejectedBy, At: *v.RejectedAt}
		}
		return c, err
	}
}
