// Command sweep-tasks checks, each minute, every aggregate that is due, and makes up for what other functions failed to
// do.
//
// It reads the index of due heads (DUE#0 to DUE#7) until nothing is due. First it makes the decisions of time, for all
// heads: it expires gates and choices, which no other function does, settles claims whose lease is over, and ends
// executions past their limit. None of them approves. Then it carries out the effects, as the relay does; repairs are
// counted, and an alarm watches. Only when all effects of a head are done does its due time move on.
//
// Work to do, no gate, lease or pause, and no new revision for 20 minutes: another run is begun, even if the old one
// looks open. Progress resets the count of restarts: a decision, a finished generation, a step's result. After three
// the head is parked or the execution fails, and people have a button.
//
// A head whose handling fails is put off by 2, 4, 8 minutes, an hour at most, five if a service was at fault. So one
// poisonous row delays no other, and an outage delays the work that needs the service, and no expiry.
//
// Last it forgets conversations that are not kept: four at once, a few seconds each, since erasing may wait and gates
// may not. On working days it reminds people of what waits for them by name, by the rows that make each tenant where
// something waits due once a day, and has people looked up again for it; also once somebody has left.
//
// Each hour it deletes tools' results and models' requests when their tenant's retention time is over.
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

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Effects
	boot.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s, results := store.OpenAll(cfg, env.Table), openBucket(cfg, env.Results)
	return &Handler{
		Store: s, Tasks: store.TasksOf(s), Reminders: s,
		Effects: effect.New(cfg, s, store.Kinds(), store.Machines(env.Effects), env.CardQueueURL),
		Objects: results,
		Results: Retention{
			Bucket: results, Rows: store.TasksOf(s), Conversations: store.ConversationsOf(s), Calls: store.CallsOf(s),
			Now: time.Now,
		},
		Now: time.Now,
	}, nil
}

const (
	// sweepWithin is less than the minute until the next sweep.
	sweepWithin = 55 * time.Second
	// spare is the least remaining time for beginning another task.
	spare = 10 * time.Second
	// atOnce is how many tasks of a shard are handled concurrently. mostKept is how many of them stay in memory until
	// their effects are carried out; others are read again, since the function has 512 MB.
	atOnce, mostKept = 16, 32
	// erasedAtOnce is how many aggregates are deleted concurrently: each of them makes many calls.
	erasedAtOnce = 4
	// failedWait is the longest delay of an aggregate for a failure that another aggregate or a service caused.
	failedWait = 5 * time.Minute
	// perTask bounds the time for one task, so that it delays no other for long.
	perTask = 8 * time.Second
)

type Store interface {
	Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error]
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error)
	Erase(ctx context.Context, results store.Objects, ref aggregate.Ref) (deleted int, err error)
	Decide(
		ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate],
	) (aggregate.Aggregate, error)
	Postpone(ctx context.Context, ref aggregate.Ref, h aggregate.Head, due *time.Time) error
	SweepFailed(ctx context.Context, ref aggregate.Ref, failures int, due, now time.Time) error
}

type Handler struct {
	Store     Store
	Tasks     *store.TaskStore
	Reminders Reminders
	Effects   effect.Runner
	Objects   store.Objects
	Results   Results
	Now       func() time.Time

	begun *sync.Map // tenants of which this sweep knows that they have a row of Reminders
}

// count counts the tasks of one sweep: handled, repaired and failed.
type count struct{ swept, repairs, failed atomic.Int64 }

// Schedule is what the hour's schedule says; the minute's event says nothing of it.
type Schedule struct {
	Expire bool `json:"expire"`
}

