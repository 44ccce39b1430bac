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
	"ringi/shared/store/slackstate"
	"ringi/shared/store/storetest"
)

// counting counts how often calls are counted in the table.
type counting struct {
	Pace
	writes int
}

func (c *counting) TakeCalls(
	ctx context.Context, now time.Time, takes ...slackstate.Take,
) (slackstate.Short, error) {
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

// What was counted ahead isn't called while Slack refuses calls.
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
	w.shows("勤怠", "承認: ")
}

// Whatever processes count and when they call, Slack's limits hold: 50 updates in any minute, a post a second in a
// channel over a minute.
func TestNoMinuteHasMoreCallsThanSlackAllows(t *testing.T) {
	server := storetest.Start(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			s, _ := server.Store(t)
			now := time.Unix(1776675600, 0)
			var processes [3]*drawing
			for i := range processes {
				h := &Handler{Pace: slackstate.Of(s.Table()), PaceScale: 1, Now: func() time.Time { return now }}
				processes[i] = &drawing{Handler: h, place: Place{Team: slacktest.Team}}
			}
			made := map[string][]time.Time{}
			most := map[string]int{methodUpdate: 50, methodPost: 60}
			for range 500 {
				pause := 500 * time.Millisecond
				if random.IntN(8) == 0 { // calm, so that calls are counted ahead of the next rush
					pause = 15 * time.Second
				}
				now = now.Add(time.Duration(random.Int64N(int64(pause))))
				d := processes[random.IntN(len(processes))]
				var takes []slackstate.Take
				if random.IntN(2) == 0 {
					takes = append(takes, slackstate.Take{From: d.updates(), N: 1})
				}
				if len(takes) == 0 || random.IntN(2) == 0 {
					takes = append(takes, slackstate.Take{From: d.postsIn("C1"), N: 1},
						slackstate.Take{From: d.allPosts(), N: 1})
				}
				if short := expect.Value(d.count(t.Context(), takes...))(t); !short.Until.IsZero() {
					continue
				}
				for _, x := range takes {
					if x.From.Prefix == "post" {
						continue
					}
					of := x.From.Name
					made[of] = append(made[of], now)
					if i := len(made[of]) - 1 - most[of]; i >= 0 && now.Sub(made[of][i]) < time.Minute {
						t.Fatalf("%s was called more than %d times within %v", of, most[of], now.Sub(made[of][i]))
					}
				}
			}
			expect.That(t, len(made[methodUpdate]) > 100 && len(made[methodPost]) > 100, "%d updates and %d posts were made",
				len(made[methodUpdate]), len(made[methodPost]))
		})
	}
}
