package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/records"
)

// Slack allows 50 updates a minute in a workspace (its Tier 3), and one post a second in a channel, with short bursts
// and "several hundred" a minute in a workspace: https://docs.slack.dev/apis/web-api/rate-limits and
// …/reference/methods/chat.postMessage. Our windows are a little longer than Slack's, since calls take unequal time to
// arrive.
//
// A normal request needs 4 posts (task, policy, steps, execution) in its channel, a direct message about the end, and 4
// updates (two approvals, the end of the execution and of the task): 46 updates a minute are eleven tasks a minute, in
// any number of channels. allPosts is 200 a minute. The direct messages of steps (send_slack_dm) don't count: each goes
// to a channel of its own, after calls of other methods, and waits as long as Slack says if Slack limits it. Four more
// updates show progress and are made only while calls are left.
const (
	updates, updateWindow   = 10, 13 * time.Second
	posts, postWindow       = 3, 3500 * time.Millisecond
	allPosts, allPostWindow = 10, 3 * time.Second
)

const (
	methodUpdate = "chat.update"
	methodPost   = "chat.postMessage"
)

// channelSlots is how many budgets for posts in a channel a workspace has. The channels share them, so that one row
// counts all of a drawing's calls. Each allows the posts of 11 requests a minute, as updates do, a third of them for
// buttons to stop. But a question in a quiet channel waits behind the posts of a busy one that shares its budget, so
// few channels should share one. The row has those that were used: up to five fit in its first KiB, all in its second.
const channelSlots = 16

const (
	// longLine is the longest wait for which a message stays in the queue. With a later turn it would be received again
	// and again, up to the queue's limit, and occupy invocations that others need. Such a message is removed, and the
	// sweeper, which runs each minute, requests the cards at their turn.
	longLine = time.Minute
	// turnLasts is how long a turn stays valid: the tasks that the sweeper requests in one minute are drawn within the
	// next. A task with an older turn reserves a new one.
	turnLasts = 3 * time.Minute
	// mostShort is the longest wait for Slack's rate limits before the message is received again: calls may be left
	// earlier than its turn says.
	mostShort = 10 * time.Second
	// mostHeld is how long a message waits when Slack has refused calls for more than a minute.
	mostHeld = time.Minute
)

// Pace counts the calls of all invocations against Slack's rate limits.
type Pace interface {
	TakePace(ctx context.Context, b records.Budget, spare int, now time.Time) (time.Time, error)
	TakeCalls(ctx context.Context, now time.Time, takes ...records.Take) (records.Short, error)
	HoldPace(ctx context.Context, b records.Budget, until time.Time) error
	JoinLine(ctx context.Context, b records.Budget, spare int, now time.Time) (time.Time, error)
	SilentSince(ctx context.Context, workspace string, now time.Time) (time.Time, error)
	NoteSilence(ctx context.Context, workspace string, now, until time.Time) error
	NoteAnswer(ctx context.Context, workspace string) error
}

// short says that Slack's rate limit allows no call before a time.
type short records.Short

func (e short) Error() string {
	return fmt.Sprintf("%s: no call is left before %s", e.From.Name, e.Until.Format(time.TimeOnly))
}

// spare returns how many of n calls are reserved for more urgent cards. Only posts bring the button to stop.
func spare(u urgency, method string, n int) int {
	switch {
	case u == stops, u == asks && method == methodUpdate:
		return 0
	case u == asks:
		return 1
	case u == settled:
		return max(1, n/5)
	}
	return max(1, n/2)
}

func (d *drawing) budget(name string, calls int, window time.Duration) records.Budget {
	return records.Budget{Workspace: d.place.Team, Name: name, Calls: calls,
		Window: time.Duration(float64(window) / d.PaceScale)}
}

func (d *drawing) updates() records.Budget { return d.budget(methodUpdate, updates, updateWindow) }

// allPosts and postsIn are in the row of updates.
func (d *drawing) allPosts() records.Budget {
	b := d.budget(methodPost, allPosts, allPostWindow)
	b.In, b.Prefix = methodUpdate, "post"
	return b
}

func (d *drawing) postsIn(channel string) records.Budget {
	b, h := d.budget(methodPost, posts, postWindow), fnv.New32a()
	h.Write([]byte(channel))
	b.In, b.Prefix = methodUpdate, "in"+strconv.Itoa(int(h.Sum32()%channelSlots))
	return b
}

// takes returns what a call for a card takes of which budgets.
func (d *drawing) takes(c *aggregate.Card, method string) []records.Take {
	of := func(b records.Budget, n int) records.Take {
		return records.Take{From: b, N: n, Spare: spare(d.urgency[c.Key()], method, b.Calls)}
	}
	stop, place := d.urgency[c.Key()] == stops, d.head.DrawAt
	if method == methodUpdate {
		return []records.Take{of(d.updates(), 1)}
	}
	out := []records.Take{of(d.postsIn(cmp.Or(c.Channel, "@"+d.person(c))), 1), of(d.allPosts(), 1)}
	// Buttons to stop are there in the order in which the work began: none is before one that has waited longer.
	if out[0].InTurn = stop; stop && place != nil {
		out[0].Place = *place
	}
	if d.urgency[c.Key()] == progress { // a card that is posted without its final content needs an update later
		out = append(out, of(d.updates(), 0))
	}
	return out
}

func methodOf(c *aggregate.Card) string {
	if c.MessageTS != "" {
		return methodUpdate
	}
	return methodPost
}

