package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// settled begins a contest and retries until there is an answer, because a busy machine may time out.
func (w *contestWorld) settled(t *testing.T, o contest.Order) (err error) {
	for range 20 {
		if err = w.Begin(t.Context(), o); err == nil || errors.Is(err, aggregate.ErrExists) || errors.As(err, new(aggregate.ErrFull)) {
			return err
		}
	}
	return err
}

// TestContestsBegunAtOnceNeverShareWhatTheDayLeaves begins several contests at once, all of which see the same
// remaining budget of the day.
func TestContestsBegunAtOnceNeverShareWhatTheDayLeaves(t *testing.T) {
	server := storetest.Start(t)
	for _, tt := range []struct{ contests, fit int }{{2, 1}, {20, 7}} {
		t.Run(fmt.Sprint(tt.contests), func(t *testing.T) {
			w := newWorld(t, server)
			all := make([]contest.Order, tt.contests)
			for i := range all {
				all[i] = order(contest.NewID(), "a", "b")
				all[i].MostOfDay = aggregate.MicroUSD(tt.fit)*all[i].Budget + all[i].Budget/2
			}
			errs := make([]error, tt.contests)
			var wg sync.WaitGroup
			for i, o := range all {
				wg.Go(func() { errs[i] = w.settled(t, o) })
			}
			wg.Wait()
			begun := 0
			for i, err := range errs {
				switch _, missing := w.Load(t.Context(), contest.Ref(contestTenant, all[i].Execution)); {
				case (err == nil || errors.Is(err, aggregate.ErrExists)) && missing == nil:
					begun++
				case !errors.As(err, new(aggregate.ErrFull)) || !errors.Is(missing, aggregate.ErrNotFound):
					t.Errorf("%v, and of it there is %v", err, missing)
				}
				if again := w.settled(t, all[i]); !errors.As(err, new(aggregate.ErrFull)) && !errors.Is(again, aggregate.ErrExists) {
					t.Errorf("the same one again: %v", again)
				}
			}
			sums := expect.Value(w.ContestStore.Of.Spent(t.Context(), contestTenant, time.Now()))(t)
			if begun != tt.fit || sums.Day != aggregate.MicroUSD(tt.fit)*aggregate.USD(1) {
				t.Errorf("%d of %d began, the day counts %s", begun, tt.contests, sums.Day)
			}
		})
	}
}

// TestOneContestSentTwentyTimesReservesOnce sends one order many times at once.
func TestOneContestSentTwentyTimesReservesOnce(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	o := order(contest.NewID(), "a")
	o.MostOfDay = o.Budget
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = w.settled(t, o) })
	}
	wg.Wait()
	first := 0
	for _, err := range errs {
		if err == nil {
			first++
		} else if !errors.Is(err, aggregate.ErrExists) {
			t.Error(err)
		}
	}
	sums := expect.Value(w.ContestStore.Of.Spent(t.Context(), contestTenant, time.Now()))(t)
	expect.That(t, first <= 1 && sums.Day == o.Budget, "%d began it, the day counts %s", first, sums.Day)
	x := order(contest.NewID(), "a")
	x.MostOfDay = x.Budget - 1
	x.Tenant = aggregate.TenantID("T2") // whose day counts nothing yet
	if err := w.settled(t, x); !errors.As(err, new(aggregate.ErrFull)) {
		t.Errorf("more than the whole day: %v", err)
	}
}
