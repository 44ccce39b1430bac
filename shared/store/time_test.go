package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// slow is a demo model that takes three seconds for each answer.
type slow struct{ calls *atomic.Int32 }

func (s slow) Open(string) (model.Wire, error) { return s, nil }

func (s slow) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	s.calls.Add(1)
	if err := clock.Sleep(ctx, 3*time.Second); err != nil {
		return model.Response{}, err
	}
	return demo.Teams{}.Say(ctx, r, onText)
}

// TestAContestTakesAsLongAsItsSlowestTeam plays one round of ten teams and prints what it costs.
func TestAContestTakesAsLongAsItsSlowestTeam(t *testing.T) {
	expect.Patience(t)
	server := storetest.Start(t)
	m, calls := &meter{}, &atomic.Int32{}
	w := newWorld(t, server)
	x := w.through(server, m)
	x.models = slow{calls}
	id := contest.NewID()
	o := order(id)
	for i := range stressTeams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: fmt.Sprint("team-", i), TeamName: fmt.Sprint("Team ", i)})
	}
	o.MaxRounds, o.MinRounds = 1, 1
	began := time.Now()
	expect.NoError(t, x.Begin(t.Context(), o))
	ref := contest.Ref(contestTenant, id)
	took := make([]time.Duration, stressTeams)
	var wait sync.WaitGroup
	for i := range took {
		wait.Go(func() {
			began := time.Now()
			for over := false; !over; {
				var err error
				if over, err = x.playRound(t.Context(), ref, i+1); err != nil {
					t.Error(err)
					return
				}
			}
			took[i] = time.Since(began)
		})
	}
	wait.Wait()
	expect.Value(x.Settle(t.Context(), ref, 1))(t)
	wall, slowest, sum := time.Since(began), time.Duration(0), time.Duration(0)
	for _, d := range took {
		slowest, sum = max(slowest, d), sum+d
	}
	ratio := wall.Seconds() / slowest.Seconds()
	t.Logf("%d teams, a round each: %.1f s, the slowest team %.1f s, ratio %.3f, one after the other %.1f s", stressTeams, wall.Seconds(), slowest.Seconds(), ratio, sum.Seconds())
	t.Logf("a round: %.1f calls of models, %.1f calls of the table, %.1f write units, %.1f read units",
		float64(calls.Load())/stressTeams, float64(m.calls)/stressTeams, m.writes/stressTeams, m.reads/stressTeams)
	expect.That(t, ratio <= 1.15, "%v, the slowest team took %v", wall, slowest)
}
