package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

func bill(id string, dollars float64) aggregate.Usage {
	return aggregate.Usage{ID: id, Calls: 1, Input: 10, Output: 1, Cost: aggregate.USD(dollars)}
}

// extracting returns the commit of a generation of the first layer in a run.
func extracting(w *ringitest.World, run int) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(run, task.Extract{Title: "t", Description: "d", Priority: task.Low, TaskType: task.TypeStandard},
			w.Now())
	}
}

func paid(w *ringitest.World, u aggregate.Usage, limit float64) (aggregate.Next, error) {
	in := w.In()
	return pipeline.CommitUsage(w.T.Context(), w.StoreOverTransport(), in, w.Load(), u, aggregate.USD(limit), w.Now(),
		extracting(w, in.Run))
}

func spent(t *testing.T, w *ringitest.World, dollars float64) *task.Aggregate {
	t.Helper()
	a := w.Load()
	expect.That(t, a.Spent() == aggregate.USD(dollars), "spent %s, want %v", a.Spent(), dollars)
	return a
}

func TestWhatIsPaidIsCommittedOnce(t *testing.T) {
	t.Run("once, though the commit's answer is lost", func(t *testing.T) {
		for _, lost := range []int{1, 2, 20} { // the client tries three times
			w := ringitest.Start(t).World(t)
			w.Transport.DropAnswers("TransactWriteItems", lost)
			_, _ = paid(w, bill("1", 0.25), 0)
			w.Transport.ClearFaults()
			_, err := paid(w, bill("1", 0.25), 0)
			expect.That(t, err == nil, "%v", err)
			a := spent(t, w, 0.25)
			expect.That(t, a.Task.Usage.ID == "1", "the task's row has %+v", a.Task.Usage)
		}
	})
	t.Run("by each of two invocations", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		for _, id := range []string{"1", "2"} {
			next, err := paid(w, bill(id, 0.25), 0)
			expect.That(t, err == nil && next.State == task.StateDraftPrompt, "%+v, %v", next, err)
		}
		a := spent(t, w, 0.50)
		expect.That(t, a.Task.Usage.ID == "1" && a.Used().Calls == 2, "row %+v, sum %+v", a.Task.Usage, a.Used())
	})
	t.Run("by a run that was superseded, which ends", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		in := w.In()
		w.Restart()
		_, err := pipeline.CommitUsage(t.Context(), w.Store, in, w.Load(), bill("1", 5), aggregate.USD(3), w.Now(),
			extracting(w, in.Run))
		expect.Fails(t, err, aggregate.ErrSuperseded)
		a := spent(t, w, 5)
		expect.That(t, a.Task == nil && a.Head.Ended == nil, "it went on: %+v", a.Head)
	})
}

// It charges a task that has a cost limit.
func TestWhatIsPaidStopsATaskAtItsLimit(t *testing.T) {
	t.Run("up to the limit, which stops the task", func(t *testing.T) {
		for dollars, want := range map[float64]aggregate.Next{
			2.99: {State: task.StateDraftPrompt}, 3: {State: task.StateFinish,
				Outcome: "cancelled"}, 4: {State: task.StateFinish, Outcome: "cancelled"},
		} {
			w := ringitest.Start(t).World(t)
			next, err := paid(w, bill("1", dollars), 3)
			expect.That(t, err == nil && next == want, "%v: %+v, %v", dollars, next, err)
			spent(t, w, dollars)
		}
	})
	t.Run("also when another invocation paid after the rows were read", func(t *testing.T) {
		for limit, want := range map[float64]aggregate.Next{0: {State: task.StateDraftPrompt},
			4: {State: task.StateDraftPrompt}, 3: {State: task.StateFinish, Outcome: "cancelled"}} {
			w := ringitest.Start(t).World(t)
			in, read := w.In(), w.Load()
			w.Spend("other", 2.5)
			store, before := w.StoreOverTransport(), w.Transport.Count("Query")
			next, err := pipeline.CommitUsage(t.Context(), store, in, read, bill("1", 1), aggregate.USD(limit), w.Now(),
				extracting(w, in.Run))
			expect.That(t, err == nil && next == want, "limit %v: %+v, %v", limit, next, err)
			reads := w.Transport.Count("Query") - before
			expect.That(t, (reads > 0) == (limit > 0), "limit %v: the rows were read %d times", limit, reads)
			spent(t, w, 3.5)
		}
	})
}

func TestWhatFailedIsPaidFor(t *testing.T) {
	t.Run("by a generation that failed", func(t *testing.T) {
		for name, tt := range map[string]struct {
			f     task.Failure
			limit float64
			state string
			err   error
		}{
			"for good":               {task.Failure{}, 0, task.StateFail, nil},
			"for good, at the limit": {task.Failure{}, 3, task.StateFinish, nil},
			"for a while":            {task.Failure{Transient: true, RetryAfter: time.Minute}, 4, task.StatePause, nil},
			"for now":                {task.Failure{Transient: true}, 4, "", explain.ErrModelUnavailable},
			"for now, at the limit":  {task.Failure{Transient: true}, 3, task.StateFinish, nil},
		} {
			w := ringitest.Start(t).World(t)
			tt.f.Reason, tt.f.Usage = task.ReasonModelBadOutput, bill("1", 3.5)
			next, err := pipeline.Failed(t.Context(), w.StoreOverTransport(), w.In(), task.Generation{Layer: task.L1}, tt.f,
				aggregate.USD(tt.limit), w.Now())
			expect.That(t, next.State == tt.state && errors.Is(err, tt.err), "%s: %+v, %v", name, next, err)
			a := spent(t, w, 3.5)
			expect.That(t, (a.Head.Ended != nil) == (tt.state == task.StateFinish) &&
				(a.Head.Parked != nil && a.Head.Parked.Layer == task.L1) == (tt.state == task.StateFail), "%s: %+v", name, a.Head)
		}
	})
	t.Run("by one that failed after its run was superseded", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		in := w.In()
		w.Restart()
		f := task.Failure{Reason: task.ReasonModelRefused, Usage: bill("1", 1)}
		_, err := pipeline.Failed(t.Context(), w.Store, in, task.Generation{Layer: task.L1}, f, 0, w.Now())
		expect.Fails(t, err, aggregate.ErrSuperseded)
		expect.That(t, spent(t, w, 1).Head.Parked == nil, "it parked the head")
	})
}

