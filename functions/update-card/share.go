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
// process has a share of the workspace's updates, which it makes without a write. Posts are always counted in the row:
// a channel allows so few that none can be set apart.
const (
	// updateShare is about what one of the workspace's lanes needs: progress every 3 s, or a verdict and an end.
	updateShare = 3
	// shareLasts is longer than a model usually takes, so that the card before and the card after it are one share's.
	shareLasts = 15 * time.Second
	// shareSpare is how many updates must remain when a share is taken. When many cards are drawn, there are no shares.
	shareSpare = 8
	// shareKnown is how long a process remembers which calls of a share it has made.
	shareKnown = time.Minute
)

// share is what a process knows of its share of a workspace's updates.
type share struct {
	id    string
	until time.Time
	next  time.Time   // when a share may be taken; zero: not known yet
	made  []time.Time // updates of the share within the window
}

type shares struct {
	mu sync.Mutex
	of remember.Answers[string, *share] // by workspace
}

// known returns what is known of a workspace's share. The caller holds the lock.
func (x *shares) known(workspace string, now time.Time) *share {
	s, ok := x.of.Known(workspace, now)
	if !ok {
		s = &share{id: aggregate.NewID()}
	}
	x.of.Keep(workspace, s, now, shareKnown)
	return s
}

// share returns the share that this process may ask for.
func (h *Handler) share(workspace string, now time.Time) slackstate.Share {
	h.shares.mu.Lock()
	defer h.shares.mu.Unlock()
	return slackstate.Share{Of: h.updates(workspace), By: h.shares.known(workspace, now).id, Until: now.Add(shareLasts),
		Spare: shareSpare}
}

// seen records what the row says.
func (x *shares) seen(of slackstate.Share, seen slackstate.Seen, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(of.Of.Workspace, now)
	if seen.Held.After(now) {
		s.until = now
	}
	if s.next = now; seen.Shares.After(now) {
		s.next = seen.Shares
	}
}

// held ends a share: Slack refuses updates.
func (x *shares) held(workspace string, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(workspace, now)
	s.until, s.next = now, time.Time{}
}

// pay takes n calls of a share, or returns false.
func (x *shares) pay(b slackstate.Budget, n int, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.known(b.Workspace, now)
	s.made = slices.DeleteFunc(s.made, func(at time.Time) bool { return !now.Before(at.Add(b.Window)) })
	if !now.Before(s.until) || len(s.made)+n > b.Share {
		return false
	}
	s.made = append(s.made, slices.Repeat([]time.Time{now}, n)...)
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
	s := x.known(of.Of.Workspace, now)
	switch {
	case s.id != of.By:
	case given:
		s.until = of.Until
	default:
		s.next = time.Time{}
	}
}

// count takes calls of this process's share, or else of the row. With the row's it takes a share, or extends it, if
// enough calls are left and no other process has one. Several updates are usually a task's last.
func (d *drawing) count(ctx context.Context, takes ...slackstate.Take) (slackstate.Short, error) {
	now, b := d.Now(), d.updates()
	if len(takes) == 1 && takes[0].From == b && d.shares.pay(b, takes[0].N, now) {
		return slackstate.Short{}, nil
	}
	several := slices.ContainsFunc(takes, func(t slackstate.Take) bool { return t.From == b && t.N > 1 })
	if !several && d.shares.may(b.Workspace, now) {
		of := d.share(b.Workspace, now)
		given, err := d.Pace.TakeShare(ctx, now, of, takes...)
		if d.shares.taken(of, now, given); given || err != nil {
			return slackstate.Short{}, err
		}
	}
	return d.Pace.TakeCalls(ctx, now, takes...)
}
