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

// walked collects everything that is due in a shard.
func walked(t *testing.T, st *taskStore, shard int, now time.Time) []aggregate.Ref {
	t.Helper()
	var out []aggregate.Ref
	for ref, err := range st.Due(t.Context(), shard, now) {
		expect.NoError(t, err)
		out = append(out, ref)
	}
	return out
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
	met := 0
	for ref, err := range st.Due(t.Context(), 0, now) {
		expect.NoError(t, err)
		expect.That(t, want[ref], "%s is met twice", ref.ID)
		delete(want, ref)
		met++
		later := now.Add(time.Minute)
		expect.NoError(t, st.Postpone(t.Context(), ref, aggregate.Head{Rev: 1}, &later))
	}
	expect.That(t, len(want) == 0, "%d met, %d are left out", met, len(want))
	left := walked(t, st, 0, now)
	expect.That(t, len(left) == 0, "%d are due still", len(left))
}

// In testDue the first task is due a millisecond after firstDue, each further one a millisecond later.
const dueTasks = 40

var firstDue = at().Add(time.Minute)

func byID(a, b aggregate.Ref) int { return strings.Compare(a.ID, b.ID) }

// due collects everything that is due in any shard.
func due(t *testing.T, st *taskStore, now time.Time) (out []aggregate.Ref) {
	t.Helper()
	for shard := range Shards {
		out = append(out, walked(t, st, shard, now)...)
	}
	return out
}

func testDue(t *testing.T, st *taskStore) {
	var all []aggregate.Ref
	for n := range dueTasks {
		all = append(all, created(t, st, n+1))
	}
	slices.SortFunc(all, byID)
	t.Run("nothing is due before its time", func(t *testing.T) {
		got := due(t, st, firstDue)
		expect.That(t, len(got) == 0, "%v", got)
	})
	t.Run("what is due is found once, whatever its shard", func(t *testing.T) { testDueOnce(t, st, all) })
	t.Run("the longest due come first, until nobody asks", func(t *testing.T) { testLongestDue(t, st, all) })
	t.Run("bounds are named", func(t *testing.T) {
		for _, err := range st.Due(t.Context(), Shards, firstDue) {
			wantField(t, err, "shard")
		}
	})
	t.Run("a handled task is postponed", func(t *testing.T) { testHandled(t, st, all) })
	t.Run("a task that has ended is never due", func(t *testing.T) { testEndedNeverDue(t, st, all) })
	t.Run("a task that moved while its sweep failed is due as that move says",
		func(t *testing.T) { testMovedWhileSweeping(t, st) })
	t.Run("a task that moved on is not postponed", func(t *testing.T) { testMovedOn(t, st, all) })
	t.Run("a task that is not there stays so", func(t *testing.T) { testDueOfNothing(t, st) })
}

func testMovedWhileSweeping(t *testing.T, st *taskStore) {
	ref, now := created(t, st, 99), at()
	decided(t, st, ref, extract)
	moved := dueAt(t, st, ref)
	expect.NoError(t, st.SweepFailed(t.Context(), ref, 4, moved.Add(time.Hour), now))
	if h, err := st.Head(t.Context(), ref); err != nil || h.SweepFailures != 4 || !h.DueAt.Equal(*moved) {
		t.Errorf("%d failures, due %v, want %v, %v", h.SweepFailures, h.DueAt, moved, err)
	}
	expect.NoError(t, st.SweepFailed(t.Context(), ref, 5, moved.Add(time.Hour), *moved))
	got := dueAt(t, st, ref)
	expect.That(t, got.Equal(moved.Add(time.Hour)), "due %v: a task that can't be handled is not put off", got)
}

func testDueOfNothing(t *testing.T, st *taskStore) {
	gone := task.RefOf(tenant, aggregate.NewID())
	for name, err := range map[string]error{
		"postpone": st.Postpone(t.Context(), gone, aggregate.Head{Rev: 1}, &firstDue), "failed": st.SweepFailed(t.Context(),
			gone, 1, firstDue, at()),
		"shown": st.Shown(t.Context(), gone, aggregate.Head{Rev: 1}), "redraw": st.Redraw(t.Context(), gone),
	} {
		t.Run(name, func(t *testing.T) { wantError(t, err, aggregate.ErrNotFound) })
	}
	got := rows(t, st, "TASK#"+gone.Tenant+"#"+gone.ID)
	expect.That(t, len(got) == 0, "%d rows were made", len(got))
}

func testDueOnce(t *testing.T, st *taskStore, all []aggregate.Ref) {
	found := due(t, st, firstDue.Add(dueTasks*time.Millisecond))
	slices.SortFunc(found, byID)
	expect.Same(t, all, found)
	expect.Is(t, len(due(t, st, firstDue.Add(10*time.Millisecond))), 10, "the first 10 are due")
	used := map[int]bool{}
	for _, r := range all {
		used[shardOf(r.ID)] = true
	}
	expect.That(t, len(used) >= Shards/2, "%d tasks use only %d shards", dueTasks, len(used))
}

