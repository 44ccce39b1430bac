package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/remember"
	"ringi/shared/store/slackstate"
)

// Most drawings are alone: few cards of a workspace are drawn within a minute, and usually by the same process. Such a
// process has a share of the workspace's calls, which it makes without a write.
const (
	// updateShare is about what one of the workspace's lanes needs: progress every 4 s, or a verdict and an end.
	updateShare, postShare, allPostShare = 3, 1, 2
	// shareLasts is longer than a model usually takes, so that the card before and the card after it are one share's.
	shareLasts = 15 * time.Second
	// shareSpare is how many tenths of a budget must remain when a share is taken. When many cards are drawn, there are no
	// shares.
	shareSpare = 8
	// shareKnown is how long a process remembers which calls of a share it has made.
	shareKnown = time.Minute
)

// share is what a process knows of its share of a workspace's calls.
type share struct {
	id    string
	until time.Time
	next  time.Time                         // when a share may be taken; zero: not known yet
	made  map[slackstate.Budget][]time.Time // calls of the share within the window
}

type shares struct {
	mu sync.Mutex
	of remember.Answers[string, *share] // by workspace
}

// known returns what is known of a workspace's share. The caller holds the lock.
func (x *shares) known(workspace string, now time.Time) *share {
	s, ok := x.of.Known(workspace, now)
	if !ok {
		s = &share{id: aggregate.NewID(), made: map[slackstate.Budget][]time.Time{}}
	}
	x.of.Keep(workspace, s, now, shareKnown)
	return s
}

// share returns the share that this process may ask for.
func (h *Handler) share(workspace string, now time.Time) slackstate.Share {
	h.shares.mu.Lock()
	defer h.shares.mu.Unlock()
	out := slackstate.Share{By: h.shares.known(workspace, now).id, Until: now.Add(shareLasts)}
	of := []slackstate.Budget{h.updates(workspace), h.allPosts(workspace)}
	for slot := range channelSlots {
		of = append(of, h.postsIn(workspace, slot))
	}
	for _, b := range of {
		out.Of = append(out.Of, slackstate.Take{From: b, Spare: b.Calls * shareSpare / 10})
	}
	return out
}

// seen records what the row says.
func (x *shares) seen(of slackstate.Share, seen slackstate.Seen, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(of.Of[0].From.Workspace, now)
	if seen.Held.After(now) {
		s.until = now
	}
	if s.next = now; seen.Shares.After(now) {
		s.next = seen.Shares
	}
}

// held ends a share: Slack refuses calls.
func (x *shares) held(workspace string, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(workspace, now)
	s.until, s.next = now, time.Time{}
}

// pay takes calls of a share, all or none.
func (x *shares) pay(takes []slackstate.Take, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(takes[0].From.Workspace, now)
	if !now.Before(s.until) {
		return false
	}
	for _, t := range takes {
		b := t.From
		s.made[b] = slices.DeleteFunc(s.made[b], func(at time.Time) bool { return !now.Before(at.Add(b.Window)) })
		if len(s.made[b])+max(1, t.N) > b.Share {
			return false
		}
	}
	for _, t := range takes {
		s.made[t.From] = append(s.made[t.From], slices.Repeat([]time.Time{now}, t.N)...)
	}
	return true
}

// may reports whether a share can be taken or extended, as far as the row is known.
func (x *shares) may(workspace string, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(workspace, now)
	return !s.next.IsZero() && !now.Before(s.next)
}

// taken records the answer to a request for a share. After a refusal the row is read again first.
func (x *shares) taken(of slackstate.Share, now time.Time, given bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(of.Of[0].From.Workspace, now)
	switch {
	case s.id != of.By:
	case given:
		s.until = of.Until
	default:
		s.next = time.Time{}
	}
}

// count takes calls of this process's share, or else of the row. With the row's it takes a share, or extends it, if
// enough calls are left and no other process has one. Several calls of a budget are usually a task's last.
func (d *drawing) count(ctx context.Context, takes ...slackstate.Take) (slackstate.Short, error) {
	now, team := d.Now(), d.place.Team
	if d.shares.pay(takes, now) {
		return slackstate.Short{}, nil
	}
	several := slices.ContainsFunc(takes, func(t slackstate.Take) bool { return t.N > 1 })
	if !several && d.shares.may(team, now) {
		of := d.share(team, now)
		given, err := d.Pace.TakeShare(ctx, now, of, takes...)
		if d.shares.taken(of, now, given); given || err != nil {
			return slackstate.Short{}, err
		}
	}
	return d.Pace.TakeCalls(ctx, now, takes...)
}
