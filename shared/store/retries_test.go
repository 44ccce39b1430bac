package store_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// refusing fails as many writes as left says.
type refusing struct{ left, tried atomic.Int32 }

func (r *refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	if strings.HasSuffix(q.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		r.tried.Add(1)
		if r.left.Add(-1) >= 0 {
			return nil, errors.New("the network is away")
		}
	}
	return http.DefaultTransport.RoundTrip(q)
}

func testRetries(t *testing.T, w *contestWorld, server *storetest.Server) {
	id := contest.NewID()
	_, teams := w.begin(t, id, "a")
	var waited []time.Duration
	broken := &refusing{}
	x := w.through(server, broken)
	x.Sleep = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	for _, tt := range []struct {
		fails int32
		tries int32
		waits []time.Duration
		saved bool
	}{
		{0, 1, nil, true},
		{3, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, true},
		{100, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, false},
	} {
		waited = nil
		broken.left.Store(tt.fails)
		broken.tried.Store(0)
		_, err := x.SaveRound(t.Context(), teams[0].Ref(), played(id, "a", 1, 0.5))
		var given *contest.DatabaseWriteError
		if (err == nil) != tt.saved || !tt.saved && (!errors.As(err, &given) || given.Attempts != 4) {
			t.Errorf("%d failures: %v", tt.fails, err)
		}
		if !slices.Equal(waited, tt.waits) || broken.tried.Load() != tt.tries {
			t.Errorf("%d failures: waited %v, tried %d times", tt.fails, waited, broken.tried.Load())
		}
	}
	waited = nil
	broken.left.Store(0)
	for name, p := range map[string]float64{"a score that can't be": 2, "a round that is not next": 0.5} {
		bad := played(id, "a", 4, p)
		_, err := x.SaveRound(t.Context(), teams[0].Ref(), bad)
		expect.That(t, err != nil && !errors.As(err, new(*contest.DatabaseWriteError)), "%s: %v", name, err)
	}
	expect.That(t, len(waited) == 0, "what can't be written was tried again: %v", waited)
	if _, err := x.SaveRound(t.Context(), contest.TeamRef(contestTenant, id, "b"),
		played(id, "b", 1, 0.5)); !errors.Is(err, aggregate.ErrNotFound) {
		t.Errorf("a team that is not there: %v", err)
	}
	if team := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t); len(team.Rounds) != 1 {
		t.Errorf("%d rounds", len(team.Rounds))
	}
}
