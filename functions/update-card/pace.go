package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/slackstate"
)

// Slack takes 50 updates a minute of a workspace (its Tier 3), and a post a second of a channel, with short bursts, and
// "several hundred" a minute of a workspace: https://docs.slack.dev/apis/web-api/rate-limits and
// …/reference/methods/chat.postMessage. The windows are a little longer than Slack's: calls take unequal time to get
// there.
//
// A request that goes well needs 4 posts (task, policy, steps, execution) and 4 updates (two stamps, the execution's
// end, the task's end): at 46 updates a minute that is eleven tasks a minute, whatever their channels. allPosts is 200
// a minute, which leaves room for the direct messages of steps (send_slack_dm): they take from no budget. Each goes to
// a channel of its own, after calls of other methods, and one that Slack limits waits for as long as Slack says. Four
// more updates show progress (what the task is, a policy and steps being made, steps being done): they are made while
// there is room.
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
	// longLine is how far in the future a turn may be for its message to stay in the queue. With a later turn the
	// message would be received again and again, up to the queue's limit, and occupy invocations that others need: it
	// is removed, and the sweeper, which runs each minute, asks for the cards at their turn.
	longLine = time.Minute
	// turnLasts is how long a turn stays valid after its time: the tasks that the sweeper asks for in one minute are
	// drawn within the next. A task with an older turn reserves a new one.
	turnLasts = 3 * time.Minute
	// mostShort is how long a message waits for Slack's pace before it looks again: in the
	// same task a gate may open meanwhile, whose message waits behind this one.
	mostShort = 10 * time.Second
	// mostHeld is how long a message waits when Slack has refused calls for more than a minute.
	mostHeld = time.Minute
)

// Pace keeps Slack's budget, which all invocations share.
type Pace interface {
	TakePace(ctx context.Context, b slackstate.Budget, spare int, now time.Time) (time.Time, error)
	SparePace(ctx context.Context, b slackstate.Budget, now time.Time) (int, error)
	HoldPace(ctx context.Context, b slackstate.Budget, until time.Time) error
	JoinLine(ctx context.Context, b slackstate.Budget, spare int, now time.Time) (time.Time, error)
	SilentSince(ctx context.Context, workspace string, now time.Time) (time.Time, error)
	NoteSilence(ctx context.Context, workspace string, now, until time.Time) error
	NoteAnswer(ctx context.Context, workspace string) error
}

// short says that Slack's pace does not allow a call before a time.
type short struct {
	budget slackstate.Budget
	spare  int // calls that are kept for more urgent cards
	until  time.Time
}

func (e short) Error() string {
	return fmt.Sprintf("%s: no call is left before %s", e.budget.Name, e.until.Format(time.TimeOnly))
}

// spare is how many calls of a budget of n must be left for more urgent cards.
func spare(u urgency, n int) int {
	switch u {
	case asks:
		return 0
	case settled:
		return max(1, n/5)
	}
	return max(1, n/2)
}

func (d *drawing) budget(name string, calls int, window time.Duration) slackstate.Budget {
	return slackstate.Budget{Workspace: d.place.Team, Name: name, Calls: calls,
		Window: time.Duration(float64(window) / d.PaceScale)}
}

// budgets returns the budgets of pace that a call uses up.
func (d *drawing) budgets(method, channel string) []slackstate.Budget {
	if method == methodUpdate {
		return []slackstate.Budget{d.budget(method, updates, updateWindow)}
	}
	return []slackstate.Budget{d.budget(method+"#"+channel, posts, postWindow), d.budget(method, allPosts, allPostWindow)}
}

