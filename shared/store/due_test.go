package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// due collects everything that is due in the shards.
func due(t *testing.T, st *taskStore, now time.Time, shards ...int) (out []aggregate.Ref) {
	t.Helper()
	for _, shard := range shards {
		for ref, err := range st.Due(t.Context(), shard, now) {
			expect.NoError(t, err)
			out = append(out, ref)
		}
	}
	return out
}

func everyShard() (all []int) {
	for shard := range Shards {
		all = append(all, shard)
	}
	return all
}

// testDueMany walks more than one page of a shard and postpones each task that it meets.
func testDueMany(t *testing.T, st *taskStore) {
	want := map[aggregate.Ref]bool{}
	for n := 1; len(want) < 2*duePage+7; n++ {
		c, ref := received(t, n)
		if shardOf(ref.ID) != 0 {
			continue
		}
		expect.NoError(t, st.Create(t.Context(), c))
		want[ref] = true
	}
	now := at().Add(time.Hour)
	for ref, err := range st.Due(t.Context(), 0, now) {
		expect.NoError(t, err)
		expect.That(t, want[ref], "%s is met twice", ref.ID)
		delete(want, ref)
		later := now.Add(time.Minute)
		expect.NoError(t, st.Postpone(t.Context(), ref, aggregate.Head{Rev: 1}, &later))
	}
	expect.That(t, len(want) == 0 && len(due(t, st, now, 0)) == 0, "%d are left out, or some are due still", len(want))
}

// In testDue the first task is due a millisecond after firstDue, each further one a millisecond later.
const dueTasks = 40

var firstDue = at().Add(time.Minute)

func testDue(t *testing.T, st *taskStore) {
	byID := func(a, b aggregate.Ref) int { return strings.Compare(a.ID, b.ID) }
	var all []aggregate.Ref
	used := map[int]bool{}
	for n := range dueTasks {
		all = append(all, created(t, st, n+1))
		used[shardOf(all[n].ID)] = true
	}
	expect.That(t, len(used) >= Shards/2, "%d tasks use only %d shards", dueTasks, len(used))
	slices.SortFunc(all, byID)
	is := func(ref aggregate.Ref, when time.Time) bool {
		return slices.Contains(due(t, st, when, everyShard()...), ref)
	}

	t.Run("what is due is found once, whatever its shard, and nothing before its time", func(t *testing.T) {
		for _, want := range []int{0, 10, dueTasks} {
			found := due(t, st, firstDue.Add(time.Duration(want)*time.Millisecond), everyShard()...)
			expect.Is(t, len(found), want, "are due")
			if slices.SortFunc(found, byID); want == dueTasks {
				expect.Same(t, all, found)
			}
		}
		for _, err := range st.Due(t.Context(), Shards, firstDue) {
			wantField(t, err, "shard")
		}
	})
	t.Run("the longest due come first, until nobody asks", func(t *testing.T) {
		shard := shardOf(all[0].ID)
		every := due(t, st, firstDue.Add(time.Hour), shard)
		for ref, err := range st.Due(t.Context(), shard, firstDue.Add(time.Hour)) {
			expect.That(t, err == nil && ref == every[0], "%v, %v, want first %v", ref, err, every[0])
			break
		}
		for i := 1; i < len(every); i++ {
			expect.That(t, !dueAt(t, st, every[i]).Before(*dueAt(t, st, every[i-1])), "not in the order of due_at")
		}
	})
	t.Run("a handled task is postponed", func(t *testing.T) {
		later := at().Add(2 * time.Hour)
		expect.NoError(t, st.SweepFailed(t.Context(), all[0], 3, firstDue, at()))
		h := headOf(t, st, all[0])
		expect.That(t, h.SweepFailures == 3 && h.DueAt.Equal(firstDue), "%d failures, due %v", h.SweepFailures, h.DueAt)
		expect.NoError(t, st.Postpone(t.Context(), all[0], aggregate.Head{Rev: 1}, &later))
		expect.That(t, !is(all[0], later.Add(-time.Millisecond)) && is(all[0], later), "it is not due at the later time")
		h = headOf(t, st, all[0])
		expect.That(t, h.SweepFailures == 0 && h.Rev == 1, "%d failures at rev %d", h.SweepFailures, h.Rev)
	})
	t.Run("a task that has ended is never due, until it changes", func(t *testing.T) {
		expect.NoError(t, st.Postpone(t.Context(), all[1], aggregate.Head{Rev: 1}, nil))
		expect.That(t, !is(all[1], at().AddDate(10, 0, 0)) && dueAt(t, st, all[1]) == nil, "it is still due")
		decided(t, st, all[1], extract)
		expect.That(t, is(all[1], at().AddDate(10, 0, 0)), "it is not due after a change")
	})
	t.Run("a task that moved on is not postponed, nor put off by a sweep that failed", func(t *testing.T) {
		decided(t, st, all[2], extract)
		moved, later := dueAt(t, st, all[2]), at().Add(time.Hour)
		wantError(t, st.Postpone(t.Context(), all[2], aggregate.Head{Rev: 1}, &later), aggregate.ErrConflict)
		expect.NoError(t, st.SweepFailed(t.Context(), all[2], 4, moved.Add(time.Hour), at()))
		h := headOf(t, st, all[2])
		expect.That(t, h.SweepFailures == 4 && h.DueAt.Equal(*moved), "%d failures, due %v", h.SweepFailures, h.DueAt)
		expect.NoError(t, st.SweepFailed(t.Context(), all[2], 5, moved.Add(time.Hour), *moved))
		expect.That(t, dueAt(t, st, all[2]).Equal(moved.Add(time.Hour)), "a task that can't be handled is not put off")
	})
	t.Run("a task that is not there stays so", func(t *testing.T) {
		gone := task.RefOf(tenant, aggregate.NewID())
		for _, err := range []error{st.Postpone(t.Context(), gone, aggregate.Head{Rev: 1}, &firstDue),
			st.SweepFailed(t.Context(), gone, 1, firstDue, at()), st.Shown(t.Context(), gone, aggregate.Head{Rev: 1}),
			st.Redraw(t.Context(), gone)} {
			wantError(t, err, aggregate.ErrNotFound)
		}
		expect.Is(t, len(rows(t, st, "TASK#"+gone.Tenant+"#"+gone.ID)), 0, "rows were made")
	})
}

