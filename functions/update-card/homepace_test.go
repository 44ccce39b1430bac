package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// Home tabs are published no faster than Slack allows, and those that were just opened come first.
func TestHomeTabsKeepSlacksPace(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	now := w.Now()
	h := w.handler()
	h.Pace, h.PaceScale = records.NotesOf(w.Store.Table()), 1
	may := func(kept int) bool {
		var waits later
		err := h.mayPublish(t.Context(), records.OpenHome{Team: slacktest.Team, User: "U1"}, kept, now.Add(time.Second))
		expect.Must(t, err == nil || errors.As(err, &waits), "%v", err)
		return err == nil
	}
	b := records.Budget{Workspace: slacktest.Team, Name: methodPublish, Calls: publishes, Window: publishingWindow}
	for n := range publishes - publishesKept {
		until := expect.Value(records.NotesOf(w.Store.Table()).TakePace(t.Context(), b, 0, now))(t)
		expect.Must(t, until.IsZero(), "call %d waits until %v", n+1, until)
	}
	expect.That(t, !may(publishesKept), "a tab that follows takes what is kept for those that are opened")
	for range publishesKept {
		expect.That(t, may(0), "a tab that was opened waits")
	}
	expect.That(t, !may(0), "one more is published at once")
}

// A tab that fails repeatedly stops delaying the others of its tenant.
func TestATabThatCantBePublishedStays(t *testing.T) {
	failed, waits := errors.New("no answer"), later{time.Second, slacksPace}
	for name, tt := range map[string]struct {
		receives string
		err      error
		want     bool
	}{
		"at the fifth failure": {"5", failed, true}, "not at the fourth": {"4", failed, false},
		"not one that waits": {"50", waits, false}, "not one that was published": {"5", nil, false},
	} {
		got := stays(events.SQSMessage{Attributes: map[string]string{"ApproximateReceiveCount": tt.receives}}, tt.err)
		expect.That(t, got == tt.want, "%s: %v", name, got)
	}
}

// unreadable is a store whose settings can't be read.
type unreadable struct{ Store }

func (unreadable) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.Settings{}, errors.New("AccessDeniedException")
}

// TestATabThatIsRefusedForGoodLeavesTheQueue, even one that was just opened, which is requested once more with the next
// ones.
func TestATabThatIsRefusedForGoodLeavesTheQueue(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.withHomes()
	w.h.Store = unreadable{w.h.Store}
	expect.NoError(t, records.NotesOf(w.Store.Table()).HomeOpened(t.Context(), w.Ref.Tenant,
		records.OpenHome{Team: slacktest.Team, User: "U1", OpenedAt: w.Now()}))
	body := fmt.Sprintf(`{"tenant":%q,"kind":"home","id":"U1"}`, w.Ref.Tenant)
	for _, again := range []int{1, 0} { // just opened, and requested again with the next ones
		w.queue.sent = nil
		receives := 0
		for left := false; !left; receives++ {
			expect.Must(t, receives != 10, "it is given back for ever")
			r := events.SQSMessage{MessageId: "1", Body: body,
				Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(receives + 1)}}
			left = len(expect.Value(w.h.Handle(t.Context(),
				events.SQSEvent{Records: []events.SQSMessage{r}}))(t).BatchItemFailures) == 0
		}
		expect.Must(t, receives == homeTries && len(w.queue.sent) == again,
			"left the queue after %d receives, asked for %d times more", receives, len(w.queue.sent))
		if again > 0 {
			body = *w.queue.sent[0].MessageBody
			w.Later(2 * records.HomeEvery)
		}
	}
}

// looking is a queue whose groups keep their order, with a tenant's people who have their tabs open.
type looking struct {
	Queue
	t               *testing.T
	open            []records.OpenHome
	clock           time.Time
	sent            map[string]bool
	queue           []*queued
	published       []time.Time
	slowest, behind time.Duration // the longest delay of a card, and of a tab
	since           time.Time     // the tabs that are requested now must show a card drawn at this time
	cards, calls    int           // calls of the queue that request tabs
}

// queued requests a card or, after a time, a tab.
type queued struct {
	group         string
	since, after  time.Time
	hidden        time.Time
	tab, finished bool
	all           *events.SQSMessage // of tabs
}

// The time that a lane spends on drawing a card, on reading and publishing a tab, on requesting tabs, and on returning
// a message.
const drawsCard, drawsTab, asksForTabs, givesBack = 300 * time.Millisecond, 600 * time.Millisecond,
	200 * time.Millisecond, 20 * time.Millisecond

const tenantOfTabs = "01KPM7NHJ0XF4MRVP1FW3WQ3T9"

func (l *looking) OpenHome(context.Context, string, string) (records.OpenHome, error) {
	return records.OpenHome{}, nil
}

func (l *looking) OpenHomes(context.Context, string, int) ([]records.OpenHome, error) {
	return l.open, nil
}