// take takes what one call for a card needs of Slack's pace, or returns short. When the budget can't be read or
// written, the call is made: Slack itself refuses what is too much.
func (d *drawing) take(ctx context.Context, c *aggregate.Card, method string) error {
	if d.Pace == nil {
		return nil
	}
	u, now := d.urgency[c.Key()], d.Now()
	if d.silent {
		return d.isShort(method, short{d.budget(methodUpdate, updates, updateWindow), 0, now.Add(mostShort)})
	}
	if s, ok := d.short[method]; ok { // less urgent cards must not overtake it
		return s
	}
	if u == progress && method == methodPost {
		// A card that is posted while its content is still being made must be updated later.
		b := d.budget(methodUpdate, updates, updateWindow)
		left, err := d.Pace.SparePace(ctx, b, now)
		if err == nil && left <= spare(progress, updates) {
			return d.isShort(method, short{b, spare(u, b.Calls), now.Add(mostShort)})
		}
	}
	for _, b := range d.budgets(method, cmp.Or(c.Channel, "@"+c.User)) {
		until, err := d.Pace.TakePace(ctx, b, spare(u, b.Calls), now)
		if err != nil {
			d.log(c).WarnContext(ctx, "pace", "budget", b.Name, "err", err)
			continue
		}
		if !until.IsZero() {
			return d.isShort(method, short{b, spare(u, b.Calls), until})
		}
	}
	return nil
}

func (d *drawing) isShort(method string, s short) error {
	d.short[method] = s
	return s
}

// limited takes note of a call's outcome. If err is Slack's 429, all invocations that call this method in this
// workspace wait. Otherwise it returns err.
func (d *drawing) limited(ctx context.Context, method string, err error) error {
	d.heard(ctx, err)
	var limit slackapi.RateLimited
	if !errors.As(err, &limit) || d.Pace == nil {
		return err
	}
	until := d.Now().Add(min(limit.RetryAfter, maxRetryAfter))
	all := d.budgets(method, "")
	b := all[len(all)-1]
	if err := d.Pace.HoldPace(ctx, b, until); err != nil {
		slog.WarnContext(ctx, "pace", "budget", method, "err", err)
	}
	return d.isShort(method, short{b, 0, until})
}

// leftover are the cards that Slack's rate limits kept from being drawn.
type leftover struct {
	first   *short // the earliest turn of a card that must be drawn; nil if there is none
	skipped int    // cards that only show progress: the task's next revision draws them, or the sweeper
}

// add takes note of a card that was not drawn for want of pace, and reports whether err says so.
func (l *leftover) add(err error, u urgency) bool {
	var s short
	if !errors.As(err, &s) {
		return false
	}
	if u == progress {
		l.skipped++
	} else if l.first == nil || s.until.Before(l.first.until) {
		l.first = &s
	}
	return true
}

// wait returns what Handle does with a message whose cards wait for Slack's rate limits: later, or nil when the
// sweeper will ask for them. The task reserves a turn and keeps it, so that tasks are drawn in the order in which
// they came. Close to its turn the message is looked at again soon, because a gate of the same task may open
// meanwhile, whose message waits behind this one.
func (d *drawing) wait(ctx context.Context, s short) error {
	now := d.Now()
	if s.until.Sub(now) > mostHeld {
		return later{mostHeld, "Slack said no"}
	}
	place := d.head.DrawAt
	if place == nil || now.Sub(*place) > turnLasts {
		at, err := d.Pace.JoinLine(ctx, s.budget, s.spare, now)
		if err == nil {
			err = d.Store.DrawAt(ctx, d.ref, at, at.Sub(now) > longLine)
		}
		if err != nil {
			slog.WarnContext(ctx, "no place in line", d.ref.Log(), "budget", s.budget.Name, "err", err)
			return later{min(s.until.Sub(now), mostShort), slacksPace}
		}
		place = &at
	}
	turn := place.Sub(now)
	if turn > longLine {
		metric.Count(metric.CardLate, 1)
		slog.InfoContext(ctx, "left to the sweeper", d.ref.Log(), "rev", d.head.Rev, "budget", s.budget.Name,
			"seconds", int(turn.Seconds()))
		return nil
	}
	return later{min(max(s.until.Sub(now), turn), mostShort), slacksPace}
}

func paceScale(text string) (float64, error) {
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil || !(scale > 0) {
		return 0, fmt.Errorf("SLACK_PACE must be a number above 0, not %.20q", text)
	}
	return scale, nil
}
