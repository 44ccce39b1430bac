package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

// meanwhile is a table in which something happens between drawing and saving.
type meanwhile struct {
	Store
	do func()
}

func (m meanwhile) PostedCard(
	ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head,
) error {
	if all != nil {
		m.do()
	}
	return m.Store.PostedCard(ctx, ref, key, by, messageTS, channel, hash, all)
}

// The approvers change while the gate's card is being drawn with the old settings.
func testRedrawMeanwhile(t *testing.T, w *world) {
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	x := tenancy.DefaultSettings()
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Tanaka}}
	w.h.Store = meanwhile{w.h.Store, func() {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: slacktest.Team}
		expect.Value(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, x, by, w.Now()))(t)
	}}
	w.done()
	if a := w.Load(); !a.Effects(w.Now()).Cards {
		t.Fatalf("rev %d, shown %d: neither the relay nor the sweeper draws it again", a.Head.Rev, a.Head.ShownRev)
	}
	w.h.Store = w.Store.KindStore.Store
	w.done()
	w.shows("勤怠", webapi.Tanaka)
	expect.That(t, !w.Load().Effects(w.Now()).Cards, "it is drawn for ever")
}

// earlier reads an aggregate as it was.
type earlier struct {
	Store
	was *task.Aggregate
}

func (s earlier) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) { return s.was, nil }

// between does something before it saves what a message shows.
type between struct {
	Store
	do func()
}

func (b between) ShownCard(
	ctx context.Context, ref aggregate.Ref, c *aggregate.Card, hash string, all *aggregate.Head,
) error {
	b.do()
	return b.Store.ShownCard(ctx, ref, c, hash, all)
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
	w.h.Store = between{w.h.Store, func() {
		w.h.Store = older
		expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head(), first))
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

func (b beforeUpdate) Update(ctx context.Context, channel, ts string, m card.Message, about slackapi.Metadata) error {
	b.do()
	return b.Slack.Update(ctx, channel, ts, m, about)
}

// together draws the card for rows as they were, and wholly as they are just before the first drawing's update.
func (w *world) together(store Store, then func()) error {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team}
		return a.End(by, tenancy.DefaultSettings().Policy(slacktest.Team), w.Now())
	})
	other := w.handler()
	other.Store = store
	other.Slack = beforeUpdate{w.slack.Client, func() {
		expect.NoError(w.T, w.h.draw(w.T.Context(), w.Ref, w.head(), first))
		then()
	}}
	return other.draw(w.T.Context(), w.Ref, w.head(), first)
}

func testOvertaken(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	err := w.together(earlier{w.h.Store, w.Load()}, func() {
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
func (w *world) late(then func()) {
	w.T.Helper()
	was := w.Load()
	other := w.handler()
	other.Store = earlier{w.h.Store, was}
	asked := w.head()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team}
		return a.End(by, tenancy.DefaultSettings().Policy(slacktest.Team), w.Now())
	})
	expect.NoError(w.T, w.h.draw(w.T.Context(), w.Ref, w.head(), first))
	then()
	err := other.draw(w.T.Context(), w.Ref, asked, first)
	expect.That(w.T, err != nil || w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws it again")
	for range 3 {
		w.deliver()
	}
}

const manyCards = 10

func testForgotLaterAmongMany(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	s.MaxVersions = 20
	w.Last = false
	w.Extracted()
	for range manyCards {
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
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, s, w.Now())
	})
	w.late(func() {})
	expect.That(t, len(w.Load().Cards) > manyCards, "%d cards", len(w.Load().Cards))
	for _, m := range w.slack.Thread(t, webapi.HR, w.root) {
		said := string(expect.Value(json.Marshal(m))(t))
		expect.That(t, !strings.Contains(said, "approve_prompt"), "a button is left: %s", said)
	}
}

func testPostsAnewLater(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	err := w.together(earlier{w.h.Store, w.Load()}, func() {
		c := w.Load().Cards[0]
		expect.NoError(t, w.slack.Client.Delete(t.Context(), c.Channel, c.MessageTS))
	})
	expect.That(t, err != nil, "it posts what it read earlier")
	w.done()
	w.shows("キャンセル")
}