// Handle does what the schedule is for.
func (h *Handler) Handle(ctx context.Context, s Schedule) error {
	if s.Expire {
		return h.expire(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	return h.Sweep(ctx)
}

// Sweep handles every task that is due, all shards concurrently, until none is left or time runs short; the next
// minute continues. First it makes the decisions that depend on time, for all tasks: they need only the table, and
// people wait for them. Then it carries out effects, and reminds people of what waits for them. Last it deletes what is
// forgotten. It postpones a task that can't be handled. A failing task, shard or service doesn't delay other tasks.
func (h *Handler) Sweep(ctx context.Context) error {
	one := *h
	one.begun = &sync.Map{}
	var n count
	errs := make([]error, store.Shards)
	found := make([][]*found, store.Shards)
	first, cancel := half(ctx)
	shards(func(shard int) { found[shard], errs[shard] = one.decideDue(first, shard, &n) })
	cancel()
	shards(func(shard int) { one.each(ctx, found[shard], atOnce, one.effects, &n) })
	errs = append(errs, one.remindAll(ctx, &n))
	forgotten := slices.DeleteFunc(slices.Concat(found...), isKept)
	one.each(ctx, forgotten, erasedAtOnce, one.erase, &n)
	boot.Count(boot.SweepRepaired, int(n.repairs.Load()))
	boot.Count(boot.SweepFailed, int(n.failed.Load()))
	slog.InfoContext(ctx, "swept", "tasks", n.swept.Load(), "repairs", n.repairs.Load(), "failed", n.failed.Load())
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

// handling is one part of handling an aggregate.
type handling func(ctx context.Context, f *found) (repairs int, err error)

// each handles aggregates, so many at once.
func (h *Handler) each(ctx context.Context, list []*found, atOnce int, part handling, n *count) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, f := range list {
		if f.over || !enough(ctx) {
			continue
		}
		all.Go(func() error {
			h.count(ctx, f, part, n)
			return nil
		})
	}
	_ = all.Wait()
}

// count counts one part of handling an aggregate, and postpones the aggregate if that part fails.
func (h *Handler) count(ctx context.Context, f *found, part handling, n *count) {
	repairs, err := part(ctx, f)
	n.repairs.Add(int64(repairs))
	if err == nil {
		return
	}
	f.over = true
	n.failed.Add(1)
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
	if unavailable(why) { // its own decide_by may come sooner
		wait = min(wait, failedWait)
	}
	now := h.Now()
	err := h.Store.SweepFailed(ctx, ref, failures, now.Add(wait), now)
	slog.ErrorContext(ctx, "put off", ref.Log(), "failures", failures, "err", errors.Join(why, err))
}

type found struct {
	ref    aggregate.Ref
	keep   bool
	a      aggregate.Aggregate                     // after its decisions; nil: effects loads it again
	over   bool                                    // nothing more is done for it in this sweep
	erased aggregate.Decision[aggregate.Aggregate] // not nil: it must be deleted, and then this be committed
}

func isKept(f *found) bool { return f.erased == nil }

// decide makes the decisions that depend only on time. It returns how many of them another function should have made.
func (h *Handler) decide(ctx context.Context, f *found) (repairs int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, f.ref.Log())
	a, err := h.Store.Load(ctx, f.ref)
	if err != nil {
		return 0, fmt.Errorf("load it: %w", err)
	}
	for _, d := range a.Overdue(h.Now()) {
		if _, err := d.Decide(a); notDue(err) {
			continue
		}
		n, err := h.Store.Decide(ctx, f.ref, d.Decide)
		switch {
		case err == nil:
			a = n
			if d.Repair {
				repairs++
			}
		case !notDue(err):
			return repairs, fmt.Errorf("settle: %w", err)
		}
	}
	if f.keep {
		f.a = a
	}
	return repairs, nil
}

// effects carries out every effect, and only then sets the aggregate's next due time. It returns how many repairs it
// made.
func (h *Handler) effects(ctx context.Context, f *found) (repairs int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, f.ref.Log())
	a := f.a
	if a == nil {
		if a, err = h.Store.Load(ctx, f.ref); err != nil {
			return 0, fmt.Errorf("load it again: %w", err)
		}
	}
	e := a.Effects(h.Now())
	running, stop := context.WithTimeout(ctx, perTask/2) // cards have time left though no run can be started
	defer stop()
	repairs, err = h.Effects.Run(running, a, e, true)
	err = errors.Join(err, h.beginReminding(ctx, a))
	f.erased = e.Erased
	// The cards are drawn even if the task's run could not be woken.
	if e.Cards {
		err = errors.Join(err, h.Effects.Redraw(ctx, f.ref, *a.Root().Common(), aggregate.NewID()))
	}
	if err != nil {
		return repairs, err
	}
	due := a.DueAt(h.Now())
	if soon := h.Now().Add(time.Second); due != nil && due.Before(soon) {
		due = &soon
	}
	if err := h.Store.Postpone(ctx, f.ref, *a.Root().Common(), due); err != nil && !errors.Is(err, aggregate.ErrConflict) {
		return repairs, fmt.Errorf("put off: %w", err)
	}
	return repairs, nil // after a conflict the task has changed, which makes it due again
}

func notDue(err error) bool {
	return errors.Is(err, aggregate.ErrNotDue) || errors.Is(err, aggregate.ErrInFlight) ||
		errors.Is(err, aggregate.ErrSuperseded)
}

// Results deletes results that are older than their tenant's retention time.
type Results interface {
	Expire(ctx context.Context) (Expired, error)
}

// erase deletes an aggregate that is forgotten, and records that. If the time didn't suffice for all of it, it stays
// due.
func (h *Handler) erase(ctx context.Context, f *found) (_ int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, f.ref.Log())
	deleted, err := h.Store.Erase(ctx, h.Objects, f.ref)
	if err == nil {
		_, err = h.Store.Decide(ctx, f.ref, f.erased)
	}
	slog.InfoContext(ctx, "deleted", f.ref.Log(), "deleted", deleted, "err", err)
	if notDue(err) || errors.Is(err, aggregate.ErrNotFound) || // of a call not even the head is left
		deleted > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return 0, nil
	}
	return 0, err
}

// expire deletes as many tools' results and models' requests as it has time for, and the next hour continues. It
// records how overdue the oldest object was. It returns an error for objects that could not be deleted or examined.
func (h *Handler) expire(ctx context.Context) error {
	x, err := h.Results.Expire(ctx)
	slog.InfoContext(ctx, "expired", "results", x.Deleted, "lag_seconds", int(x.Lag.Seconds()), "left", x.Left, "err", err)
	if err == nil || x.Lag > 0 {
		boot.Measure(boot.ExpireLag, x.Lag.Seconds())
	}
	if err != nil {
		return fmt.Errorf("delete old results: %w", err)
	}
	return nil
}

// unavailable reports whether an error is the service's fault, not the task's.
func unavailable(err error) bool {
	class := explain.ClassOf(err)
	return class == explain.Unavailable || class == explain.Unconfirmed
}
