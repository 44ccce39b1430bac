package store

import (
	"slices"
	"sync"
	"testing"
	"time"
)

func testPace(t *testing.T, st *taskStore) {
	b := Budget{Workspace: "T1", Name: "chat.update", Calls: 4, Window: 10 * time.Second}
	take := func(t *testing.T, b Budget, spare int, now time.Time) time.Time {
		t.Helper()
		until := must(st.TakePace(t.Context(), b, spare, now))(t)
		return until
	}
	left := func(t *testing.T, b Budget, now time.Time) int {
		t.Helper()
		n := must(st.SparePace(t.Context(), b, now))(t)
		return n
	}
	t.Run("so many calls in any window, and when the next one may be", func(t *testing.T) {
		for n := range 4 {
			if until := take(t, b, 0, at().Add(time.Duration(n)*time.Second)); !until.IsZero() {
				t.Fatalf("call %d waits until %v", n, until)
			}
		}
		if until := take(t, b, 0, at().Add(4*time.Second)); !until.Equal(at().Add(10 * time.Second)) {
			t.Errorf("the fifth may be at %v", until)
		}
		if n := left(t, b, at().Add(9*time.Second)); n != 0 {
			t.Errorf("%d are left", n)
		}
		if n := left(t, b, at().Add(11*time.Second)); n != 2 {
			t.Errorf("%d are left after two have passed", n)
		}
		if until := take(t, b, 0, at().Add(10*time.Second)); !until.IsZero() {
			t.Errorf("waits until %v", until)
		}
	})
	t.Run("what must be left for others is left", func(t *testing.T) {
		b := b
		b.Workspace = "T2"
		if until := take(t, b, 3, at()); !until.IsZero() {
			t.Errorf("a whole budget, and yet until %v", until)
		}
		if until := take(t, b, 3, at().Add(time.Second)); !until.Equal(at().Add(10 * time.Second)) {
			t.Errorf("three of four were to be left: %v", until)
		}
		if until := take(t, b, 0, at().Add(time.Second)); !until.IsZero() {
			t.Errorf("who needs none left waits until %v", until)
		}
	})
	t.Run("what Slack said holds for all, and only ever longer", func(t *testing.T) {
		b := b
		b.Workspace = "T3"
		for _, d := range []time.Duration{30 * time.Second, 5 * time.Second} {
			noError(t, st.HoldPace(t.Context(), b, at().Add(d)))
		}
		if until := take(t, b, 0, at().Add(20*time.Second)); !until.Equal(at().Add(30 * time.Second)) {
			t.Errorf("held until %v", until)
		}
		if n := left(t, b, at()); n != 0 {
			t.Errorf("%d are left while Slack says no", n)
		}
		if until := take(t, b, 0, at().Add(30*time.Second)); !until.IsZero() {
			t.Errorf("waits until %v", until)
		}
	})
	t.Run("many at once take no more than there is", func(t *testing.T) {
		b := b
		b.Workspace = "T4"
		var all sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for range 16 {
			all.Go(func() {
				until, err := st.TakePace(t.Context(), b, 0, at())
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if until.IsZero() {
					taken++
				}
			})
		}
		all.Wait()
		if taken != 4 {
			t.Errorf("%d of 4 were taken", taken)
		}
	})
	t.Run("names from outside make no other key", func(t *testing.T) {
		for _, bad := range []Budget{{Workspace: "T#1", Name: "x", Calls: 1, Window: 1}, {Workspace: "T1", Calls: 1, Window: 1}, {Workspace: "T1", Name: "x", Calls: MaxPaceCalls + 1, Window: 1}} {
			if _, err := st.TakePace(t.Context(), bad, 0, at()); err == nil {
				t.Errorf("%+v is taken", bad)
			}
		}
	})
	t.Run("places in line are as far apart as calls may be, and a line that is over begins anew", func(t *testing.T) {
		b := Budget{Workspace: "T1", Name: "line", Calls: 5, Window: 10 * time.Second}
		join := func(spare int, now time.Time) time.Duration {
			t.Helper()
			place := must(st.JoinLine(t.Context(), b, spare, now))(t)
			return place.Sub(at())
		}
		var got []time.Duration
		for range 3 {
			got = append(got, join(0, at()))
		}
		got = append(got, join(1, at()), join(1, at()), join(0, at().Add(time.Minute)), join(0, at().Add(time.Minute)))
		want := []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 2500 * time.Millisecond, 5 * time.Second, 62 * time.Second, 64 * time.Second}
		same(t, want, got)
		if until := take(t, b, 0, at()); !until.IsZero() {
			t.Errorf("a line takes calls: until %v", until)
		}
	})
	t.Run("nobody shares a place", func(t *testing.T) {
		b := Budget{Workspace: "T2", Name: "line", Calls: 10, Window: 10 * time.Second}
		var all sync.WaitGroup
		places := make([]time.Time, 8)
		for i := range places {
			all.Go(func() {
				var err error
				if places[i], err = st.JoinLine(t.Context(), b, 0, at()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		slices.SortFunc(places, time.Time.Compare)
		if n := len(slices.CompactFunc(places, time.Time.Equal)); n != len(places) {
			t.Errorf("%d places for %d", n, len(places))
		}
	})
}
