package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// withHomes lets the handler publish Home tabs.
func (w *world) withHomes() {
	w.h.Homes = &Homes{Rows: records.NotesOf(w.Store.Table()), Slack: w.slack.Client,
		Inbox: decide.InboxReader{Rows: w.Store.Of.Store, Store: w.Store, Sessions: store.ConversationsOf(w.Store.Of.Store),
			Slack: w.slack.Client, Now: w.Now}}
}

// opens has a person open the tab, and handles the relay's message.
func (w *world) opens(user string) string {
	w.T.Helper()
	expect.NoError(w.T, records.NotesOf(w.Store.Table()).HomeOpened(w.T.Context(), w.Ref.Tenant,
		records.OpenHome{Team: slacktest.Team, User: user, OpenedAt: w.Now()}))
	return w.publish(fmt.Sprintf(`{"tenant":%q,"kind":"home","id":%q}`, w.Ref.Tenant, user), user)
}

func (w *world) publish(body, user string) string {
	w.T.Helper()
	out := expect.Value(w.h.Handle(w.T.Context(),
		events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: body}}}))(w.T)
	if len(out.BatchItemFailures) != 0 {
		return "given back"
	}
	return w.tab(user)
}

// tab returns a person's Home tab, as JSON.
func (w *world) tab(user string) string {
	w.T.Helper()
	v, ok := w.slack.Home(user)
	if !ok {
		return "none"
	}
	return string(expect.Value(json.Marshal(v.Blocks))(w.T))
}

func TestHomeTabs(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"show what waits for a person with its buttons, and what they asked for": testHomeShows,
		"show nothing of what a person may not decide":                           testHomeHides,
		"follow what is drawn, for those who look":                               testHomeFollows,
		"find what waits for a person behind much that doesn't":                  testHomeFinds,
		"hold thirty waiting things within Slack's limits":                       testHomeThirty,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.withHomes()
			run(t, w)
		})
	}
}

func testHomeShows(t *testing.T, w *world) {
	p := w.Prompted(tenancy.DefaultSettings()).Prompt()
	shown := w.opens(webapi.Suzuki)
	for _, want := range []string{"approve_prompt", "reject_prompt", p.ID, w.Ref.ID, "あなたの承認待ち (1 件)"} {
		expect.That(t, strings.Contains(shown, want), "%s is missing in %s", want, shown)
	}
	mine := w.opens(webapi.Sato)
	expect.That(t, strings.Contains(mine, "承認待ち") && strings.Contains(mine, "あなたの依頼"), "%v", mine)
	alex := w.opens(webapi.Alex)
	expect.That(t, strings.Contains(alex, "Waiting for your approval"), "not in English: %s", alex)
}

func testHomeHides(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	for _, user := range []string{webapi.Guest, webapi.Stranger} {
		shown := w.opens(user)
		expect.That(t, !strings.Contains(shown, "approve_prompt") && !strings.Contains(shown, w.Ref.ID),
			"%s sees %s", user, shown)
	}
}

// each handles the message for all tabs at its time, and returns the resulting message for a single tab.
func (w *world) each() string {
	w.T.Helper()
	w.Later(records.HomeEvery + time.Second)
	n := len(w.queue.sent)
	expect.Must(w.T, w.send(*w.queue.sent[n-1].MessageBody) && len(w.queue.sent) == n+1,
		"asked for %d tabs", len(w.queue.sent)-n)
	return *w.queue.sent[n].MessageBody
}

func testHomeFollows(t *testing.T, w *world) {
	w.done()
	expect.That(t, len(w.queue.sent) == 0, "asked for %d tabs, and nobody looks", len(w.queue.sent))
	w.Later(records.HomeEvery)
	w.opens(webapi.Suzuki)
	w.queue.sent = nil
	w.Prompted(tenancy.DefaultSettings())
	w.Later(records.HomeEvery) // until then the cached count says that no tab is open
	w.done()
	expect.Must(t, len(w.queue.sent) == 1 && *w.queue.sent[0].MessageGroupId == w.Ref.Tenant+"-homes",
		"asked for %+v", w.queue.sent)
	expect.That(t, !w.send(*w.queue.sent[0].MessageBody), "published more often than every 30 s")
	body := w.each()
	if got := w.publish(body, webapi.Suzuki); !strings.Contains(got, "approve_prompt") {
		t.Error(got)
	}
	w.Approve()
	w.done()
	if got := w.publish(w.each(), webapi.Suzuki); strings.Contains(got, "approve_prompt") {
		t.Errorf("what was decided still has its buttons: %s", got)
	}
	w.Later(records.HomeFor)
	before := w.tab(webapi.Suzuki)
	expect.That(t, !saying(body).After.IsZero() && w.publish(body, webapi.Suzuki) == before,
		"published for somebody who has not looked for an hour")
}

