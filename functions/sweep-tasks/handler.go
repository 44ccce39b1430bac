package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/effect"
	"ringi/shared/metric"
	"ringi/shared/store"
)

const (
	// spare: no further task is begun when less than this is left of the function's time.
	spare = 10 * time.Second
	// besideWithin is what reading the aggregate beside may take of perTask, and unreadWait how long an aggregate whose
	// neighbour can't be read is put off at most.
	besideWithin = 2 * time.Second
	unreadWait   = 5 * time.Minute
	// perTask bounds what one task may take, so that it delays no other for long.
	perTask = 8 * time.Second
)

// Store is what the sweeper reads and settles.
type Store interface {
	Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error]
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error)
	Postpone(ctx context.Context, ref aggregate.Ref, h aggregate.Head, due *time.Time) error
	SweepFailed(ctx context.Context, ref aggregate.Ref, failures int, due, now time.Time) error
}

// Results deletes the results that are older than their tenant keeps them.
type Results interface {
	Expire(ctx context.Context) (deleted int, err error)
}

// Handler handles the tasks that are due.
type Handler struct {
	Store   Store
	Effects effect.Runner
	Results Results
	Now     func() time.Time
}

// expiring is the minute of each hour in which results are deleted: nobody waits for it.
const expiring = 17

// count is what one sweep handled, repaired and could not handle.
type count struct{ swept, repairs, failed atomic.Int64 }

// Handle looks at every task that is due, all shards side by side, until none is or
// its own time runs short; the next minute goes on from there. A task that can't be
// handled is put off and delays no other, and neither does a shard that can't be read.
func (h *Handler) Handle(ctx context.Context) error {
	var n count
	errs := make([]error, store.Shards)
	var all sync.WaitGroup
	for shard := range errs {
		all.Go(func() { errs[shard] = h.shard(ctx, shard, &n) })
	}
	all.Wait()
	if h.Now().Minute() == expiring && enough(ctx) {
		n, err := h.Results.Expire(ctx)
		slog.InfoContext(ctx, "expired", "results", n, "err", err)
		errs = append(errs, err)
		if err != nil { // runs once an hour, so its failure would not show among the function's errors
			metric.Count(metric.ExpireFailed, 1)
		}
	}
	metric.Count(metric.SweepRepaired, int(n.repairs.Load()))
	metric.Count(metric.SweepFailed, int(n.failed.Load()))
	slog.InfoContext(ctx, "swept", "tasks", n.swept.Load(), "repairs", n.repairs.Load(), "failed", n.failed.Load())
	return errors.Join(errs...)
}

func (h *Handler) shard(ctx context.Context, shard int, n *count) error {
	for ref, err := range h.Store.Due(ctx, shard, h.Now()) {
		if err != nil {
			return fmt.Errorf("ask what is due in shard %d: %w", shard, err)
		}
		if !enough(ctx) {
			return nil
		}
		repairs, err := h.sweep(ctx, ref)
		n.swept.Add(1)
		n.repairs.Add(int64(repairs))
		if err != nil {
			n.failed.Add(1)
			h.putOff(ctx, ref, err)
		}
	}
	return nil
}

// enough reports whether there is time for another task.
func enough(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > spare)
}

// putOff makes a task whose handling failed n times due again after 2^n minutes, at most an hour.
func (h *Handler) putOff(ctx context.Context, ref aggregate.Ref, why error) {
	failures := 1
	if head, err := h.Store.Head(ctx, ref); err == nil {
		failures = head.Common().SweepFailures + 1
	}
	wait := min(time.Hour, time.Minute<<min(failures, 6))
	if errors.Is(why, errUnread) { // its own decide_by may come sooner
		wait = min(wait, unreadWait)
	}
	now := h.Now()
	err := h.Store.SweepFailed(ctx, ref, failures, now.Add(wait), now)
	slog.ErrorContext(ctx, "put off", ref.Log(), "failures", failures, "err", errors.Join(why, err))
}
