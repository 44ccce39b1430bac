package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/slackstate"
	"ringi/shared/store/storetest"
)

// counted counts the writes that take calls.
type counted struct {
	Pace
	writes, refused int
	lent            time.Time // when a share was given last
}

func (c *counted) TakeCalls(ctx context.Context, now time.Time, takes ...slackstate.Take) (slackstate.Short, error) {
	c.writes++
	return c.Pace.TakeCalls(ctx, now, takes...)
}

func (c *counted) TakeShare(
	ctx context.Context, now time.Time, s slackstate.Share, takes ...slackstate.Take,
) (bool, error) {
	given, err := c.Pace.TakeShare(ctx, now, s, takes...)
	if c.writes++; given {
		c.lent = now
	} else {
		c.refused++
	}
	return given, err
}

// drawn is a drawing of one workspace: it takes calls as a drawing of cards does.
type drawn struct {
	after   time.Duration
	method  string
	as      []urgency // of each card
	channel string
}

// drawAt takes a drawing's calls in a process, and returns the urgencies that were not refused.
func drawAt(t *testing.T, h *Handler, x drawn) (made []urgency) {
	t.Helper()
	d := &drawing{Handler: h, place: Place{Team: slacktest.Team}, urgency: map[string]urgency{},
		blocked: map[string]short{}, paid: map[string]string{}}
	expect.NoError(t, d.reach(t.Context()))
	var cards []*aggregate.Card
	for i, u := range x.as {
		c := &aggregate.Card{ID: fmt.Sprint(i), CardType: "TASK", Subject: fmt.Sprint(i), Channel: x.channel}
		if x.method == methodUpdate {
			c.MessageTS = "1.1"
		}
		d.urgency[c.Key()], cards = u, append(cards, c)
	}
	d.prepay(t.Context(), cards)
	for i, c := range cards {
		if d.take(t.Context(), c, x.method) == nil {
			made = append(made, x.as[i])
		}
	}
	return made
}

// A request whose models take ten seconds and whose people take minutes: of twelve drawings that call Slack four post,
// the others update cards.
func TestAShareSavesWrites(t *testing.T) {
	db := storetest.Start(t)
	request := []drawn{
		{0, methodPost, []urgency{settled}, "C1"}, {10, methodUpdate, []urgency{progress}, "C1"}, {21, methodPost, []urgency{asks}, "C1"},
		{81, methodUpdate, []urgency{settled}, "C1"}, {92, methodPost, []urgency{asks}, "C1"}, {152, methodUpdate, []urgency{settled}, "C1"},
		{153, methodPost, []urgency{progress}, "C1"}, {156, methodUpdate, []urgency{progress}, "C1"},
		{160, methodUpdate, []urgency{progress}, "C1"}, {164, methodUpdate, []urgency{progress}, "C1"},
		{168, methodUpdate, []urgency{progress}, "C1"}, {172, methodUpdate, []urgency{asks, settled}, "C1"},
	}
	for processes, want := range map[int]int{1: 6, 2: 11, 4: 12} {
		w := newWorld(t, db)
		row := &counted{Pace: slackstate.Of(w.Store.Table())}
		var all []*Handler
		for range processes {
			all = append(all, &Handler{Now: w.Now, NewID: aggregate.NewID, Pace: row, PaceScale: 1})
		}
		began := w.Now()
		for i, x := range request {
			w.Later(began.Add(x.after * time.Second).Sub(w.Now()))
			made := drawAt(t, all[i%processes], x)
			expect.That(t, len(made) == len(x.as), "drawing %d: %v", i, made)
		}
		t.Logf("%d processes: %d writes for %d drawings, %d refused", processes, row.writes, len(request), row.refused)
		expect.That(t, row.writes <= want && row.refused == 0, "%d processes: %d writes", processes, row.writes)
	}
}

