package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/slackapi"
	"ringi/shared/store"
	"ringi/shared/task"
)

// Slack takes 50 updates a minute of a workspace (its Tier 3), and a post a second of a
// channel, with short bursts, and "several hundred" a minute of a workspace:
// https://docs.slack.dev/apis/web-api/rate-limits and …/reference/methods/chat.postMessage.
// The windows are a little longer than Slack's: calls take unequal time to get there.
//
// A request that goes well needs 4 posts (task, policy, steps, execution) and 4 updates
// (two stamps, the execution's end, the task's end): at 46 updates a minute that is eleven
// tasks a minute, whatever their channels. Four more updates show progress (what the task
// is, a policy and steps being made, steps being done): they are made while there is room.
const (
	updates, updateWindow   = 10, 13 * time.Second
	posts, postWindow       = 3, 3500 * time.Millisecond
	allPosts, allPostWindow = 10, 3 * time.Second
)

const (
	methodUpdate = "chat.update"
	methodPost   = "chat.postMessage"
)

const (
	// mostShort is how long a message waits for Slack's pace before it looks again: in the
	// same task a gate may open meanwhile, whose message waits behind this one.
	mostShort = 10 * time.Second
	// mostHeld is that wait while Slack said no for longer than a minute.
	mostHeld = time.Minute
)

// Pace keeps Slack's budget, which all invocations share.
type Pace interface {
	TakePace(ctx context.Context, b store.Budget, spare int, now time.Time) (time.Time, error)
	SparePace(ctx context.Context, b store.Budget, now time.Time) (int, error)
	HoldPace(ctx context.Context, b store.Budget, until time.Time) error
}

// short says that Slack's pace does not allow a call before a time.
type short struct {
	method string
	until  time.Time
}

func (e short) Error() string {
	return fmt.Sprintf("%s: no call is left before %s", e.method, e.until.Format(time.TimeOnly))
}

// spare is how many calls of a budget of n must be left for those who are more urgent.
func spare(u urgency, n int) int {
	switch u {
	case asks:
		return 0
	case settled:
		return n / 5
	}
	return n / 2
}

func (d *drawing) budget(name string, calls int, window time.Duration) store.Budget {
	return store.Budget{Workspace: d.a.Request.TeamID, Name: name, Calls: calls, Window: time.Duration(float64(window) / d.PaceScale)}
}

// budgets are those that a call takes from.
func (d *drawing) budgets(method, channel string) []store.Budget {
	if method == methodUpdate {
		return []store.Budget{d.budget(method, updates, updateWindow)}
	}
	return []store.Budget{d.budget(method+"#"+channel, posts, postWindow), d.budget(method, allPosts, allPostWindow)}
}

// take takes what one call for a card needs of Slack's pace, or returns short. What can't
// be read or written is no reason to wait: Slack says no itself.
func (d *drawing) take(ctx context.Context, c *task.Card, method string) error {
	if d.Pace == nil {
		return nil
	}
	u, now := d.urgency[c.Key()], d.Now()
	if until, ok := d.short[method]; ok { // nothing less urgent overtakes it
		return short{method, until}
	}
	if u == progress && method == methodPost {
		// What is posted while it comes about has to be updated once it is there.
		left, err := d.Pace.SparePace(ctx, d.budget(methodUpdate, updates, updateWindow), now)
		if err == nil && left <= spare(progress, updates) {
			return d.isShort(method, now.Add(mostShort))
		}
	}
	for _, b := range d.budgets(method, c.Channel) {
		until, err := d.Pace.TakePace(ctx, b, spare(u, b.Calls), now)
		if err != nil {
			d.log(c).WarnContext(ctx, "pace", "budget", b.Name, "err", err)
			continue
		}
		if !until.IsZero() {
			return d.isShort(method, until)
		}
	}
	return nil
}

func (d *drawing) isShort(method string, until time.Time) error {
	d.short[method] = until
	return short{method, until}
}

// limited has all invocations wait that call this method in this workspace, when err is
// Slack's 429. Otherwise it returns err.
func (d *drawing) limited(ctx context.Context, method string, err error) error {
	var limit slackapi.RateLimited
	if !errors.As(err, &limit) || d.Pace == nil {
		return err
	}
	until := d.Now().Add(min(limit.RetryAfter, maxRetryAfter))
	b := d.budgets(method, "")
	if err := d.Pace.HoldPace(ctx, b[len(b)-1], until); err != nil {
		slog.WarnContext(ctx, "pace", "budget", method, "err", err)
	}
	return d.isShort(method, until)
}

// leftover is what a draw could not do for want of pace.
type leftover struct {
	until   time.Time // when the first of what has to be drawn may be; zero: nothing has to
	skipped int       // cards of progress: the task's next revision draws them, or the sweeper
}

// add takes note of a card that was not drawn, and reports whether that is so.
func (l *leftover) add(err error, u urgency) bool {
	var s short
	if !errors.As(err, &s) {
		return false
	}
	if u == progress {
		l.skipped++
	} else if l.until.IsZero() || s.until.Before(l.until) {
		l.until = s.until
	}
	return true
}

// err is when the message is to come again, nil if it need not.
func (l *leftover) err(now time.Time) error {
	if l.until.IsZero() {
		return nil
	}
	wait := l.until.Sub(now)
	if wait > mostHeld {
		return later{mostHeld, "Slack said no"}
	}
	return later{min(wait, mostShort), "Slack's pace"}
}
