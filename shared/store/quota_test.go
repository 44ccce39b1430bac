package store

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

const hourOfAt = "2026-04-18T14"

func accept(s tenancy.Settings) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: a.Request.TeamID}
		return a.Accept(a.Head.Run, by, s, at())
	}
}

// places returns how many open tasks, and how many tasks of this hour, a person has.
func places(t *testing.T, st *taskStore, ref aggregate.Ref, user string) (open, hour int) {
	t.Helper()
	for key, n := range map[string]*int{"OPEN#" + user: &open, user + "#" + hourOfAt: &hour} {
		*n = counted(t, st.t, ref.Tenant, key)
	}
	return open, hour
}

// counted returns a counter's value; a missing one is 0.
func counted(t *testing.T, in *table.Table, tenant, key string) int {
	t.Helper()
	var x struct{ N int }
	err := in.Get(t.Context(), quotas+tenant, key, &x)
	expect.NoError(t, table.Unless(err, aggregate.ErrNotFound))
	return x.N
}

func testQuota(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"a place is taken with the task and given back with its end", testPlaceTakenAndGivenBack},
		{"there is no place", testNoPlace},
		{"many at once take as many places as there are", testPlacesAtOnce},
		{"an answer that is lost counts once", testPlaceOfLostAnswer},
	})
}

func testPlaceTakenAndGivenBack(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	ref := created(t, st, 1)
	a := decided(t, st, ref, accept(tenancy.DefaultSettings()))
	for _, user := range []string{a.Head.Requester} {
		open, hour := places(t, st, ref, user)
		expect.That(t, open == 1 && hour == 1, "%s: %d open, %d this hour", user, open, hour)
	}
	h, err := st.Head(t.Context(), ref)
	expect.That(t, err == nil && h.AcceptedAt != nil, "%+v, %v", h, err)
	decided(t, st, ref, cancel)
	for _, user := range []string{a.Head.Requester} {
		open, hour := places(t, st, ref, user)
		expect.That(t, open == 0 && hour == 1, "%s after the end: %d open, %d this hour", user, open, hour)
	}
}

func testNoPlace(t *testing.T, other *taskStore) {
	for name, tt := range map[string]struct {
		open, hour int
		reason     aggregate.Reason
	}{
		"at the same time": {1, 0, task.ReasonOpenPerson},
		"this hour":        {0, 1, task.ReasonHourPerson},
	} {
		t.Run(name, func(t *testing.T) {
			st, x := other.suite.store(t), tenancy.DefaultSettings()
			x.MaxOpenTasks, x.MaxTasksPerHour = tt.open, tt.hour
			decided(t, st, created(t, st, 1), accept(x))
			second := created(t, st, 2)
			_, err := st.Decide(t.Context(), second, accept(x))
			var full aggregate.ErrFull
			expect.Must(t, errors.As(err, &full) && full.Reason == tt.reason && full.Most == 1 &&
				!errors.Is(err, aggregate.ErrConflict), "%v", err)
			h, err := st.Head(t.Context(), second)
			expect.That(t, err == nil && h.Rev == 1, "a refusal wrote: rev %d, %v", h.Rev, err)
			expect.Is(t, tt.hour != 0, !full.Until.IsZero(), "until %v", full.Until)
			a := decided(t, st, second, func(a *task.Aggregate) (aggregate.Change, error) { return a.RefuseFull(1, full, at()) })
			e := a.Head.Ended
			expect.That(t, e != nil && e.As == task.TaskRefused && e.Detail == "1", "%+v", e)
			expect.Is(t, countAudit(t, st, second, task.AuditTaskRefused), 1, "audit entries")
			open, _ := places(t, st, second, a.Head.Requester)
			expect.That(t, open == 1, "%d open", open)
		})
	}
}

func testPlacesAtOnce(t *testing.T, other *taskStore) {
	st, x := other.suite.store(t), tenancy.DefaultSettings()
	x.MaxOpenTasks = 3
	var refs []aggregate.Ref
	for n := range 10 {
		refs = append(refs, created(t, st, n+1))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken, refused := 0, 0
	for _, ref := range refs {
		wg.Go(func() {
			_, err := st.Decide(context.WithoutCancel(t.Context()), ref, accept(x))
			mu.Lock()
			defer mu.Unlock()
			var full aggregate.ErrFull
			switch {
			case err == nil:
				taken++
			case errors.As(err, &full):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	open, _ := places(t, st, refs[0], expect.Value(st.Load(t.Context(), refs[0]))(t).Head.Requester)
	expect.That(t, taken == 3 && refused == 7 && open == 3, "%d taken, %d refused, %d counted", taken, refused, open)
}

func testPlaceOfLostAnswer(t *testing.T, other *taskStore) {
	for n, options := range [][]func(*dynamodb.Options){nil, {oneTry}} {
		st := other.suite.store(t)
		ref := created(t, st, n+1)
		for _, d := range []decision{accept(tenancy.DefaultSettings()), cancel} {
			drop := dropping("TransactWriteItems", 1)
			committed(t, st.over(drop, options...), ref, d)
			expect.Must(t, drop.dropped.Load() != 0, "no answer was lost: the test proves nothing")
		}
		open, hour := places(t, st, ref, expect.Value(st.Load(t.Context(), ref))(t).Head.Requester)
		expect.That(t, open == 0 && hour == 1, "%d open, %d this hour", open, hour)
	}
}