// However many processes draw for a workspace, and however many of them have had a share, they make no more calls than
// Slack allows: 50 updates in any minute, ten in any window, and three posts in the window of a channel. What asks waits
// only when so many were made, or while one process has a share, so many besides the share. A share takes nothing from
// progress.
func TestSharesKeepSlacksPace(t *testing.T) {
	expect.Patience(t)
	db := storetest.Start(t)
	for seed := range uint64(6) {
		s := &sharing{T: t, world: newWorld(t, db), random: rand.New(rand.NewPCG(seed, 26)), made: map[string][]time.Time{}}
		s.row = &counted{Pace: slackstate.Of(s.Store.Table())}
		for range []int{1, 2, 5, 20}[seed%4] {
			s.all = append(s.all, &Handler{Now: s.Now, NewID: aggregate.NewID, Pace: s.row, PaceScale: 1})
		}
		for i := range 300 {
			mean := 3 * time.Second
			if i%100 >= 50 { // a rush
				mean = 300 * time.Millisecond
			}
			s.Later(time.Duration(s.random.ExpFloat64() * float64(mean)).Truncate(time.Millisecond))
			s.draws()
		}
		t.Logf("%d processes: %d updates, %d free drawings, %d writes, %d refused a share", len(s.all),
			len(s.made[methodUpdate]), s.free, s.row.writes, s.row.refused)
		expect.That(t, s.free > 0, "no share was used")
	}
}

// sharing is a workspace for which several processes draw.
type sharing struct {
	*testing.T
	*world
	random *rand.Rand
	row    *counted
	all    []*Handler
	made   map[string][]time.Time // by method, posts also by the channel's slot
	free   int                    // drawings without a write
}

func (s *sharing) within(of string, d time.Duration) int {
	n, _ := slices.BinarySearchFunc(s.made[of], s.Now().Add(-d+1), time.Time.Compare)
	return len(s.made[of]) - n
}

// draws draws a card in some process.
func (s *sharing) draws() {
	x := drawn{0, methodUpdate, []urgency{urgency(s.random.IntN(3))}, fmt.Sprint("C", s.random.IntN(6))}
	of, window := []string{methodUpdate}, updateWindow
	most := []int{asks: 10, settled: 8, progress: 5}
	beside := []int{asks: 7, settled: 5, progress: 5}
	if s.random.IntN(3) == 0 {
		x.method, x.as[0], window = methodPost, urgency(s.random.IntN(2)), postWindow
		of = []string{fmt.Sprint("slot ", slotOf(x.channel)), methodPost}
		most, beside = []int{asks: 3, settled: 2}, []int{asks: 2, settled: 2}
	}
	before, writes := s.within(of[0], window), s.row.writes
	if s.Now().Sub(s.row.lent) < shareLasts+updateWindow {
		most = beside
	}
	if len(drawAt(s.T, s.all[s.random.IntN(len(s.all))], x)) == 0 {
		all := s.within(methodPost, allPostWindow)
		expect.Must(s.T, before >= most[x.as[0]] || x.method == methodPost && all >= 5,
			"urgency %d is refused after %d of %v", x.as[0], before, of)
		return
	}
	if s.row.writes == writes {
		s.free++
	}
	for _, name := range of {
		s.made[name] = append(s.made[name], s.Now())
	}
	expect.Must(s.T, s.within(methodUpdate, updateWindow) <= updates && s.within(methodUpdate, time.Minute) <= 50 &&
		s.within(of[0], window) <= map[string]int{methodUpdate: updates, methodPost: posts}[x.method] &&
		s.within(methodPost, allPostWindow) <= allPosts, "too many calls: %v", s.made)
}

// What Slack refuses to one process ends the share of another: at once where that is told by Slack, and where the row
// tells it, when the process looks there next.
func TestAShareEndsWhenSlackRefuses(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.paced(0)
	w.done()
	first := w.h
	pays := func() bool {
		return first.shares.pay([]slackstate.Take{{From: first.updates(slacktest.Team), N: 1}}, w.Now())
	}
	expect.That(t, pays(), "the first drawing took no share")
	w.Extracted()
	w.h = w.handler()
	w.paced(0)
	w.slack.Faults.Add(webapi.Fault{Method: methodUpdate, Kind: webapi.RateLimited, RetryAfter: 8 * time.Second})
	w.deliver()
	expect.That(t, pays(), "nobody has told it yet")
	w.Later(answersLast)
	w.h = first
	w.slack.Calls()
	w.deliver()
	expect.That(t, len(w.slack.Calls()) == 0, "it asked all the same")
	expect.That(t, !pays(), "it goes on with its share")
	w.Later(8 * time.Second)
	w.Draft(tenancy.DefaultSettings())
	w.done()
	w.shows("勤怠", "approve_prompt")
	w.Approve()
	w.slack.Faults.Add(webapi.Fault{Method: methodUpdate, Kind: webapi.RateLimited, RetryAfter: 8 * time.Second})
	w.deliver()
	expect.That(t, !pays(), "it goes on with its share after Slack has refused it an update")
}
