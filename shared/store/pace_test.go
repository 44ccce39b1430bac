package store

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/store/records"
	"ringi/shared/store/table"
)

// budget allows a workspace four calls in ten seconds.
func budget(workspace string) records.Budget {
	return records.Budget{Workspace: workspace, Name: "chat.update", Calls: 4, Window: 10 * time.Second}
}

// take returns when a call may be made; zero means now.
func take(t *testing.T, st *taskStore, b records.Budget, spare int, now time.Time) time.Time {
	t.Helper()
	return expect.Value(st.TakePace(t.Context(), b, spare, now))(t)
}

func testPace(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"so many calls in any window, and when the next one may be", testPaceInAnyWindow},
		{"one call in any window", testPaceOfOne},
		{"what must be left for others is left", testPaceLeavesSpare},
		{"what Slack said holds for all, and only ever longer", testPaceHeld},
		{"many at once take no more than there is", testPaceAtOnce},
		{"names from outside make no other key", testPaceNames},
		{"the row of a workspace stays small", testPaceStaysSmall},
		{"calls of budgets in one row are taken together or not at all", testPaceTogether},
		{"places in line are as far apart as calls may be, and a line that is over begins anew", testLine},
		{"nobody shares a place", testLineAtOnce},
		{"a Slack that does not answer is silent from the first such call until one is answered", testSilence},
	})
}

func testPaceInAnyWindow(t *testing.T, st *taskStore) {
	b := budget("T1")
	for n := range 4 {
		until := take(t, st, b, 0, at().Add(time.Duration(n)*time.Second))
		expect.Must(t, until.IsZero(), "call %d waits until %v", n, until)
	}
	if until := take(t, st, b, 0, at().Add(4*time.Second)); !until.Equal(at().Add(10 * time.Second)) {
		t.Errorf("the fifth may be at %v", until)
	}
	for _, c := range []struct {
		after     time.Duration
		spare     int
		wantUntil time.Duration
	}{{9 * time.Second, 0, 10 * time.Second}, {11 * time.Second, 1, 0}, {11 * time.Second, 2, 12 * time.Second}} {
		looks := expect.Value(st.TakeCalls(t.Context(), at().Add(c.after), records.Take{From: b, Spare: c.spare}))(t)
		want := at().Add(c.wantUntil)
		expect.That(t, looks.Until.Equal(want) || c.wantUntil == 0 && looks.Until.IsZero(),
			"after %v with %d to spare: %v", c.after, c.spare, looks.Until)
	}
	until := take(t, st, b, 0, at().Add(10*time.Second))
	expect.That(t, until.IsZero(), "waits until %v", until)
}

func testPaceOfOne(t *testing.T, st *taskStore) {
	b := budget("T1")
	b.Name, b.Calls = "one", 1
	for n, want := range []time.Time{{}, at().Add(10 * time.Second)} {
		until := take(t, st, b, 0, at().Add(time.Duration(n)*time.Second))
		expect.That(t, until.Equal(want), "call %d waits until %v", n, until)
	}
}

func testPaceLeavesSpare(t *testing.T, st *taskStore) {
	b := budget("T2")
	if until := take(t, st, b, 3, at()); !until.IsZero() {
		t.Errorf("a whole budget, and yet until %v", until)
	}
	if until := take(t, st, b, 3, at().Add(time.Second)); !until.Equal(at().Add(10 * time.Second)) {
		t.Errorf("three of four were to be left: %v", until)
	}
	until := take(t, st, b, 0, at().Add(time.Second))
	expect.That(t, until.IsZero(), "who needs none left waits until %v", until)
}

func testPaceHeld(t *testing.T, st *taskStore) {
	b := budget("T3")
	for _, d := range []time.Duration{30 * time.Second, 5 * time.Second} {
		expect.NoError(t, st.HoldPace(t.Context(), b, at().Add(d)))
	}
	if until := take(t, st, b, 0, at().Add(20*time.Second)); !until.Equal(at().Add(30 * time.Second)) {
		t.Errorf("held until %v", until)
	}
	until := take(t, st, b, 0, at().Add(30*time.Second))
	expect.That(t, until.IsZero(), "waits until %v", until)
}

func testSilence(t *testing.T, st *taskStore) {
	since := func(now time.Time) time.Time {
		t.Helper()
		return expect.Value(st.SilentSince(t.Context(), "T1", now))(t)
	}
	expect.NoError(t, st.NoteAnswer(t.Context(), "T1"))
	if got := since(at()); !got.IsZero() {
		t.Errorf("nobody called, and yet it is silent since %v", got)
	}
	for n := range 3 {
		now := at().Add(time.Duration(n) * time.Minute)
		expect.NoError(t, st.NoteSilence(t.Context(), "T1", now, now.Add(10*time.Minute)))
		take(t, st, records.Probes("T1", time.Minute), 0, now)
	}
	for after, want := range map[time.Duration]time.Time{11 * time.Minute: at(), 12 * time.Minute: {}} {
		got := since(at().Add(after))
		expect.That(t, got.Equal(want), "after %v: silent since %v, want %v", after, got, want)
	}
	until := take(t, st, records.Probes("T1", time.Minute), 0, at().Add(150*time.Second))
	expect.That(t, until.Equal(at().Add(3*time.Minute)), "the next call may be at %v", until)
	expect.NoError(t, st.NoteAnswer(t.Context(), "T1"))
	got := since(at().Add(3 * time.Minute))
	expect.That(t, got.IsZero(), "it answers, and yet it is silent since %v", got)
}