// summed is the cost of all tasks.
type summed tenancy.Sums

func (s summed) Spent(context.Context, string, time.Time) (tenancy.Sums, error) {
	return tenancy.Sums(s), nil
}

// A workspace is bounded by its administrators' budget.
func TestAWorkspaceSpendsNoMoreThanItsDay(t *testing.T) {
	for name, tt := range map[string]struct {
		saved, today, left float64
		over               bool
	}{
		"nothing bounds it": {today: 100}, "some is left": {saved: 5, today: 1, left: 4},
		"spent": {saved: 5, today: 5, over: true}, "more than all": {saved: 5, today: 6, over: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := tenancy.Settings{MaxCostDayUSD: tt.saved}
			sums := summed{Day: aggregate.USD(tt.today), Month: aggregate.USD(tt.today)}
			left, err := pipeline.WithinBudgets(t.Context(), sums, "T", s, time.Now())
			expect.That(t, left == aggregate.USD(tt.left) && errors.As(err, new(task.StopError)) == tt.over, "%s left, %v",
				left, err)
			over := expect.Value(pipeline.OverBudget(t.Context(), sums, "T", s, time.Now()))(t)
			expect.That(t, (over.Reason == task.ReasonDayBudget) == tt.over && s.CostsLimited() == (tt.saved > 0), "%+v", over)
		})
	}
}

// The cost of model calls is counted even if their result can't be saved.
func TestWhatCantBeSavedIsPaidFor(t *testing.T) {
	t.Run("once, and what follows is paid beside it", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		w.RefuseCommits()
		for range 2 {
			_, err := paid(w, bill("1", 0.25), 3)
			w.PaidAlone(err)
		}
		w.Transport.ClearFaults()
		next, err := paid(w, bill("2", 0.25), 3)
		expect.That(t, err == nil && next.State == task.StateDraftPrompt, "the next try: %+v, %v", next, err)
		spent(t, w, 0.50)
	})
	t.Run("nor can that it failed", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		w.RefuseCommits()
		f := task.Failure{Reason: task.ReasonModelBadOutput, Usage: bill("1", 0.25)}
		_, err := pipeline.Failed(t.Context(), w.StoreOverTransport(), w.In(), task.Generation{Layer: task.L1}, f, 0, w.Now())
		w.PaidAlone(err)
	})
	t.Run("nor can it be opened for people, also after the settings changed", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		w.Extracted()
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
		old, in := tenancy.DefaultSettings(), w.In()
		w.Settings(func(s *tenancy.Settings) { s.MaxVersions = 3 })
		settings := 0
		_, err := pipeline.CommitGate(t.Context(), w.StoreOverTransport(), in, w.Load(), bill("1", 0.25), old, w.Now(),
			func(a *task.Aggregate, s tenancy.Settings) (aggregate.Change, error) {
				if settings++; s.Rev != old.Rev {
					return aggregate.Change{}, errors.New("a bug")
				}
				return a.FinishPrompt(in.Run, task.Drafted{Content: "方針"}, s, w.Now())
			})
		expect.That(t, settings >= 2, "the settings were not read again: %d", settings)
		w.PaidAlone(err)
	})
	t.Run("and the day's budget stops what follows", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		s := w.Settings(func(s *tenancy.Settings) { s.MaxCostDayUSD = 0.2 })
		w.RefuseCommits()
		_, err := paid(w, bill("1", 0.25), 0)
		w.PaidAlone(err)
		over, err := pipeline.OverBudget(t.Context(), w.Store, w.Ref.Tenant, s, w.Now())
		expect.That(t, err == nil && over.Reason == task.ReasonDayBudget, "%+v, %v", over, err)
	})
}

func TestPaid(t *testing.T) {
	failed := errors.New("no")
	for name, tt := range map[string]struct {
		cost  aggregate.Usage
		err   error
		alone bool
	}{
		"saved":                     {bill("1", 1), nil, false},
		"not saved":                 {bill("1", 1), failed, true},
		"not saved for now":         {bill("1", 1), explain.ErrUnavailable, true},
		"not saved, and it is free": {aggregate.Usage{ID: "1", Calls: 1}, failed, false},
	} {
		recorded := false
		_, err := pipeline.Paid(t.Context(), tt.cost, func(context.Context) (int, error) { return 1, tt.err },
			func(ctx context.Context) (int, error) {
				at, ok := ctx.Deadline()
				expect.That(t, ok && time.Until(at) <= time.Minute, "%s: the record of the cost has until %v", name, at)
				recorded = true
				return 0, errors.New("nor that")
			})
		expect.That(t, errors.Is(err, tt.err) && recorded == tt.alone, "%s: %v, recorded alone: %t", name, err, recorded)
	}
}