// testHomeFinds: nobody may approve their own here, and a hundred older gates belong to Suzuki.
func testHomeFinds(t *testing.T, w *world) {
	s := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
	s.AllowSelfApproval = false
	expect.Value(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, s,
		aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato}, w.Now()))(t)
	s = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
	for i := range 102 {
		by := webapi.Suzuki
		if i == 101 {
			by = webapi.Sato
		}
		ts := fmt.Sprintf("1776675700.%06d", i+1)
		w.Receive(task.Request{User: by, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
		w.Prompted(s)
	}
	shown := w.opens(webapi.Suzuki)
	if !strings.Contains(shown, w.Load().Prompt().ID) || !strings.Contains(shown, "あなたの承認待ち (1 件)") || strings.Contains(shown, "だけを調べました") {
		t.Error(shown)
	}
}

func testHomeThirty(t *testing.T, w *world) {
	for i := range 30 {
		ts := fmt.Sprintf("1776675700.%06d", i+1)
		w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts,
			ThreadTS: ts})
		w.Prompted(tenancy.DefaultSettings())
	}
	w.slack.Calls()
	shown := w.opens(webapi.Suzuki)
	v, _ := w.slack.Home(webapi.Suzuki)
	expect.That(t, len(v.Blocks) <= 100 && strings.Contains(shown, "あなたの承認待ち (30 件)"),
		"%d blocks: %s", len(v.Blocks), shown)
	whole, rest := strings.Count(shown, "approve_prompt"), strings.Count(shown, "• ")
	expect.That(t, whole != 0 && whole != 30 && rest != 0, "%d with buttons, %d lines", whole, rest)
	calls := w.slack.Calls("users.info", "users.conversations")
	expect.That(t, len(calls) <= 4, "Slack was asked about people %d times: %v", len(calls), calls)
}

// A hundred people have their tabs open while eight cards are drawn within a few seconds.
func TestHomeTabsAreAskedForOnceHoweverMuchIsDrawn(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.withHomes()
	for i := range mostHomes {
		expect.NoError(t, records.NotesOf(w.Store.Table()).HomeOpened(t.Context(), w.Ref.Tenant,
			records.OpenHome{Team: slacktest.Team, User: fmt.Sprintf("U%08d", i), OpenedAt: w.Now()}))
	}
	for i := range 4 {
		if i == 3 { // another lane draws
			w.h = w.handler()
			w.withHomes()
		}
		ts := w.slack.Say(t, webapi.Sato, webapi.HR, fmt.Sprint("request ", i))
		w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts,
			ThreadTS: ts})
		w.done()
		w.Prompted(tenancy.DefaultSettings())
		w.done()
	}
	if w.queue.calls != 2 || *w.queue.sent[0].MessageDeduplicationId != *w.queue.sent[1].MessageDeduplicationId {
		t.Fatalf("asked by %d calls", w.queue.calls)
	}
	all := events.SQSMessage{MessageId: "1", Body: *w.queue.sent[0].MessageBody,
		Attributes: map[string]string{"ApproximateReceiveCount": "1"}}
	handled := func() bool {
		out := expect.Value(w.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{all}}))(t)
		return len(out.BatchItemFailures) == 0
	}
	expect.That(t, !handled(), "each tab is asked for at once")
	w.Later(5 * time.Minute)
	w.queue.sent, w.queue.calls = nil, 0
	expect.That(t, handled() && handled() && w.queue.calls == 20,
		"the message that asks for all, delivered twice, made %d calls", w.queue.calls)
	tabs := map[string]bool{}
	for _, m := range w.queue.sent {
		tabs[*m.MessageDeduplicationId] = true
		if *m.MessageGroupId != w.Ref.Tenant+"-homes" {
			t.Errorf("a tab waits in the group %s", *m.MessageGroupId)
		}
	}
	expect.That(t, len(tabs) == mostHomes, "%d tabs are published", len(tabs))
	w.queue.err = errors.New("no queue")
	expect.That(t, !handled(), "tabs that could not be asked for are forgotten")
	if all.Attributes["ApproximateReceiveCount"] = fmt.Sprint(homeTries); !handled() {
		t.Error("tabs that can't be asked for hold up those that follow")
	}
}