func testPaceAtOnce(t *testing.T, st *taskStore) {
	b := budget("T4")
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
	expect.That(t, taken == 4, "%d of 4 were taken", taken)
}

func testPaceTogether(t *testing.T, st *taskStore) {
	updates := budget("T5")
	posts := updates
	posts.Name, posts.In, posts.Prefix, posts.Calls = "chat.postMessage", "chat.update", "post", 3
	takes := func(u, p int) records.Short {
		t.Helper()
		return expect.Value(st.TakeCalls(t.Context(), at(), records.Take{From: updates, N: u},
			records.Take{From: posts, N: p}))(t)
	}
	expect.That(t, takes(1, 2).Until.IsZero(), "calls that are left are not given")
	short := takes(1, 2)
	expect.That(t, short.Until.Equal(at().Add(10*time.Second)) && short.From == posts, "one post is left of two: %+v",
		short)
	expect.That(t, takes(3, 1).Until.IsZero(), "what was refused took an update")
	short = takes(1, 0)
	expect.That(t, short.From == updates, "a fifth update: %+v", short)
	expect.NoError(t, st.HoldPace(t.Context(), posts, at().Add(time.Minute)))
	later := at().Add(20 * time.Second)
	expect.That(t, take(t, st, updates, 0, later).IsZero(), "what holds for posts holds for updates")
	until := take(t, st, posts, 0, later)
	expect.That(t, until.Equal(at().Add(time.Minute)), "posts are held until %v", until)
	for _, b := range []records.Budget{posts, updates} { // each has a line of its own
		first := expect.Value(st.JoinLine(t.Context(), b, 0, later))(t)
		apart := (b.Window / time.Duration(b.Calls)).Truncate(time.Millisecond)
		expect.That(t, first.Equal(later.Add(apart)), "the first in the line of %s is to come at %v", b.Name, first)
	}
}

// The row of a workspace with all that cards count takes one write unit a write with few channels, and two with all.
func testPaceStaysSmall(t *testing.T, st *taskStore) {
	const channels = 16 // budgets of update-card
	takes := []records.Take{}
	for n, prefix := range append([]string{"", "post"}, inChannels(channels)...) {
		b := records.Budget{Workspace: "T0123456789", Name: "chat.update", Calls: 10, Window: 10 * time.Second}
		if prefix != "" {
			b.In, b.Prefix = b.Name, prefix
		}
		if strings.HasPrefix(prefix, "in") {
			b.Calls = 3
		} else {
			expect.NoError(t, st.HoldPace(t.Context(), b, at()))
		}
		takes = append(takes, records.Take{From: b, N: b.Calls})
		for _, spare := range []int{0, 1, b.Calls / 2} {
			expect.Value(st.JoinLine(t.Context(), b, spare, at()))(t)
		}
		if n == 6 || n == channels+1 {
			expect.Value(st.TakeCalls(t.Context(), at().Add(time.Minute), takes...))(t)
			size, used := table.SizeOf(raw(t, st, "PACE#T0123456789", "chat.update")), n-1
			most := 1024
			if used > 5 {
				most = 2048
			}
			expect.That(t, size > most/2 && size <= most, "with %d budgets of channels the row has %d bytes", used, size)
		}
	}
}

func inChannels(n int) (out []string) {
	for i := range n {
		out = append(out, "in"+strconv.Itoa(i))
	}
	return out
}

func testPaceNames(t *testing.T, st *taskStore) {
	for _, bad := range []records.Budget{{Workspace: "T#1", Name: "x", Calls: 1, Window: 1},
		{Workspace: "T1", Calls: 1, Window: 1}, {Workspace: "T1", Name: "x", Calls: records.MaxPaceCalls + 1, Window: 1}} {
		_, err := st.TakePace(t.Context(), bad, 0, at())
		expect.That(t, err != nil, "%+v is taken", bad)
	}
}

func testLine(t *testing.T, st *taskStore) {
	b := records.Budget{Workspace: "T1", Name: "line", Calls: 5, Window: 10 * time.Second}
	join := func(spare int, now time.Time) time.Duration {
		t.Helper()
		place := expect.Value(st.JoinLine(t.Context(), b, spare, now))(t)
		return place.Sub(at())
	}
	var got []time.Duration
	for range 3 {
		got = append(got, join(0, at()))
	}
	got = append(got, join(1, at()), join(1, at()), join(0, at().Add(time.Minute)), join(0, at().Add(time.Minute)))
	want := []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 2500 * time.Millisecond, 5 * time.Second,
		62 * time.Second, 64 * time.Second}
	expect.Same(t, want, got)
	until := take(t, st, b, 0, at())
	expect.That(t, until.IsZero(), "a line takes calls: until %v", until)
}

func testLineAtOnce(t *testing.T, st *taskStore) {
	b := records.Budget{Workspace: "T2", Name: "line", Calls: 10, Window: 10 * time.Second}
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
	n := len(slices.CompactFunc(places, time.Time.Equal))
	expect.That(t, n == len(places), "%d places for %d", n, len(places))
}