func dueAt(t *testing.T, s *taskStore, ref aggregate.Ref) *time.Time {
	t.Helper()
	return headOf(t, s, ref).DueAt
}

func testShown(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	shown := func(rev, redraws int) func() error {
		return func() error { return st.Shown(t.Context(), ref, aggregate.Head{Rev: rev, Redraws: redraws}) }
	}
	redraw := func() error { return st.Redraw(t.Context(), ref) }
	// The first, a later one, an earlier one late, none, what was drawn before that was asked for, again.
	for i, do := range []func() error{shown(3, 0), shown(5, 0), shown(4, 0), redraw, shown(5, 0), shown(5, 1)} {
		expect.NoError(t, do())
		h, want := headOf(t, st, ref), []int{3, 5, 5, 0, 0, 5}[i]
		expect.That(t, h.ShownRev == want && h.Rev == 1, "after %d: shown %d at rev %d, want %d", i, h.ShownRev, h.Rev, want)
	}
	t.Run("the last card says it as well, while nobody asks for a redraw", func(t *testing.T) { testShownByCard(t, st) })
	t.Run("a task that is due sooner stays so", func(t *testing.T) {
		for _, due := range []time.Time{at().Add(20 * time.Second), at().Add(-time.Hour)} {
			h := headOf(t, st, ref)
			expect.NoError(t, st.Shown(t.Context(), ref, h.Head))
			expect.NoError(t, st.Postpone(t.Context(), ref, h.Head, &due))
			expect.NoError(t, redraw())
			h = headOf(t, st, ref)
			expect.That(t, h.DueAt.Equal(due) && h.ShownRev == 0, "due %v, want %v; shown %d", h.DueAt, due, h.ShownRev)
		}
	})
	t.Run("a redraw that was asked for during a sweep is not put off", func(t *testing.T) {
		read, later := headOf(t, st, ref).Head, at().Add(time.Hour)
		expect.NoError(t, redraw())
		expect.Fails(t, st.Postpone(t.Context(), ref, read, &later), aggregate.ErrConflict)
	})
	t.Run("a task that is never due is, after it was to be drawn again", func(t *testing.T) {
		expect.NoError(t, st.Postpone(t.Context(), ref, headOf(t, st, ref).Head, nil))
		expect.NoError(t, redraw())
		got := dueAt(t, st, ref)
		expect.That(t, got != nil && got.Equal(at().Add(time.Minute)), "due %v, want in a minute", got)
	})
}

