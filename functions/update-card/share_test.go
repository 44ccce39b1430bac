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
	after  time.Duration
	method string
	as     []urgency // of each card
}

// drawAt takes a drawing's calls in a process, and returns the urgencies that were not refused.
func drawAt(t *testing.T, h *Handler, x drawn) (made []urgency) {
	t.Helper()
	d := &drawing{Handler: h, place: Place{Team: slacktest.Team}, urgency: map[string]urgency{},
		blocked: map[string]short{}, paid: map[string]string{}}
	expect.NoError(t, d.reach(t.Context()))
	var cards []*aggregate.Card
	for i, u := range x.as {
		c := &aggregate.Card{ID: fmt.Sprint(i), CardType: "TASK", Subject: fmt.Sprint(i), Channel: "C1"}
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
		{0, methodPost, []urgency{settled}}, {10, methodUpdate, []urgency{progress}}, {21, methodPost, []urgency{asks}},
		{81, methodUpdate, []urgency{settled}}, {92, methodPost, []urgency{asks}}, {152, methodUpdate, []urgency{settled}},
		{153, methodPost, []urgency{progress}}, {156, methodUpdate, []urgency{progress}},
		{160, methodUpdate, []urgency{progress}}, {164, methodUpdate, []urgency{progress}},
		{168, methodUpdate, []urgency{progress}}, {172, methodUpdate, []urgency{asks, settled}},
	}
	for processes, want := range map[int]int{1: 8, 4: 12} {
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

// However many processes draw for a workspace, and however many of them have had a share, they make no more updates
// than Slack allows: 50 in any minute, and ten in any window. What asks waits only when seven were made in a window while
// somebody has a share, and ten otherwise. A share takes nothing from progress.
func TestSharesKeepSlacksPace(t *testing.T) {
	expect.Patience(t)
	db := storetest.Start(t)
	for seed := range uint64(6) {
		processes := []int{1, 2, 5, 20}[seed%4]
		random := rand.New(rand.NewPCG(seed, 26))
		w := newWorld(t, db)
		row := &counted{Pace: slackstate.Of(w.Store.Table())}
		var all []*Handler
		for range processes {
			all = append(all, &Handler{Now: w.Now, NewID: aggregate.NewID, Pace: row, PaceScale: 1})
		}
		var made []time.Time
		within := func(d time.Duration) int {
			n, _ := slices.BinarySearchFunc(made, w.Now().Add(-d+1), time.Time.Compare)
			return len(made) - n
		}
		free := 0
		for i := range 300 {
			mean := 3 * time.Second
			if i%100 >= 50 { // a rush
				mean = 400 * time.Millisecond
			}
			w.Later(time.Duration(random.ExpFloat64() * float64(mean)).Truncate(time.Millisecond))
			x := drawn{method: methodUpdate, as: []urgency{urgency(random.IntN(3))}}
			before, writes := within(updateWindow), row.writes
			n := len(drawAt(t, all[random.IntN(processes)], x))
			if n > 0 && row.writes == writes {
				free++
			}
			most := []int{asks: 10, settled: 8, progress: 5}
			if w.Now().Sub(row.lent) < shareLasts+updateWindow {
				most = []int{asks: 7, settled: 5, progress: 5}
			}
			expect.Must(t, n > 0 || before >= most[x.as[0]], "urgency %d is refused after %d updates", x.as[0], before)
			for range n {
				made = append(made, w.Now())
			}
			expect.Must(t, within(updateWindow) <= updates && within(time.Minute) <= 50,
				"%d updates in a window, %d in a minute", within(updateWindow), within(time.Minute))
		}
		t.Logf("%d processes: %d updates, %d of shares, %d writes, %d refused a share", processes, len(made), free,
			row.writes, row.refused)
		expect.That(t, free > 0, "no share was used")
	}
}

// What Slack refuses to one process ends the share of another: at once where that is told by Slack, and where the row
// tells it, when the process looks there next.
func TestAShareEndsWhenSlackRefuses(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.paced(0)
	w.done()
	first := w.h
	pays := func() bool { return first.shares.pay(first.updates(slacktest.Team), 1, w.Now()) }
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
