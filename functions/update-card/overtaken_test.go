package main

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
)

// meanwhile is a table in which something happens between drawing and saving.
type meanwhile struct {
	Rows
	do func()
}

func (m meanwhile) PostedCard(
	ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head,
) error {
	if all != nil {
		m.do()
	}
	return m.Rows.PostedCard(ctx, ref, key, by, messageTS, channel, hash, all)
}

// The approvers change while the gate's card is being drawn with the old settings.
func testRedrawMeanwhile(t *testing.T, w *world) {
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	x := tenancy.DefaultSettings()
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Tanaka}}
	w.h.Rows = meanwhile{w.Store, func() {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: slacktest.Team}
		expect.Value(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, x, by, w.Now()))(t)
	}}
	w.done()
	if a := w.Load(); !a.Effects(w.Now()).Cards {
		t.Fatalf("rev %d, shown %d: neither the relay nor the sweeper draws it again", a.Head.Rev, a.Head.ShownRev)
	}
	w.h.Rows = w.Store
	w.done()
	w.shows("勤怠", webapi.Tanaka)
	if a := w.Load(); a.Effects(w.Now()).Cards {
		t.Error("it is drawn for ever")
	}
}

// earlier reads an aggregate as it was.
type earlier struct {
	Store
	was *task.Aggregate
}

func (s earlier) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return s.was, nil
}

// between does something before it saves what a message shows.
type between struct {
	Rows
	do func()
}

func (b between) ShownCard(
	ctx context.Context, ref aggregate.Ref, c *aggregate.Card, by, hash string, all *aggregate.Head,
) error {
	b.do()
	return b.Rows.ShownCard(ctx, ref, c, by, hash, all)
}

// A drawing that read the task earlier updates the message after the newer drawing did, and before that one saves what
// the message shows.
func testTwoUpdatesAtOnce(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	store, older := w.h.Store, earlier{w.h.Store, w.Load()}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team}
		return a.End(by, tenancy.DefaultSettings().Policy(slacktest.Team), w.Now())
	})
	w.h.Rows = between{w.Store, func() {
		w.h.Store, w.h.Rows = older, w.Store
		expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head(), &receipt{}))
		w.h.Store = store
	}}
	expect.That(t, !w.deliver(), "the newer drawing has saved its content, which the message no longer shows")
	expect.That(t, w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws the card again")
	w.done()
	w.shows("キャンセル")
}

// beforeUpdate does something just before each update.
type beforeUpdate struct {
	Slack
	do func()
}

func (b beforeUpdate) Update(
	ctx context.Context, channel, ts string, m card.Message, about slackapi.Metadata,
) error {
	b.do()
	return b.Slack.Update(ctx, channel, ts, m, about)
}

// together draws the card for rows as they were, and wholly as they are just before the first drawing's update.
func (w *world) together(store Store, r *receipt, then func()) error {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team}
		return a.End(by, tenancy.DefaultSettings().Policy(slacktest.Team), w.Now())
	})
	other := w.handler()
	other.Store = store
	other.Slack = beforeUpdate{w.slack.Client, func() {
		expect.NoError(w.T, w.h.draw(w.T.Context(), w.Ref, w.head(), &receipt{}))
		then()
	}}
	return other.draw(w.T.Context(), w.Ref, w.head(), r)
}

// receipts are those of a message that is received for the first time, and for the second.
var receipts = map[string]receipt{"first": {}, "second": {doubts: true}}

func testOvertaken(first string) func(t *testing.T, w *world) {
	return func(t *testing.T, w *world) { testOvertakenAt(t, w, receipts[first]) }
}

func testOvertakenAt(t *testing.T, w *world, r receipt) {
	w.done()
	w.Extracted()
	err := w.together(earlier{w.h.Store, w.Load()}, &r, func() {
		w.shows("キャンセル")
		w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Lost})
	})
	expect.That(t, err != nil, "the update's answer was not lost")
	expect.That(t, w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws the card again")
	w.done()
	w.shows("キャンセル")
}

// late draws for the rows as they are, and wholly once more after the task has ended: between its query and its first
// call. The card must show the end, or be drawn again.
func (w *world) late(r *receipt, then func()) {
	w.T.Helper()
	was := w.Load()
	other := w.handler()
	other.Store = earlier{w.h.Store, was}
	asked := w.head()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team}
		return a.End(by, tenancy.DefaultSettings().Policy(slacktest.Team), w.Now())
	})
	expect.NoError(w.T, w.h.draw(w.T.Context(), w.Ref, w.head(), &receipt{}))
	then()
	err := other.draw(w.T.Context(), w.Ref, asked, r)
	expect.That(w.T, err != nil || w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws it again")
	for range 3 {
		w.deliver()
	}
}

func testForgotLater(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	w.late(&receipt{doubts: true}, func() { w.shows("キャンセル") })
	w.shows("キャンセル")
}

func testForgotLaterAmongMany(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	s.MaxVersions = 20
	w.Last = false
	w.Extracted()
	for range mostDoubted {
		p := w.Draft(s).Prompt()
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return decide.Reject("もっと短く")(a, p.ID, w.By, s.Policy(slacktest.Team), w.Now())
		})
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	for range 3 {
		w.deliver()
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, "方針", s, w.Now())
	})
	w.late(&receipt{}, func() {})
	expect.That(t, len(w.Load().Cards) > mostDoubted, "%d cards", len(w.Load().Cards))
	for _, m := range w.slack.Thread(t, webapi.HR, w.root) {
		said := string(expect.Value(json.Marshal(m))(t))
		expect.That(t, !strings.Contains(said, "approve_prompt"), "a button is left: %s", said)
	}
}

