package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// The cost of model calls is counted even if their result can't be saved.
func TestWhatCantBeSavedIsPaidFor(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("once, and what follows is paid beside it", func(t *testing.T) {
		w := server.World(t)
		w.RefuseCommits()
		for range 2 {
			_, err := paid(w, bill("1", 0.25), 3)
			w.PaidAlone(err)
		}
		w.Transport.ClearFaults()
		if next, err := paid(w, bill("2", 0.25), 3); err != nil || next.State != task.StateDraftPrompt {
			t.Errorf("the next try: %+v, %v", next, err)
		}
		spent(t, w, 0.50)
	})
	t.Run("nor can that it failed", func(t *testing.T) {
		w := server.World(t)
		w.RefuseCommits()
		f := task.Failure{Reason: task.ReasonModelBadOutput, Usage: bill("1", 0.25)}
		_, err := pipeline.Failed(t.Context(), w.StoreOverTransport(), w.In(), task.Generation{Layer: task.L1}, f, 0, w.Now())
		w.PaidAlone(err)
	})
	t.Run("nor can it be opened for people, also after the settings changed", func(t *testing.T) {
		w := server.World(t)
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
				return a.FinishPrompt(in.Run, "方針", s, w.Now())
			})
		expect.That(t, settings >= 2, "the settings were not read again: %d", settings)
		w.PaidAlone(err)
	})
	t.Run("and the day's budget stops what follows", func(t *testing.T) {
		w := server.World(t)
		s := w.Settings(func(s *tenancy.Settings) { s.MaxCostDayUSD = 0.2 })
		w.RefuseCommits()
		_, err := paid(w, bill("1", 0.25), 0)
		w.PaidAlone(err)
		if over, err := pipeline.OverBudget(t.Context(), w.Store, w.Ref.Tenant, s, w.Now()); err != nil ||
			over.Reason != task.ReasonDayBudget {
			t.Errorf("%+v, %v", over, err)
		}
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
