package main

import (
	"context"
	"ringi/shared/store/records"
	"sync"
	"time"
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
	left  map[records.Budget]int
}

// pay takes calls that were counted, all or none.
func (a *ahead) pay(takes []records.Take, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range takes {
		if a.left[t.From] < max(1, t.N) || !now.Before(a.until) || t.InTurn {
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
func (d *drawing) count(ctx context.Context, takes ...records.Take) (records.Short, error) {
	now := d.Now()
	known, ok := d.ahead.Known(d.place.Team, now)
	if ok && known.pay(takes, now) {
		return records.Short{}, nil
	}
	if ok && now.Before(known.next) {
		return d.Pace.TakeCalls(ctx, now, takes...)
	}
	more := []records.Take{further(d.updates(), aheadUpdates)}
	for _, t := range takes {
		if t.From.Name == methodPost {
			more = append(more, further(t.From, aheadPosts))
		}
	}
	all := together(takes, more...)
	if tooMany(all) {
		return d.Pace.TakeCalls(ctx, now, takes...)
	}
	short, err := d.Pace.TakeCalls(ctx, now, all...)
	if err != nil {
		return short, err
	}
	if !short.Until.IsZero() {
		d.keepAhead()
		return d.Pace.TakeCalls(ctx, now, takes...)
	}
	d.keepAhead(more...)
	return short, nil
}

// further are calls of a budget that are counted ahead, of which half must remain.
func further(b records.Budget, n int) records.Take {
	return records.Take{From: b, N: n, Spare: spare(progress, methodUpdate, b.Calls)}
}

// keepAhead keeps the calls that were counted ahead and drops those before them. Without any it only drops those.
// Either way none are counted ahead for a window.
func (d *drawing) keepAhead(more ...records.Take) {
	now, window := d.Now(), d.updates().Window
	next := &ahead{until: now.Add(aheadLasts), next: now.Add(window), left: map[records.Budget]int{}}
	for _, t := range more {
		next.left[t.From] = t.N
	}
	d.ahead.Keep(d.place.Team, next, now, max(aheadLasts, window))
}