func testShownByCard(t *testing.T, st *taskStore) {
	ref := created(t, st, 2)
	expect.Value(st.ClaimCard(t.Context(), ref, "CARD#task", "me", at(), at()))(t)
	h := headOf(t, st, ref).Head
	show := func(hash string, all *aggregate.Head) error {
		c := loaded(t, st, ref).Card("CARD#task")
		return st.ShownCard(t.Context(), ref, c, hash, all)
	}
	steps := []func() error{
		func() error { return st.PostedCard(t.Context(), ref, "CARD#task", "me", "1.000001", "C1", "one", &h) },
		func() error { return st.Redraw(t.Context(), ref) },
		func() error { return show("two", &h) },
		func() error { h = headOf(t, st, ref).Head; return nil },
		func() error { return show("two", &h) },
		func() error { return show("three", nil) },
		func() error { return show("four", &aggregate.Head{Rev: 0, Redraws: h.Redraws}) }, // asked for earlier
		func() error { return show("five", &aggregate.Head{Rev: 1}) },
	}
	for i, want := range []int{1, 0, 0, 0, 1, 1, 1, 1} {
		expect.NoError(t, steps[i]())
		a := loaded(t, st, ref)
		expect.That(t, a.Head.ShownRev == want, "after %d steps shown %d, want %d", i+1, a.Head.ShownRev, want)
	}
	a := decided(t, st, ref, cancel)
	expect.That(t, a.Head.ShownRev == 1 && a.Head.Rev == 2, "shown %d of %d once it moved", a.Head.ShownRev, a.Head.Rev)
}

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

	for name, c := range map[string]struct{ was, put, stays aggregate.Wait }{
		"the same again":   {wait("a", 2, 0, 1), wait("a", 2, 0, 1), wait("a", 2, 0, 1)},
		"a later retry":    {wait("a", 2, 0, 1), wait("b", 2, 0, 2), wait("b", 2, 0, 2)},
		"an earlier retry": {wait("a", 2, 0, 1), wait("b", 2, 0, 0), wait("a", 2, 0, 1)},
		"a state entered a millisecond later": {wait("a", 2, 0, 1), wait("b", 2, time.Millisecond, 0),
			wait("b", 2, time.Millisecond, 0)},
		"a state entered a second later": {wait("a", 2, 999*time.Millisecond, 1), wait("b", 2, time.Second, 0),
			wait("b", 2, time.Second, 0)},
		"a state entered earlier": {wait("a", 2, 0, 1), wait("b", 2, -time.Millisecond, 5), wait("a", 2, 0, 1)},
		"a later run":             {wait("a", 9, time.Hour, 1), wait("b", 10, 0, 0), wait("b", 10, 0, 0)},
		"an earlier run":          {wait("a", 10, 0, 0), wait("b", 9, time.Hour, 5), wait("a", 10, 0, 0)},
	} {
		for _, w := range held(t) {
			expect.NoError(t, st.DropWait(t.Context(), ref, w))
		}
		expect.NoError(t, st.PutWait(t.Context(), ref, c.was))
		err := st.PutWait(t.Context(), ref, c.put)
		stale := c.put != c.stays
		expect.That(t, errors.Is(err, ErrStale) == stale && (err != nil) == stale, "%s: %v", name, err)
		expect.Same(t, []aggregate.Wait{c.stays}, held(t))
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
		ref := created(t, st, 100+n)
		w := aggregate.Wait{Gate: "PROMPT#0001", Token: "a", Run: tt.run, Entered: at()}
		expect.NoError(t, st.PutWait(t.Context(), ref, w))
		decided(t, st, ref, decision(tt.in.Entering(extract)), finishPrompt)
		expect.Is(t, len(loaded(t, st, ref).Waits), tt.want, tt.name)
	}
}

// FuzzWait checks that any task token is stored unchanged, in a row that can't be mistaken for another row of the task.
func FuzzWait(f *testing.F) {
	f.Add("AQCEAAAAKgAAAAMAAAAAAAAAAcF0b2tlbg==", "PROMPT#0001", 1, 0, int64(1776490200000))
	f.Add("\x00\u202e token", "GATE#0001#001#02", 1<<30, 99, int64(-1))
	f.Add("", "", 0, 0, int64(0))
	f.Add("#", "HEAD", -1, -1, int64(253402300799999))
	f.Fuzz(func(t *testing.T, token, gate string, run, retry int, millis int64) {
		const limit = 253402300799999 // the year 9999 ends
		if millis < -limit || millis > limit {
			return
		}
		want := aggregate.Wait{Gate: gate, Token: token, Run: run, Entered: time.UnixMilli(millis).UTC(), Retry: retry}
		want.DeleteAfter = max(1<<40, millis) // in seconds: never
		if want.Entered.Year() < 0 {
			return
		}
		it := expect.Value(table.Pack("wait", "TASK#t#1", want.Key(), want))(t)
		a := task.Aggregate{Head: task.Head{TaskID: "1"}}
		r, err := New(nil, "").unpackRow(task.Kind, it)
		expect.Must(t, err == nil, "%+v: %v", want, err)
		a.Add(r)
		expect.Same(t, []aggregate.Wait{want}, a.Waits)
		expect.That(t, len(a.Rows()) == 0 && a.Head.TaskID == "1" && want.Key() == "WAIT#"+gate,
			"%q is taken for another row: %v", want.Key(), a.Rows())
	})
}
