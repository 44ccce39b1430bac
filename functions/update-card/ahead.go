package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"ringi/shared/store/slackstate"
)

// A request's drawings often follow each other in one process. While few of a workspace's calls are used, the write
// that counts those of one drawing counts some more, which the next drawings make without a write.
const (
	aheadUpdates, aheadPosts = 3, 1
	// aheadLasts is how long they may be made. With it a minute is less than five windows of updates, which are 50: so
	// many are made in any minute at most, as Slack allows.
	aheadLasts = 4 * time.Second
)

// ahead are calls that this process has counted and not made.
type ahead struct {
	until time.Time // when they may be made no more
	next  time.Time // when calls may be counted ahead again
	mu    sync.Mutex
	left  map[slackstate.Budget]int
}

// pay takes calls that were counted, all or none.
func (a *ahead) pay(takes []slackstate.Take, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range takes {
		if a.left[t.From] < max(1, t.N) || !now.Before(a.until) {
			return false
		}
	}
	for _, t := range takes {
		a.left[t.From] -= t.N
	}
	return true
}

// count takes calls that were counted ahead, or counts them. Once in a window it counts some ahead, if half of each
// budget remains.
func (d *drawing) count(ctx context.Context, takes ...slackstate.Take) (slackstate.Short, error) {
	now := d.Now()
	known, ok := d.ahead.Known(d.place.Team, now)
	if ok && known.pay(takes, now) {
		return slackstate.Short{}, nil
	}
	if ok && now.Before(known.next) {
		return d.Pace.TakeCalls(ctx, now, takes...)
	}
	more := map[slackstate.Budget]int{d.updates(): aheadUpdates}
	for _, t := range takes {
		if t.From.Name == methodPost {
			more[t.From] = aheadPosts
		}
	}
	all := with(takes, more)
	if slices.ContainsFunc(all, func(t slackstate.Take) bool { return t.N+t.Spare > t.From.Calls }) {
		return d.Pace.TakeCalls(ctx, now, takes...)
	}
	short, err := d.Pace.TakeCalls(ctx, now, all...)
	if err != nil {
		return short, err
	}
	if !short.Until.IsZero() {
		d.hold(nil)
		return d.Pace.TakeCalls(ctx, now, takes...)
	}
	d.hold(more)
	return short, nil
}

// hold keeps the calls that were counted ahead in the place of those before them.
func (d *drawing) hold(more map[slackstate.Budget]int) {
	now, window := d.Now(), d.updates().Window
	d.ahead.Keep(d.place.Team, &ahead{until: now.Add(aheadLasts), next: now.Add(window), left: more}, now,
		max(aheadLasts, window))
}

// with adds calls that are counted ahead to takes.
func with(takes []slackstate.Take, next map[slackstate.Budget]int) []slackstate.Take {
	takes = slices.Clone(takes)
	for b, n := range next {
		i := slices.IndexFunc(takes, func(t slackstate.Take) bool { return t.From == b })
		if i < 0 {
			i, takes = len(takes), append(takes, slackstate.Take{From: b})
		}
		takes[i].N += n
		takes[i].Spare = max(takes[i].Spare, spare(progress, b.Calls))
	}
	return takes
}