func (l *looking) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	l.calls++
	m := &queued{since: l.clock, tab: true}
	if ref := saying(*in.MessageBody).Ref; ref.Kind == effect.Homes {
		m.all = &events.SQSMessage{Body: *in.MessageBody}
	}
	l.send(m, *in.MessageGroupId, *in.MessageDeduplicationId, *in.MessageBody)
	return &sqs.SendMessageOutput{}, nil
}

func (l *looking) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	l.calls++
	for _, e := range in.Entries {
		l.send(&queued{since: l.since, tab: true}, *e.MessageGroupId, *e.MessageDeduplicationId, *e.MessageBody)
	}
	return &sqs.SendMessageBatchOutput{}, nil
}

// send puts a message into the queue unless an equal one was sent.
func (l *looking) send(m *queued, group, deduplication, body string) {
	if one := group + deduplication; !l.sent[one] {
		l.sent[one] = true
		m.group, m.after = group, saying(body).After
		l.queue = append(l.queue, m)
	}
}

// next returns the oldest message that may be received: the first of its group.
func (l *looking) next() *queued {
	seen := map[string]bool{}
	for _, m := range l.queue {
		if !seen[m.group] && !l.clock.Before(m.hidden) {
			return m
		}
		seen[m.group] = true
	}
	return nil
}

// deal handles a message in a lane, and returns how long that takes.
func (l *looking) deal(ctx context.Context, h *Handler, m *queued) time.Duration {
	nth := len(l.published) - (publishes - publishesKept)
	switch {
	case !m.tab:
		l.slowest, m.finished, m.hidden = max(l.slowest, l.clock.Sub(m.since)), true, l.clock.Add(drawsCard)
		h.homes(ctx, tenantOfTabs)
		return drawsCard
	case l.clock.Before(m.after):
		m.hidden = m.after
		return givesBack
	case m.all != nil:
		l.since, m.finished, m.hidden = m.since, true, l.clock.Add(asksForTabs)
		expect.NoError(l.t, h.eachHome(ctx, tenantOfTabs, m.after, *m.all))
		return asksForTabs
	case nth >= 0 && l.clock.Before(l.published[nth].Add(publishingWindow)):
		m.hidden = l.published[nth].Add(publishingWindow)
		return givesBack
	}
	l.behind, m.finished, m.hidden = max(l.behind, l.clock.Sub(m.since)), true, l.clock.Add(drawsTab)
	l.published = append(l.published, l.clock)
	return drawsTab
}

// Many people have their tabs open while a card is to be drawn every two seconds.
func TestCardsDontWaitBehindTheTabsOfManyPeople(t *testing.T) {
	const lanes = 5
	for _, people := range []int{10, 46, 100} {
		l := &looking{t: t, clock: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), sent: map[string]bool{}}
		for n := range people {
			l.open = append(l.open, records.OpenHome{Team: "T1", User: fmt.Sprintf("U%d", n)})
		}
		h := &Handler{Queue: l, Homes: &Homes{Rows: l}, Now: func() time.Time { return l.clock }}
		free := make([]time.Time, lanes)
		for began := l.clock; l.clock.Sub(began) < 5*time.Minute; l.clock = l.clock.Add(10 * time.Millisecond) {
			if l.clock.Sub(began) >= time.Duration(l.cards)*2*time.Second {
				l.queue = append(l.queue, &queued{group: fmt.Sprintf("task-%d", l.cards), since: l.clock})
				l.cards++
			}
			l.queue = slices.DeleteFunc(l.queue, func(m *queued) bool { return m.finished && !l.clock.Before(m.hidden) })
			for i := range free {
				if m := l.next(); m != nil && !l.clock.Before(free[i]) {
					free[i] = l.clock.Add(l.deal(t.Context(), h, m))
				}
			}
		}
		t.Logf("%d people look: %d cards, each waited %s at most; %d tabs were published, asked for by %d calls, %s behind at most, %d wait",
			people, l.cards, l.slowest, len(l.published), l.calls, l.behind, len(l.queue))
		// Each of five lanes sends one message in a period. The first one that is received afterwards requests each
		// tab, ten in a call.
		stretch := records.HomeEvery * time.Duration((people+homesAtOnce-1)/homesAtOnce)
		if most := int(5*time.Minute/stretch+1) * (1 + (people+9)/10); l.calls > most {
			t.Errorf("%d people look: tabs were asked for by %d calls, more than %d", people, l.calls, most)
		}
		expect.That(t, l.behind <= 2*stretch, "%d people look: a tab was %s behind", people, l.behind)
		expect.That(t, l.slowest <= 500*time.Millisecond, "%d people look: a card waited %s", people, l.slowest)
		expect.That(t, len(l.queue) <= 2*people, "%d people look: %d tabs wait, more than a round", people, len(l.queue))
	}
}
