package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/effect"
	"ringi/shared/metric"
	"ringi/shared/store"
	"ringi/shared/task"
)

const (
	page  = 25               // tasks asked for at a time
	spare = 10 * time.Second // before the function's own timeout: no task is begun
)

// Store is what the sweeper reads and settles.
type Store interface {
	Due(ctx context.Context, shard int, now time.Time, limit int) ([]task.Ref, error)
	Load(ctx context.Context, ref task.Ref) (*task.Aggregate, error)
	Head(ctx context.Context, ref task.Ref) (task.Head, error)
	Decide(ctx context.Context, ref task.Ref, decide func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error)
	Postpone(ctx context.Context, ref task.Ref, rev int, due *time.Time) error
	SweepFailed(ctx context.Context, ref task.Ref, failures int, due time.Time) error
}

// Handler sweeps.
type Handler struct {
	Store   Store
	Effects effect.Runner
	Now     func() time.Time
}

// Handle looks at every task that is due, shard by shard, until none is or its own
// time runs short; the next minute goes on from there. A task that can't be
// handled is put off and delays no other.
func (h *Handler) Handle(ctx context.Context) error {
	repairs, failed := 0, 0
	for shard := range store.Shards {
		seen := map[task.Ref]bool{} // an index may lag behind what was just put off
		for h.time(ctx) {
			refs, err := h.Store.Due(ctx, shard, h.Now(), page+len(seen))
			if err != nil {
				return fmt.Errorf("ask what is due in shard %d: %w", shard, err)
			}
			begun := 0
			for _, ref := range refs {
				if seen[ref] || !h.time(ctx) {
					continue
				}
				seen[ref] = true
				begun++
				n, err := h.sweep(ctx, ref)
				repairs += n
				if err != nil {
					failed++
					h.putOff(ctx, ref, err)
				}
			}
			if begun == 0 {
				break
			}
		}
	}
	metric.Count(metric.SweepRepaired, repairs)
	metric.Count(metric.SweepFailed, failed)
	slog.InfoContext(ctx, "swept", "repairs", repairs, "failed", failed)
	return nil
}

func (h *Handler) time(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > spare)
}

// sweep does what time alone decides, then every effect, and only then moves the
// task's due time on. It reports how many things it had to repair.
func (h *Handler) sweep(ctx context.Context, ref task.Ref) (repairs int, err error) {
	a, err := h.Store.Load(ctx, ref)
	if err != nil {
		return 0, fmt.Errorf("load the task: %w", err)
	}
	if h.due(a, h.stuck) {
		repairs++
	}
	for _, decide := range []decision{h.expire, h.settleLeases, h.overLimit, h.stuck} {
		if !h.due(a, decide) {
			continue
		}
		n, err := h.Store.Decide(ctx, ref, decide)
		if err != nil && !notDue(err) {
			return repairs, fmt.Errorf("settle: %w", err)
		}
		if err == nil {
			a = n
		}
	}
	n, err := h.Effects.Run(ctx, a, true)
	repairs += n
	if err != nil {
		return repairs, err
	}
	if a.Effects(h.Now()).Cards {
		if err := h.Effects.Redraw(ctx, ref, task.NewID()); err != nil {
			return repairs, err
		}
	}
	due := a.DueAt(h.Now())
	if soon := h.Now().Add(time.Second); due != nil && due.Before(soon) {
		due = &soon
	}
	if err := h.Store.Postpone(ctx, ref, a.Head.Rev, due); err != nil && !errors.Is(err, task.ErrConflict) {
		return repairs, fmt.Errorf("put off: %w", err)
	}
	return repairs, nil // on a conflict the task moved, and is due anew
}

type decision func(*task.Aggregate) (task.Change, error)

// due reports whether there is something to decide, before the store is asked to.
func (h *Handler) due(a *task.Aggregate, decide decision) bool {
	_, err := decide(a)
	return !notDue(err)
}

func notDue(err error) bool {
	return errors.Is(err, task.ErrNotDue) || errors.Is(err, task.ErrInFlight) || errors.Is(err, task.ErrSuperseded)
}

func (h *Handler) expire(a *task.Aggregate) (task.Change, error) { return a.Expire(h.Now()) }

// settleLeases records the calls that were out when their task ended.
func (h *Handler) settleLeases(a *task.Aggregate) (task.Change, error) {
	if a.Head.Ended == nil {
		return task.Change{}, task.ErrNotDue
	}
	return a.SettleLeases(h.Now())
}

func (h *Handler) overLimit(a *task.Aggregate) (task.Change, error) {
	if !a.OverLimit(h.Now()) {
		return task.Change{}, task.ErrNotDue
	}
	return a.FailExecution(a.Head.Run, task.ReasonTimeout, fmt.Sprint(a.Execution().Terms.L4TimeoutSeconds), h.Now())
}

func (h *Handler) stuck(a *task.Aggregate) (task.Change, error) {
	if !a.Stuck(h.Now()) {
		return task.Change{}, task.ErrNotDue
	}
	return a.RestartRun(a.Head.Run, h.Now())
}

// putOff tries a task that failed again after 2^n minutes, an hour at most.
func (h *Handler) putOff(ctx context.Context, ref task.Ref, why error) {
	failures := 1
	if head, err := h.Store.Head(ctx, ref); err == nil {
		failures = head.SweepFailures + 1
	}
	wait := min(time.Hour, time.Minute<<min(failures, 6))
	err := h.Store.SweepFailed(ctx, ref, failures, h.Now().Add(wait))
	slog.ErrorContext(ctx, "put off", "task_id", ref.Task, "failures", failures, "err", errors.Join(why, err))
}
