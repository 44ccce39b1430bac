package main

import (
	"context"
	"runtime"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

func TestPeopleAreReminded(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"in their direct messages, in their language": testReminded,
		"once, though Slack's answer was lost":        testRemindedLost,
		"in a channel, if it is its members'":         testRemindedInChannel,
		"once, though an invocation died before it":   func(t *testing.T, w *world) { testRemindedDied(t, w, false) },
		"once, though one died before it could save":  func(t *testing.T, w *world) { testRemindedDied(t, w, true) },
		"or nobody is, without an alarm":              testRemindedNobody,
	})
}

// reminds creates a reminder for Suzuki, whom Ringi has not written to.
func (w *world) reminds() {
	w.T.Helper()
	told := task.Reminded{N: 1, Items: []task.RemindedItem{{Kind: task.Kind.Name, ID: w.Ref.ID, Title: "勤怠の集計",
		Asker: webapi.Sato, Channel: webapi.HR, TS: "1776675600.000100"}}}
	c, ref := task.Remind(w.Ref.Tenant, slacktest.Team, webapi.Suzuki, tenancy.DateOf(w.Now().In(tenancy.Zone())),
		told, w.Now())
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
}

// remindedOnce checks that Suzuki has one message, and returns it.
func (w *world) remindedOnce() string {
	w.T.Helper()
	got := w.direct(webapi.Suzuki)
	expect.Must(w.T, len(got) == 1, "reminded of %v", got)
	return got[0]
}

func testReminded(t *testing.T, w *world) {
	expect.NoError(t, w.slack.Speak(webapi.Suzuki, "en-US"))
	w.reminds()
	for range 2 {
		w.done()
	}
	said := w.remindedOnce()
	expect.Has(t, said, "Waiting for your approval: 1")
	expect.Has(t, said, "/archives/"+webapi.HR+"/p1776675600000100|Open")
	a := w.Load()
	expect.Is(t, a.Cards[0].Channel, webapi.DirectMessage(webapi.Suzuki))
	expect.That(t, !a.Effects(w.Now()).Cards, "it is drawn for ever: %+v", a.Head)
}

func testRemindedInChannel(t *testing.T, w *world) {
	before := len(expect.Value(w.slack.Everything(webapi.HR))(t))
	told := task.Reminded{N: 1, Shared: true, Items: []task.RemindedItem{{Kind: task.Kind.Name, ID: w.Ref.ID,
		Title: "勤怠の集計", Asker: webapi.Sato, Channel: webapi.HR, TS: "1776675600.000100"}}}
	c, ref := task.Remind(w.Ref.Tenant, slacktest.Team, webapi.HR, tenancy.DateOf(w.Now().In(tenancy.Zone())),
		told, w.Now())
	expect.NoError(t, w.Store.Create(t.Context(), c))
	w.Ref = ref
	for range 2 {
		w.done()
	}
	all := expect.Value(w.slack.Everything(webapi.HR))(t)
	expect.Must(t, len(all) == before+1, "%d messages, %d before", len(all), before)
	expect.Is(t, all[before].ThreadTS, "")
	expect.Has(t, all[before].Text, "このチャンネルのどなたか 1 人の承認を待っているものが 1 件あります")
}

func testRemindedLost(t *testing.T, w *world) {
	w.reminds()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Lost})
	w.done()
	w.done()
	w.remindedOnce()
}

func testRemindedDied(t *testing.T, w *world, after bool) {
	w.reminds()
	h := w.handler()
	h.Slack = diesAt{w.slack.Client, after}
	over := make(chan bool)
	go func() {
		defer close(over)
		_ = h.draw(t.Context(), w.Ref, w.head(), first)
	}()
	<-over
	expect.Is(t, w.Load().Cards[0].State, aggregate.CardPosting)
	w.Later(stale + time.Second)
	w.done()
	w.remindedOnce()
}

func testRemindedNobody(t *testing.T, w *world) {
	w.reminds()
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"})
	w.slack.Calls()
	w.done()
	expect.Is(t, w.Load().Cards[0].State, aggregate.CardUnreachable)
	expect.Is(t, len(w.slack.Calls("conversations.open")), 1, "it is tried to tell them that they can't be told")
	w.done()
	expect.Is(t, len(w.direct(webapi.Suzuki)), 0)
}

// diesAt makes the invocation end before or after it posts to a person.
type diesAt struct {
	Slack
	after bool
}

func (s diesAt) OpenDM(ctx context.Context, user string) (string, error) {
	if !s.after {
		runtime.Goexit()
	}
	return s.Slack.OpenDM(ctx, user)
}

func (s diesAt) Post(
	ctx context.Context, channel, thread string, m cardMessage, about slackapi.Metadata,
) (ts string, err error) {
	ts, err = s.Slack.Post(ctx, channel, thread, m, about)
	runtime.Goexit()
	return ts, err
}
