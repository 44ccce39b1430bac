package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// counting counts how often calls are counted in the table.
type counting struct {
	Pace
	writes int
}

func (c *counting) TakeCalls(
	ctx context.Context, now time.Time, takes ...records.Take,
) (records.Short, error) {
	c.writes++
	return c.Pace.TakeCalls(ctx, now, takes...)
}

// counts makes the world count calls, and counts how often.
func (w *world) counts(used int) *counting {
	w.paced(used)
	c := &counting{Pace: w.h.Pace}
	w.h.Pace = c
	return c
}

func TestCallsAreCountedAhead(t *testing.T) {
	server := storetest.Start(t)
	for _, c := range []struct {
		name  string
		used  int // of ten updates
		after time.Duration
		want  [3]int // writes after each of three drawings: a post, an update with a post, an update
	}{
		{"few are used", 0, time.Second, [3]int{1, 1, 1}},
		{"many are used", 4, time.Second, [3]int{2, 3, 4}},
		{"their time is over", 0, aheadLasts, [3]int{1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, server)
			paced := w.counts(c.used)
			var got [3]int
			for i, changes := range []func(){func() {}, func() { w.Extracted() }, func() {
				w.Draft(tenancy.DefaultSettings())
			}} {
				changes()
				w.done()
				got[i] = paced.writes
				w.Later(c.after)
			}
			expect.Same(t, c.want, got)
			w.shows("勤怠", "approve_prompt")
		})
	}
}

// A refusal holds at once for all calls that aren't counted yet. What another process has counted ahead it makes, for
// aheadLasts at most.
func TestARefusalHoldsForWhatIsNotCountedYet(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	now := time.Unix(1776675600, 0)
	process := func() *drawing {
		h := &Handler{Pace: records.NotesOf(s.Table()), PaceScale: 1, Now: func() time.Time { return now }}
		return &drawing{Handler: h, place: Place{Team: slacktest.Team}}
	}
	refused := func(d *drawing) bool {
		return !expect.Value(d.count(t.Context(), records.Take{From: d.updates(), N: 1}))(t).Until.IsZero()
	}
	counted, other, late := process(), process(), process()
	expect.That(t, !refused(counted) && !refused(late), "the first calls are refused")
	expect.NoError(t, other.Pace.HoldPace(t.Context(), other.updates(), now.Add(time.Minute)))
	expect.That(t, refused(other), "a call that was not counted is made")
	for n := range aheadUpdates {
		expect.That(t, !refused(counted), "call %d that was counted ahead is refused", n+1)
	}
	expect.That(t, refused(counted), "more calls are made than were counted ahead")
	now = now.Add(aheadLasts)
	expect.That(t, refused(late), "a call that was counted ahead is made after its time")
}

// The process that hears of a refusal makes nothing that it has counted ahead.
func TestWhatWasCountedAheadWaitsWhileSlackRefuses(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.counts(0)
	w.done()
	w.Approve()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.RateLimited, RetryAfter: 4 * time.Second})
	w.back(4, 5)
	w.slack.Calls()
	w.back(4, 5)
	expect.Same(t, 0, len(w.slack.Calls("chat.update")))
	w.Later(4 * time.Second)
	w.done()
	w.shows("勤怠", "承認: ", "生成中")
}

// A drawing of many cards leaves nothing to count ahead.
func TestNoWindowHasMoreCallsThanItsBudget(t *testing.T) {
	server := storetest.Start(t)
	for n := 1; n <= updates; n++ {
		s, _ := server.Store(t)
		now := time.Unix(1776675600, 0)
		h := &Handler{Pace: records.NotesOf(s.Table()), PaceScale: 1, Now: func() time.Time { return now }}
		d, made := &drawing{Handler: h, place: Place{Team: slacktest.Team}}, 0
		for _, n := range []int{n, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1} {
			if expect.Value(d.count(t.Context(), records.Take{From: d.updates(), N: n}))(t).Until.IsZero() {
				made += n
			}
		}
		expect.That(t, made <= updates, "%d updates at once, after a drawing of %d", made, n)
	}
}

// Slack's limits hold also in a rush that begins where calls were counted ahead: 50 updates in any minute, a post a
// second in a channel over a minute.
func TestNoMinuteHasMoreCallsThanSlackAllows(t *testing.T) {
	server := storetest.Start(t)
	seeds := uint64(1)
	if expect.Long() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := &minutes{T: t, random: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(1776675600, 0),
				made: map[string][]time.Time{}}
			s, _ := server.Store(t)
			for range 3 {
				h := &Handler{Pace: records.NotesOf(s.Table()), PaceScale: 1, Now: func() time.Time { return r.now }}
				r.processes = append(r.processes, &drawing{Handler: h, place: Place{Team: slacktest.Team}})
			}
			for range 3 {
				for _, d := range r.processes { // calm
					r.now = r.now.Add(time.Duration(r.random.Int64N(int64(aheadLasts))))
					r.call(d, r.random.IntN(2) == 0)
				}
				for end := r.now.Add(65 * time.Second); r.now.Before(end); {
					r.now = r.now.Add(time.Duration(r.random.Int64N(int64(400 * time.Millisecond))))
					r.call(r.processes[r.random.IntN(len(r.processes))], r.random.IntN(3) == 0)
				}
				r.now = r.now.Add(updateWindow)
			}
			expect.That(t, len(r.made[methodUpdate]) > 120 && len(r.made[methodPost]) > 120, "%d updates and %d posts were made",
				len(r.made[methodUpdate]), len(r.made[methodPost]))
		})
	}
}

// minutes are calls of several processes in a workspace with one channel.
type minutes struct {
	*testing.T
	random    *rand.Rand
	now       time.Time
	processes []*drawing
	made      map[string][]time.Time // by method
}

// call makes an update or a post, if a call is left, and looks back over a minute.
func (r *minutes) call(d *drawing, posts bool) {
	method, takes, most := methodUpdate, []records.Take{{From: d.updates(), N: 1}}, 50
	if posts {
		method, most = methodPost, 60
		takes = []records.Take{{From: d.postsIn("C1"), N: 1}, {From: d.allPosts(), N: 1}}
	}
	if short := expect.Value(d.count(r.Context(), takes...))(r.T); !short.Until.IsZero() {
		return
	}
	r.made[method] = append(r.made[method], r.now)
	if i := len(r.made[method]) - 1 - most; i >= 0 && r.now.Sub(r.made[method][i]) < time.Minute {
		r.Fatalf("%s was called more than %d times within %v", method, most, r.now.Sub(r.made[method][i]))
	}
}
