package store

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func testWaits(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	wait := func(token string, run int, entered time.Duration, retry int) aggregate.Wait {
		return aggregate.Wait{Gate: "PROMPT#0001", Token: token, Run: run, Entered: at().Add(entered), Retry: retry}
	}
	held := func(t *testing.T) []aggregate.Wait {
		t.Helper()
		a := loaded(t, st, ref)
		return a.Waits
	}

	for _, c := range []struct {
		name  string
		was   aggregate.Wait
		put   aggregate.Wait
		stale bool
	}{
		{"the same again", wait("a", 2, 0, 1), wait("a", 2, 0, 1), false},
		{"a later retry", wait("a", 2, 0, 1), wait("b", 2, 0, 2), false},
		{"an earlier retry", wait("a", 2, 0, 1), wait("b", 2, 0, 0), true},
		{"a state entered a millisecond later", wait("a", 2, 0, 1), wait("b", 2, time.Millisecond, 0), false},
		{"a state entered a second later", wait("a", 2, 999*time.Millisecond, 1), wait("b", 2, time.Second, 0), false},
		{"a state entered earlier", wait("a", 2, 0, 1), wait("b", 2, -time.Millisecond, 5), true},
		{"a later run", wait("a", 9, time.Hour, 1), wait("b", 10, 0, 0), false},
		{"an earlier run", wait("a", 10, 0, 0), wait("b", 9, time.Hour, 5), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range held(t) {
				expect.NoError(t, st.DropWait(t.Context(), ref, w))
			}
			expect.NoError(t, st.PutWait(t.Context(), ref, c.was))
			err := st.PutWait(t.Context(), ref, c.put)
			expect.Must(t, errors.Is(err, ErrStale) == c.stale && (err == nil || c.stale), "%v, want stale %v", err, c.stale)
			want := c.put
			if c.stale {
				want = c.was
			}
			expect.Same(t, []aggregate.Wait{want}, held(t))
		})
	}

	t.Run("the row expires, but not while a run may wait", func(t *testing.T) {
		was := held(t)[0]
		for until, want := range map[time.Duration]int{time.Minute: 1, -time.Minute: 0} {
			was.DeleteAfter = at().Add(until).Unix()
			expect.NoError(t, st.PutWait(t.Context(), ref, was))
			expect.Is(t, len(held(t)), want, "tokens that expire in", until.String())
		}
		was.DeleteAfter = 0
		expect.NoError(t, st.PutWait(t.Context(), ref, was))
	})

	t.Run("only the token that was answered is dropped", func(t *testing.T) {
		now := held(t)[0]
		other := now
		other.Token = "another"
		expect.NoError(t, st.DropWait(t.Context(), ref, other))
		expect.Must(t, len(held(t)) == 1, "another's token was dropped")
		for range 2 {
			expect.NoError(t, st.DropWait(t.Context(), ref, now))
		}
		expect.Is(t, len(held(t)), 0, "the token is still there")
	})
}

func testLeftWaits(t *testing.T, st *taskStore) {
	for n, tt := range []struct {
		name string
		run  int
		in   pipeline.Input // of the state that makes a commit
		want int
	}{
		{"a state entered later", 1, pipeline.Input{Run: 1, Entered: at().Add(time.Millisecond)}, 0},
		{"this state", 1, pipeline.Input{Run: 1, Entered: at()}, 1},
		{"a state before the gate", 1, pipeline.Input{Run: 1, Entered: at().Add(-time.Second)}, 1},
		{"a state of another run", 2, pipeline.Input{Run: 1, Entered: at().Add(time.Second)}, 1},
		{"a state that does not say when", 1, pipeline.Input{Run: 1}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref := created(t, st, 100+n)
			w := aggregate.Wait{Gate: "PROMPT#0001", Token: "a", Run: tt.run, Entered: at()}
			expect.NoError(t, st.PutWait(t.Context(), ref, w))
			decided(t, st, ref, decision(tt.in.Entering(extract)), finishPrompt)
			expect.Is(t, len(loaded(t, st, ref).Waits), tt.want, "waits")
		})
	}
}