// prepay takes the calls for several cards with one write. If too few are left, each card takes its own, by its
// urgency.
func (d *drawing) prepay(ctx context.Context, cards []*aggregate.Card) {
	if d.Pace == nil || d.silent || len(cards) < 2 {
		return
	}
	var all []records.Take
	for _, c := range cards {
		all = together(all, d.takes(c, methodOf(c))...)
	}
	if tooMany(all) {
		return
	}
	if short, err := d.count(ctx, all...); err != nil || !short.Until.IsZero() {
		return
	}
	for _, c := range cards {
		d.paid[c.Key()] = methodOf(c)
	}
}

// together returns takes with more of them, one for each budget.
func together(takes []records.Take, more ...records.Take) []records.Take {
	takes = slices.Clone(takes)
	for _, t := range more {
		i := slices.IndexFunc(takes, func(x records.Take) bool { return x.From == t.From })
		if i < 0 {
			takes = append(takes, t)
			continue
		}
		takes[i].N, takes[i].Spare = takes[i].N+t.N, max(takes[i].Spare, t.Spare)
		if t.InTurn {
			takes[i].InTurn, takes[i].Place = true, t.Place
		}
	}
	return takes
}

// tooMany reports whether a budget can never have so many calls left.
func tooMany(takes []records.Take) bool {
	return slices.ContainsFunc(takes, func(t records.Take) bool { return t.N+t.Spare > t.From.Calls })
}

// take counts one call for a card, or returns short if the rate limit leaves none. If the counters can't be read or
// written, the call is made anyway: Slack itself refuses excess calls.
func (d *drawing) take(ctx context.Context, c *aggregate.Card, method string) error {
	if d.Pace == nil {
		return nil
	}
	if d.silent {
		return d.block(method, d.updates(), d.Now().Add(mostShort))
	}
	if s, ok := d.blocked[method]; ok { // less urgent cards must not overtake it
		return s
	}
	if d.paid[c.Key()] == method {
		delete(d.paid, c.Key())
		return nil
	}
	s, err := d.count(ctx, d.takes(c, method)...)
	if err != nil {
		d.log(c).WarnContext(ctx, "pace", "method", method, "err", err)
		return nil
	}
	if !s.Until.IsZero() {
		d.blocked[method] = short(s)
		return short(s)
	}
	return nil
}

// block makes a method's further cards wait until a time.
func (d *drawing) block(method string, b records.Budget, until time.Time) error {
	s := short{records.Take{From: b}, until}
	d.blocked[method] = s
	return s
}

// limited records a call's outcome. If err is Slack's 429, all invocations that call this method in this workspace
// wait. Otherwise limited returns err.
func (d *drawing) limited(ctx context.Context, method string, err error) error {
	d.heard(ctx, err)
	var limit slackapi.RateLimited
	if !errors.As(err, &limit) || d.Pace == nil {
		return err
	}
	until := d.Now().Add(min(limit.RetryAfter, maxRetryAfter))
	d.keepAhead()
	b := d.updates()
	if method == methodPost {
		b = d.allPosts()
	}
	if err := d.Pace.HoldPace(ctx, b, until); err != nil {
		slog.WarnContext(ctx, "pace", "budget", method, "err", err)
	}
	return d.block(method, b, until)
}

// leftover are the cards that Slack's rate limits delay.
type leftover struct {
	first   *short // the earliest turn of a card that must be drawn; nil if there is none
	skipped int    // cards that only show progress; the task's next revision or the sweeper draws them
}

// add records a card that the rate limits delay. It returns false for any other error.
func (l *leftover) add(err error, u urgency) bool {
	var s short
	if !errors.As(err, &s) {
		return false
	}
	if u == progress {
		l.skipped++
	} else if l.first == nil || s.Until.Before(l.first.Until) {
		l.first = &s
	}
	return true
}

// wait decides what happens to a message whose cards wait for Slack's rate limits: it returns later, or nil if the
// sweeper will request the cards. The task reserves a turn and keeps it, so that tasks are drawn in the order of
// arrival, and none is sent around more often than it must.
func (d *drawing) wait(ctx context.Context, s short) error {
	now := d.Now()
	if s.Until.Sub(now) > mostHeld {
		return later{mostHeld, slacksPace}
	}
	place := d.head.DrawAt
	if place == nil || now.Sub(*place) > turnLasts || s.InTurn && place.Sub(now) > mostShort {
		at, err := d.Pace.JoinLine(ctx, s.From, s.Spare, now)
		if err == nil {
			err = d.Store.DrawAt(ctx, d.ref, at, at.Sub(now) > longLine)
		}
		if err != nil {
			slog.WarnContext(ctx, "no place in line", d.ref.Log(), "budget", s.From.Name, "err", err)
			return later{min(s.Until.Sub(now), mostShort), slacksPace}
		}
		place = &at
	}
	turn := place.Sub(now)
	if turn > longLine {
		slog.InfoContext(ctx, "left to the sweeper", d.ref.Log(), "rev", d.head.Rev, "budget", s.From.Name,
			"seconds", int(turn.Seconds()))
		return nil
	}
	return later{max(s.Until.Sub(now), turn), slacksPace}
}

func paceScale(text string) (float64, error) {
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil || !(scale > 0) {
		return 0, fmt.Errorf("SLACK_PACE must be a number above 0, not %.20q", text)
	}
	return scale, nil
}

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