func testPostsAnewLater(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	w.late(&receipt{}, func() {
		c := w.Load().Cards[0]
		expect.NoError(t, w.slack.Client.Delete(t.Context(), c.Channel, c.MessageTS))
	})
	w.shows("キャンセル")
}

func testEqualUpdates(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	expect.NoError(t, w.together(w.h.Store, &receipt{doubts: true}, func() {}))
	expect.That(t, !w.Load().Effects(w.Now()).Cards, "the card is drawn a third time")
}

// What backlogged simulates of the table, of Slack's pace and of Slack.

func (b *backlogged) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	defer b.locked()()
	a := *b.tasks[ref.ID].a
	return &a, nil
}

func (b *backlogged) Opened(_ context.Context, a *task.Aggregate, _ string) (*task.Aggregate, error) {
	return a, nil
}

func (b *backlogged) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

func (b *backlogged) DelegationsOf(context.Context, string, string) ([]tenancy.Delegation, error) {
	return nil, nil
}

func (b *backlogged) Shown(_ context.Context, ref aggregate.Ref, h aggregate.Head) error {
	defer b.locked()()
	w := b.tasks[ref.ID]
	w.a.Head.ShownRev, w.a.Head.DrawAt, w.drawn = h.Rev, nil, time.Now()
	b.left--
	return nil
}

func (b *backlogged) DrawAt(_ context.Context, ref aggregate.Ref, at time.Time, due bool) error {
	defer b.locked()()
	w := b.tasks[ref.ID]
	w.a.Head.DrawAt = &at
	if due && at.Before(w.due) {
		w.due = at
	}
	return nil
}

func (b *backlogged) ForgetCard(context.Context, aggregate.Ref, *aggregate.Card, string) error {
	return nil
}

func (b *backlogged) ShownCard(ctx context.Context, ref aggregate.Ref, _ *aggregate.Card, _, hash string,
	all *aggregate.Head) error {
	func() {
		defer b.locked()()
		b.tasks[ref.ID].a.Cards[0].Hash = hash
	}()
	if all != nil {
		return b.Shown(ctx, ref, *all)
	}
	return nil
}

func (b *backlogged) Update(_ context.Context, channel, _ string, _ card.Message, _ slackapi.Metadata) error {
	if channel != "T1" || !time.Now().Before(b.hangs) {
		return nil
	}
	func() {
		defer b.locked()()
		b.hung++
	}()
	time.Sleep(slackTimeout)
	return slackapi.Unknown{Cause: "timeout"}
}

func (b *backlogged) pace(x records.Budget) *paper {
	key := x.Workspace + x.Name + x.Prefix
	if b.paces[key] == nil {
		b.paces[key] = &paper{lines: map[int]time.Time{}}
	}
	return b.paces[key]
}

func (b *backlogged) TakePace(_ context.Context, x records.Budget, spare int, now time.Time) (time.Time, error) {
	defer b.locked()()
	p := b.pace(x)
	if nth := x.Calls - 1 - spare; len(p.calls) > nth && p.calls[nth].Add(x.Window).After(now) {
		return p.calls[nth].Add(x.Window), nil
	}
	p.calls = append([]time.Time{now}, p.calls[:min(len(p.calls), x.Calls-1)]...)
	return time.Time{}, nil
}

func (b *backlogged) JoinLine(_ context.Context, x records.Budget, spare int, now time.Time) (time.Time, error) {
	defer b.locked()()
	p, apart := b.pace(x), x.Window/time.Duration(x.Calls-spare)
	if p.lines[spare].Before(now) {
		p.lines[spare] = now
	}
	p.lines[spare] = p.lines[spare].Add(apart)
	return p.lines[spare], nil
}

func (b *backlogged) TakeCalls(ctx context.Context, now time.Time, takes ...records.Take) (
	s records.Short, err error,
) {
	for _, t := range takes {
		if t.N == 0 { // progress: others have used up what it would need later
			return records.Short{Take: t, Until: now.Add(t.From.Window)}, nil
		}
		if until, err := b.TakePace(ctx, t.From, t.Spare, now); err != nil || !until.IsZero() {
			return records.Short{Take: t, Until: until}, err
		}
	}
	return records.Short{}, nil
}

func (b *backlogged) HoldPace(context.Context, records.Budget, time.Time) error { return nil }

func (b *backlogged) SilentSince(_ context.Context, workspace string, now time.Time) (since time.Time, err error) {
	defer b.locked()()
	if p := b.pace(records.Budget{Workspace: workspace}); now.Before(p.until) {
		since = p.since
	}
	return since, nil
}

func (b *backlogged) NoteSilence(_ context.Context, workspace string, now, until time.Time) error {
	defer b.locked()()
	p := b.pace(records.Budget{Workspace: workspace})
	if p.until = until; p.since.IsZero() {
		p.since = now
	}
	return nil
}

func (b *backlogged) NoteAnswer(_ context.Context, workspace string) error {
	defer b.locked()()
	p := b.pace(records.Budget{Workspace: workspace})
	p.since, p.until = time.Time{}, time.Time{}
	return nil
}

// Team fails, so that no workspace is refused here.
func (*backlogged) Team(context.Context) (string, error) {
	return "", slackapi.Refused{Code: slackapi.CodeUnknownMethod}
}

func (*backlogged) Tenant(context.Context, string) (tenancy.Tenant, error) {
	return tenancy.Tenant{}, aggregate.ErrNotFound
}

func (b *backlogged) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	defer b.locked()()
	b.sent++
	b.most = max(b.most, saying(*in.MessageBody).Hops)
	b.queue = append(b.queue, &letter{group: *in.MessageGroupId, body: *in.MessageBody, id: strconv.Itoa(b.sent)})
	return &sqs.SendMessageOutput{}, nil
}

func (b *backlogged) Redraw(context.Context, aggregate.Ref) error { return nil }
