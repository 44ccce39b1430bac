package main

import (
	"context"
	"errors"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/card"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/task"
)

// beside brings the task's policy to its approval, and asks what a reply in its thread is meant to be.
func (w *world) beside(text string) (waits *task.Prompt, reply task.Ref) {
	w.t.Helper()
	waits = w.prompted()
	b, _ := w.load().BesideOf()
	ts := w.slack.Say(w.t, workspace.Sato, workspace.HR, text)
	c, reply, err := task.Receive(w.ref.Tenant, task.Request{
		TeamID: slacktest.Team, Text: text, User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel",
		MessageTS: ts, ThreadTS: w.root, Source: task.SourceChannel, EventID: "Ev2",
	}, w.clock)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Create(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
	_, err = w.store.Decide(w.t.Context(), reply, func(a *task.Aggregate) (task.Change, error) {
		return a.Ask(1, b, task.DefaultSettings(), w.clock)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return waits, reply
}

func (w *world) of(ref task.Ref) *task.Aggregate {
	w.t.Helper()
	a, err := w.store.Load(w.t.Context(), ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// chooses presses a button of the card that asks.
func (w *world) chooses(user, action string, reply task.Ref) {
	w.t.Helper()
	p := w.click(user, action, w.of(reply).Choice.ID)
	p["actions"].([]any)[0].(map[string]any)["block_id"] = reply.Task
	if out := w.post(p); out.StatusCode != 200 || out.Body != "" {
		w.t.Errorf("answered %d %s", out.StatusCode, out.Body)
	}
}

// dies is a store whose function dies before it decides on one task.
type dies struct {
	Store
	at task.Ref
}

func (d dies) Decide(ctx context.Context, ref task.Ref, decide func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error) {
	if ref == d.at {
		return nil, errors.New("the function is gone")
	}
	return d.Store.Decide(ctx, ref, decide)
}

// A message becomes a reason by two commits. When the second is lost the rejection counts,
// once; the same person's next click ends the message, and so it is when a new version
// has been drafted in between.
func testChoiceCutInTwo(t *testing.T, w *world) {
	waits, reply := w.beside("DM での連絡は不要です")
	whole := w.h.Store
	w.h.Store = dies{whole, reply}
	w.chooses(workspace.Suzuki, card.TakeAsReason, reply)
	rejected := func() *task.Aggregate {
		t.Helper()
		a := w.load()
		if p := a.Prompts[0]; p.ID != waits.ID || p.Status != task.Rejected || p.RejectedBy != workspace.Suzuki || p.RejectionReason != "DM での連絡は不要です" {
			t.Errorf("%+v", p)
		}
		return a
	}
	before := rejected()
	if a := w.of(reply); a.Choosing() == nil {
		t.Fatalf("the message was taken for %+v, ended %+v", a.Choice, a.Head.Ended)
	}
	w.h.Store = whole
	second := w.draft()
	w.chooses(workspace.Tanaka, card.TakeAsReason, reply) // another person can't make it theirs
	if a := w.of(reply); a.Choosing() == nil {
		t.Errorf("it was taken by another: %+v", a.Choice)
	}
	for range 2 {
		w.chooses(workspace.Suzuki, card.TakeAsReason, reply)
		a := w.of(reply)
		if e := a.Head.Ended; e == nil || e.As != task.TaskAnswered || e.Reason != task.ReasonBecameReason || a.Choice.DecidedBy != workspace.Suzuki {
			t.Fatalf("%+v, ended %+v", a.Choice, e)
		}
	}
	after := rejected()
	if len(after.Prompts) != 2 || after.Prompt().ID != second.ID || after.Prompt().Status != task.PendingApproval || after.Head.Run != before.Head.Run {
		t.Errorf("the next version is touched: %+v", after.Prompt())
	}
}

// What a second message says would be in no rejection: it stays open, to become a request.
func testSecondReason(t *testing.T, w *world) {
	_, first := w.beside("DM での連絡は不要です")
	gate := w.of(first).Choice.Beside
	ts := w.slack.Say(w.t, workspace.Sato, workspace.HR, "営業部だけにしてください")
	c, second, err := task.Receive(w.ref.Tenant, task.Request{
		TeamID: slacktest.Team, Text: "営業部だけにしてください", User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel",
		MessageTS: ts, ThreadTS: w.root, Source: task.SourceChannel, EventID: "Ev3",
	}, w.clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Decide(t.Context(), second, func(a *task.Aggregate) (task.Change, error) {
		return a.Ask(1, gate, task.DefaultSettings(), w.clock)
	}); err != nil {
		t.Fatal(err)
	}
	w.chooses(workspace.Suzuki, card.TakeAsReason, first)
	w.chooses(workspace.Suzuki, card.TakeAsReason, second)
	if a := w.of(second); a.Choosing() == nil {
		t.Errorf("the second message was taken for %+v, ended %+v; the reason is %q", a.Choice, a.Head.Ended, w.load().Prompts[0].RejectionReason)
	}
	w.chooses(workspace.Sato, card.TakeAsRequest, second)
	if a := w.of(second); a.Choice.As != task.AsRequest {
		t.Errorf("%+v", a.Choice)
	}
}

// Whoever would rather have it as a request after that, has it: the message is open until somebody ends it.
func testChoiceCutInTwoBecomesARequest(t *testing.T, w *world) {
	_, reply := w.beside("先月の残業時間を確認して")
	whole := w.h.Store
	w.h.Store = dies{whole, reply}
	w.chooses(workspace.Suzuki, card.TakeAsReason, reply)
	w.h.Store = whole
	w.chooses(workspace.Sato, card.TakeAsRequest, reply)
	if a := w.of(reply); a.Choice.As != task.AsRequest || a.Head.Run != 2 || a.Head.Ended != nil {
		t.Errorf("%+v, %+v", a.Choice, a.Head)
	}
}
