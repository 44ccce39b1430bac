package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/errorclass"
	"ringi/shared/metric"
	"ringi/shared/sleep"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// verdict is what became of a click.
type verdict struct {
	settings tenancy.Settings
	request  *task.Request // nil when no such task was found
	title    string        // of the task, empty before there is one
	ended    *task.Ended   // how the task had ended before
	empty    bool          // it was decided so already, by the same person
	asked    time.Time     // when the gate that is decided began to wait; zero for anything else
	err      error
}

// decide is the whole of a click: load, decide, commit; the store decides again when somebody was faster.
func (h *Handler) decide(ctx context.Context, c click, d decision) verdict {
	return h.judge(ctx, c, d, func(ctx context.Context, f task.Decision) error {
		_, err := h.Store.Decide(ctx, c.ref, f)
		return err
	})
}

// check decides without committing: would it be allowed, and is it still open?
func (h *Handler) check(ctx context.Context, c click, d decision) verdict {
	return h.judge(ctx, c, d, func(ctx context.Context, f task.Decision) error {
		a, err := h.Store.Load(ctx, c.ref)
		if err == nil {
			_, err = f(a)
		}
		return err
	})
}

// judge applies a decision under the settings and to the person as they are now.
func (h *Handler) judge(ctx context.Context, c click, d decision,
	run func(context.Context, task.Decision) error,
) (v verdict) {
	ctx, cancel := sleep.Sparing(ctx, reserved)
	defer cancel()
	settings, err := h.Store.Settings(ctx, c.ref.Tenant)
	if err != nil {
		v.err = fmt.Errorf("read the settings: %w", err)
		return v
	}
	v.settings = settings
	if !aggregate.ValidID(c.ref.ID) || !aggregate.ValidID(c.id) {
		v.err = aggregate.ErrNotFound
		return v
	}
	var by aggregate.Actor
	var policy aggregate.Policy
	v.err = run(ctx, func(a *task.Aggregate) (aggregate.Change, error) {
		if a.Request == nil {
			return aggregate.Change{}, aggregate.ErrConflict // a torn read
		}
		if v.request == nil { // asked once, however often the decision is made again
			if by, policy, err = h.People.Who(ctx, c.Want, a.Request.Origin(), settings); err != nil {
				return aggregate.Change{}, err
			}
			v.request = a.Request
		}
		if err := h.unread(ctx, c, a, settings.Locale); err != nil {
			return aggregate.Change{}, err
		}
		change, err := d(a, c.id, by, policy, h.Now())
		v.empty = err == nil && change.Empty()
		v.asked, v.ended = asked(a, c.id), a.Head.Ended
		if a.Task != nil {
			v.title = a.Task.Title
		}
		return change, err
	})
	return v
}

// asked is when the gate with this id began to wait, zero if there is no such gate.
func asked(a *task.Aggregate, id string) time.Time {
	var terms aggregate.Terms
	for _, p := range a.Prompts {
		if p.ID == id {
			terms = p.Terms
		}
	}
	for _, p := range a.Processes {
		if p.ID == id {
			terms = p.Terms
		}
	}
	for _, g := range a.Gates {
		if g.ID == id {
			terms = g.Terms
		}
	}
	if terms.DecideBy == nil {
		return time.Time{}
	}
	return terms.DecideBy.Add(-time.Duration(terms.ApprovalHours) * time.Hour) // a row is older: its generation came first
}

// tell says to the person why nothing was decided, and has the card drawn anew: it
// showed a button that it ought not to. Both are best effort: the answer to Slack comes next.
func (h *Handler) tell(ctx context.Context, c click, v verdict) {
	log := slog.With("task_id", c.ref.ID, "user", c.User)
	if v.err == nil && !v.empty {
		log.InfoContext(ctx, "decided", "id", c.id)
		if !v.asked.IsZero() {
			metric.Put(metric.Value{Name: metric.DecisionSeconds, N: h.Now().Sub(v.asked).Seconds()})
		}
		return
	}
	if v.request != nil {
		if err := h.Store.Redraw(ctx, c.ref); err != nil {
			log.WarnContext(ctx, "redraw", "err", err)
		}
	}
	if v.err == nil {
		log.InfoContext(ctx, "decided so before", "id", c.id)
		if c.Withdraws && !c.Retries && v.ended != nil { // a card that is cancelled may be far up in the thread
			h.sendEphemeral(ctx, c, v, card.CancelledBefore(v.settings.Locale, v.ended.By, v.ended.At))
		}
		return
	}
	v.log(ctx, log)
	metric.Count(metric.InteractionNoted, 1)
	h.sendEphemeral(ctx, c, v, v.text())
}

// sendEphemeral shows text to the person alone, where they clicked, or else where the request was made.
func (h *Handler) sendEphemeral(ctx context.Context, c click, v verdict, text string) {
	if c.Channel == "" && v.request != nil {
		c.Channel, c.thread = v.request.Channel, v.request.ThreadTS
	}
	if err := h.Slack.Ephemeral(ctx, c.Channel, c.thread, c.User, text); err != nil {
		slog.WarnContext(ctx, "the person was not told", "task_id", c.ref.ID, "user", c.User, "err", err)
	}
}

func (v verdict) log(ctx context.Context, log *slog.Logger) {
	switch class := errorclass.Of(v.err); {
	case class == errorclass.Unconfirmed:
		log.ErrorContext(ctx, "not known to be saved", "err", v.err)
	case !class.Refusal():
		log.ErrorContext(ctx, "not saved", "err", v.err)
	default:
		log.InfoContext(ctx, "not decided", "err", v.err)
	}
}

// unsaved reports whether it was no rule that refused, but something of ours or Slack's that failed.
func (v verdict) unsaved() bool { return v.err != nil && !errorclass.Of(v.err).Refusal() }

// text is the sentence for the person.
func (v verdict) text() string { return card.Refused(v.err, v.settings, v.request.Origin()) }

// inForm returns what the form has to say and stay open for: a reason that won't
// do, or that nothing was saved; also whatever there is no place in a channel for.
func (v verdict) inForm() (text string, ok bool) {
	if class := errorclass.Of(v.err); v.err != nil && (!class.Refusal() || class == errorclass.Field || v.request == nil) {
		return v.text(), true
	}
	return "", false
}
