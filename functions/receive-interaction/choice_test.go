package main

import (
	"context"
	"errors"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
)

// beside brings the task to the approval of its policy, and opens a choice for a reply in its thread.
func (w *world) beside(text string) (waits *task.Prompt, reply aggregate.Ref) {
	w.T.Helper()
	waits = w.prompted()
	b, _ := w.Load().OpenGateBeside()
	return waits, w.reply(webapi.Sato, text, b)
}

// reply returns the task of a message in the thread, with an open choice of what the message is meant to be.
func (w *world) reply(user, text string, beside task.Beside) aggregate.Ref {
	w.T.Helper()
	ts := w.slack.Say(w.T, user, webapi.HR, text)
	c, ref, err := task.Receive(w.Ref.Tenant, task.Request{
		TeamID: slacktest.Team, Text: text, User: user, Channel: webapi.HR, ChannelType: "channel",
		MessageTS: ts, ThreadTS: w.root, Source: task.SourceChannel, EventID: "Ev2",
	}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	expect.Value(w.Store.Decide(w.T.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Ask(1, beside, tenancy.DefaultSettings(), w.Now())
	}))(w.T)
	return ref
}

func (w *world) of(ref aggregate.Ref) *task.Aggregate {
	w.T.Helper()
	return expect.Value(w.Store.Load(w.T.Context(), ref))(w.T)
}

// chooses presses a button of the choice's card.
func (w *world) chooses(user, action string, reply aggregate.Ref) {
	w.T.Helper()
	p := w.click(user, action, w.of(reply).Choice.ID)
	p["actions"].([]any)[0].(map[string]any)["block_id"] = reply.ID
	out := w.post(p)
	expect.That(w.T, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
}

// crashing is a store that crashes during a decision on two tasks, before the commit or after it.
type crashing struct {
	Rows
	after bool
}

func (d crashing) DecideBoth(ctx context.Context, first, second aggregate.Ref, decide decide.Both) error {
	if d.after {
		if err := d.Rows.DecideBoth(ctx, first, second, decide); err != nil {
			return err
		}
	}
	return errors.New("the function is gone")
}

// The rejection and the end of the message are one commit: after a crash both are saved or neither, and the same
// person's next click leaves both.
func testChoiceSurvivesACrash(t *testing.T, w *world) {
	waits, reply := w.beside("DM での連絡は不要です")
	whole := w.h.Rows
	w.h.Rows = crashing{whole, false}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	if a, p := w.of(reply), w.Load().Prompt(); a.Choosing() == nil || p.Status != aggregate.PendingApproval {
		t.Fatalf("before the commit: %+v, the policy is %s", a.Choice, p.Status)
	}
	became := func(when string) {
		t.Helper()
		a, p := w.of(reply), w.Load().Prompts[0]
		e := a.Head.Ended
		expect.That(t, e != nil && e.As == task.TaskAnswered && e.Reason == task.ReasonBecameReason &&
			a.Choice.DecidedBy == webapi.Suzuki && a.Head.Run == 1, "%s: %+v, ended %+v", when, a.Choice, e)
		expect.That(t, p.ID == waits.ID && p.Status == aggregate.Rejected && p.RejectedBy == webapi.Suzuki &&
			p.RejectionReason == "DM での連絡は不要です", "%s: %+v", when, p)
	}
	w.h.Rows = crashing{whole, true}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	became("after the commit")
	rev := w.Load().Head.Rev
	w.h.Rows = whole
	before := len(w.slack.Ephemerals(webapi.Suzuki))
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	if told := w.slack.Ephemerals(webapi.Suzuki); len(told) != before {
		t.Errorf("the click after it is answered: %q", told[len(told)-1].Text)
	}
	w.chooses(webapi.Sato, card.TakeAsRequest, reply)
	became("after other clicks")
	now := w.Load().Head.Rev
	expect.That(t, now == rev, "the gate's task moved from %d to %d", rev, now)
}

// meanwhile is a store in which something else happens between a decision on two tasks and its commit.
type meanwhile struct {
	Rows
	do func()
}

func (m *meanwhile) DecideBoth(ctx context.Context, first, second aggregate.Ref, decide decide.Both) error {
	return m.Rows.DecideBoth(ctx, first, second, func(a, b aggregate.Aggregate) (aggregate.Change, aggregate.Change, error) {
		x, y, err := decide(a, b)
		if do := m.do; do != nil {
			m.do = nil
			do()
		}
		return x, y, err
	})
}

func testReasonOrRequest(t *testing.T, w *world) {
	_, reply := w.beside("先月の残業時間を確認して")
	whole := w.h.Rows
	w.h.Rows = &meanwhile{whole, func() { w.chooses(webapi.Sato, card.TakeAsRequest, reply) }}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	a, p := w.of(reply), w.Load().Prompt()
	expect.That(t, a.Choice.As == task.AsRequest && a.Head.Run == 2 && p.Status == aggregate.PendingApproval,
		"run %d makes a request of it: %+v; and the policy is %s, for %q", a.Head.Run, a.Choice, p.Status, p.RejectionReason)
	expect.Same(t, 1, len(w.slack.Ephemerals(webapi.Suzuki)))
}

// If the same words were already given as the reason, by the form, the same person can end the message with a click,
// and nobody else can.
func testReasonMadeUp(t *testing.T, w *world) {
	waits, reply := w.beside("DM での連絡は不要です")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("DM での連絡は不要です")(a, waits.ID, approver(), aggregate.Policy{Team: slacktest.Team}, w.Now())
	})
	second := w.draft()
	w.chooses(webapi.Tanaka, card.TakeAsReason, reply)
	if a := w.of(reply); a.Choosing() == nil || !a.Choice.GateOver {
		t.Errorf("it was taken by another, or goes on asking about v1: %+v", a.Choice)
	}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	if a := w.of(reply); a.Head.Ended == nil || a.Head.Ended.As != task.TaskAnswered ||
		a.Choice.DecidedBy != webapi.Suzuki {
		t.Errorf("%+v, ended %+v", a.Choice, a.Head.Ended)
	}
	if a := w.Load(); a.Prompt().ID != second.ID || a.Prompt().Status != aggregate.PendingApproval {
		t.Errorf("the next version is touched: %+v", a.Prompt())
	}
}

// A second message can't become a reason for a rejection that already has one: it stays open, and may become a request.
func testSecondReason(t *testing.T, w *world) {
	_, first := w.beside("DM での連絡は不要です")
	second := w.reply(webapi.Tanaka, "営業部だけにしてください", w.of(first).Choice.Beside)
	w.chooses(webapi.Suzuki, card.TakeAsReason, first)
	w.chooses(webapi.Suzuki, card.TakeAsReason, second)
	if a := w.of(second); a.Choosing() == nil || !a.Choice.GateOver {
		t.Errorf("the second message was taken for %+v, ended %+v; the reason is %q", a.Choice, a.Head.Ended, w.Load().Prompts[0].RejectionReason)
	}
	w.chooses(webapi.Tanaka, card.TakeAsRequest, second)
	if a := w.of(second); a.Choice.As != task.AsRequest {
		t.Errorf("%+v", a.Choice)
	}
}