func testLongestDue(t *testing.T, st *taskStore, all []aggregate.Ref) {
	shard := shardOf(all[0].ID)
	every := walked(t, st, shard, firstDue.Add(time.Hour))
	for ref, err := range st.Due(t.Context(), shard, firstDue.Add(time.Hour)) {
		expect.That(t, err == nil && ref == every[0], "%v, %v, want first %v", ref, err, every[0])
		break
	}
	for i := 1; i < len(every); i++ {
		expect.That(t, !dueAt(t, st, every[i]).Before(*dueAt(t, st, every[i-1])), "not in the order of due_at")
	}
}

func testHandled(t *testing.T, st *taskStore, all []aggregate.Ref) {
	later := at().Add(2 * time.Hour)
	expect.NoError(t, st.SweepFailed(t.Context(), all[0], 3, firstDue, at()))
	if h, err := st.Head(t.Context(), all[0]); err != nil || h.SweepFailures != 3 || !h.DueAt.Equal(firstDue) {
		t.Errorf("%d failures, due %v, %v", h.SweepFailures, h.DueAt, err)
	}
	expect.NoError(t, st.Postpone(t.Context(), all[0], aggregate.Head{Rev: 1}, &later))
	expect.That(t, !slices.Contains(due(t, st, later.Add(-time.Millisecond)), all[0]) &&
		slices.Contains(due(t, st, later), all[0]), "it is not due at the later time")
	if h, err := st.Head(t.Context(), all[0]); err != nil || h.SweepFailures != 0 || h.Rev != 1 {
		t.Errorf("%d failures at rev %d, %v", h.SweepFailures, h.Rev, err)
	}
}

func testEndedNeverDue(t *testing.T, st *taskStore, all []aggregate.Ref) {
	expect.NoError(t, st.Postpone(t.Context(), all[1], aggregate.Head{Rev: 1}, nil))
	expect.That(t, !slices.Contains(due(t, st, at().AddDate(10, 0, 0)), all[1]) && dueAt(t, st, all[1]) == nil,
		"it is still due")
	decided(t, st, all[1], extract)
	expect.That(t, slices.Contains(due(t, st, at().AddDate(10, 0, 0)), all[1]), "it is not due after a change")
}

func testMovedOn(t *testing.T, st *taskStore, all []aggregate.Ref) {
	decided(t, st, all[2], extract)
	before := dueAt(t, st, all[2])
	later := at().Add(time.Hour)
	wantError(t, st.Postpone(t.Context(), all[2], aggregate.Head{Rev: 1}, &later), aggregate.ErrConflict)
	expect.Same(t, before, dueAt(t, st, all[2]))
}

func dueAt(t *testing.T, s *taskStore, ref aggregate.Ref) *time.Time {
	t.Helper()
	return headOf(t, s, ref).DueAt
}

func testShown(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	for _, c := range []struct {
		name string
		do   func() error
		want int
	}{
		{"the first", func() error { return st.Shown(t.Context(), ref, aggregate.Head{Rev: 3}) }, 3},
		{"a later one", func() error { return st.Shown(t.Context(), ref, aggregate.Head{Rev: 5}) }, 5},
		{"an earlier one, late", func() error { return st.Shown(t.Context(), ref, aggregate.Head{Rev: 4}) }, 5},
		{"none, to be drawn again", func() error { return st.Redraw(t.Context(), ref) }, 0},
		{"what was drawn before that was asked for", func() error {
			return st.Shown(t.Context(), ref, aggregate.Head{Rev: 5})
		}, 0},
		{"again", func() error { return st.Shown(t.Context(), ref, aggregate.Head{Rev: 5, Redraws: 1}) }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.NoError(t, c.do())
			h := headOf(t, st, ref)
			expect.That(t, h.ShownRev == c.want && h.Rev == 1, "shown %d at rev %d, want %d at 1", h.ShownRev, h.Rev, c.want)
		})
	}
	t.Run("the last card says it as well, while nobody asks for a redraw", func(t *testing.T) { testShownByCard(t, st) })
	t.Run("a task that is due sooner stays so", func(t *testing.T) {
		sooner := at().Add(20 * time.Second)
		for _, due := range []time.Time{sooner, at().Add(-time.Hour)} {
			h := headOf(t, st, ref)
			expect.NoError(t, st.Shown(t.Context(), ref, h.Head))
			expect.NoError(t, st.Postpone(t.Context(), ref, h.Head, &due))
			expect.NoError(t, st.Redraw(t.Context(), ref))
			if h, err := st.Head(t.Context(), ref); err != nil || !h.DueAt.Equal(due) || h.ShownRev != 0 {
				t.Errorf("due %v, want %v; shown %d, %v", h.DueAt, due, h.ShownRev, err)
			}
		}
	})
	t.Run("a redraw that was asked for during a sweep is not put off", func(t *testing.T) {
		read, later := headOf(t, st, ref).Head, at().Add(time.Hour)
		expect.NoError(t, st.Redraw(t.Context(), ref))
		err := st.Postpone(t.Context(), ref, read, &later)
		expect.That(t, errors.Is(err, aggregate.ErrConflict), "%v, due %v", err, dueAt(t, st, ref))
	})
	t.Run("a task that is never due is, after it was to be drawn again", func(t *testing.T) {
		expect.NoError(t, st.Postpone(t.Context(), ref, headOf(t, st, ref).Head, nil))
		expect.NoError(t, st.Redraw(t.Context(), ref))
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
