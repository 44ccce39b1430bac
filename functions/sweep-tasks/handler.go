package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

const (
	// spare is the least remaining time for beginning another task.
	spare = 10 * time.Second
	// atOnce is how many tasks of a shard are handled concurrently. mostKept is how many of them stay in memory until
	// their effects are carried out; others are read again, since the function has 512 MB.
	atOnce, mostKept = 16, 32
	// besideWithin is the part of perTask for reading the other aggregate that a decision depends on. failedWait is the
	// longest delay of an aggregate for a failure that another aggregate or a service caused.
	besideWithin = 2 * time.Second
	failedWait   = 5 * time.Minute
	// perTask bounds the time for one task, so that it delays no other for long.
	perTask = 8 * time.Second
)

type Store interface {
	Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error]
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error)
	Decide(
		ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate],
	) (aggregate.Aggregate, error)
	Postpone(ctx context.Context, ref aggregate.Ref, h aggregate.Head, due *time.Time) error
	SweepFailed(ctx context.Context, ref aggregate.Ref, failures int, due, now time.Time) error
}

type Handler struct {
	Store       Store
	Delegations Delegations
	Effects     effect.Runner
	Erase       store.Eraser
	Now         func() time.Time
}

// count counts the tasks of one sweep: handled, repaired, failed, and left because a service failed.
type count struct{ swept, repairs, failed, left atomic.Int64 }

// Handle handles every task that is due, all shards concurrently, until none is left or time runs short; the next
// minute continues. First it makes the decisions that depend on time, for all tasks: they need only the table, and
// people wait for them. Then it carries out effects, and tells people what was done by who stood in for them. Last it
// deletes what is forgotten. It postpones a task that can't be
// handled. A failing task, shard or service doesn't delay other tasks; tasks that need the service stay due.
func (h *Handler) Handle(ctx context.Context) error {
	one := h.ofOneSweep()
	var n count
	errs := make([]error, store.Shards)
	found := make([][]*found, store.Shards)
	first, cancel := half(ctx)
	shards(func(shard int) { found[shard], errs[shard] = one.decideDue(first, shard, &n) })
	cancel()
	shards(func(shard int) { one.carryOut(ctx, found[shard], &n) })
	errs = append(errs, h.listOver(ctx, &n))
	one.eraseAll(ctx, slices.Concat(found...), &n)
	boot.Count(boot.SweepRepaired, int(n.repairs.Load()))
	boot.Count(boot.SweepFailed, int(n.failed.Load()))
	slog.InfoContext(ctx, "swept", "tasks", n.swept.Load(), "repairs", n.repairs.Load(), "failed", n.failed.Load(),
		"left", n.left.Load())
	return errors.Join(errs...)
}

func shards(do func(shard int)) {
	var all sync.WaitGroup
	for shard := range store.Shards {
		all.Go(func() { do(shard) })
	}
	all.Wait()
}

func half(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
}

// decideDue makes a shard's decisions that depend on time. It returns the aggregates whose effects are still to be
// carried out.
func (h *Handler) decideDue(ctx context.Context, shard int, n *count) (list []*found, err error) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	defer func() { _ = all.Wait() }()
	for ref, err := range h.Store.Due(ctx, shard, h.Now()) {
		if err != nil {
			return list, fmt.Errorf("ask what is due in shard %d: %w", shard, err)
		}
		if !enough(ctx) {
			return list, nil
		}
		f := &found{ref: ref, keep: len(list) < mostKept}
		list = append(list, f)
		n.swept.Add(1)
		all.Go(func() error {
			h.count(ctx, f, h.decide, n)
			return nil
		})
	}
	return list, nil
}

// carryOut carries out the effects of a shard's aggregates.
func (h *Handler) carryOut(ctx context.Context, list []*found, n *count) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, f := range list {
		if f.over || !enough(ctx) {
			continue
		}
		all.Go(func() error {
			h.count(ctx, f, h.effects, n)
			return nil
		})
	}
	_ = all.Wait()
}

// count counts one part of handling an aggregate, and postpones the aggregate if that part fails. An aggregate that
// failed only because of a service stays due.
func (h *Handler) count(
	ctx context.Context, f *found, part func(context.Context, *found) (repairs int, err error), n *count,
) {
	repairs, err := part(ctx, f)
	n.repairs.Add(int64(repairs))
	if err == nil {
		return
	}
	f.over = true
	n.failed.Add(1)
	if errors.Is(err, errLeftAlone) {
		n.left.Add(1)
		return
	}
	h.putOff(ctx, f.ref, err)
}

func enough(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > spare)
}

// putOff postpones a task after its n-th failure by 2^n minutes, at most an hour, and much less if the failure is not
// the task's own.
func (h *Handler) putOff(ctx context.Context, ref aggregate.Ref, why error) {
	failures := 1
	if head, err := h.Store.Head(ctx, ref); err == nil {
		failures = head.Common().SweepFailures + 1
	}
	wait := min(time.Hour, time.Minute<<min(failures, 6))
	if errors.Is(why, errUnread) || unavailable(why) { // its own decide_by may come sooner
		wait = min(wait, failedWait)
	}
	now := h.Now()
	err := h.Store.SweepFailed(ctx, ref, failures, now.Add(wait), now)
	slog.ErrorContext(ctx, "put off", ref.Log(), "failures", failures, "err", errors.Join(why, err))
}
