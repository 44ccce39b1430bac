package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// A hundred people look at their tabs while eight cards are drawn within a few seconds.
func TestHomeTabsAreAskedForOnceHoweverMuchIsDrawn(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.withHomes()
	for i := range mostHomes {
		expect.NoError(t, w.Store.HomeOpened(t.Context(), w.Ref.Tenant, store.Home{Team: slacktest.Team, User: fmt.Sprintf("U%08d", i), OpenedAt: w.Now()}))
	}
	for i := range 4 {
		if i == 3 { // another lane draws
			w.h = w.handler()
			w.withHomes()
		}
		ts := w.slack.Say(t, workspace.Sato, workspace.HR, fmt.Sprint("request ", i))
		w.Receive(task.Request{User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
		w.done()
		w.Prompted(tenancy.DefaultSettings())
		w.done()
	}
	if w.queue.calls != 2 || *w.queue.sent[0].MessageDeduplicationId != *w.queue.sent[1].MessageDeduplicationId {
		t.Fatalf("asked by %d calls", w.queue.calls)
	}
	all := events.SQSMessage{MessageId: "1", Body: *w.queue.sent[0].MessageBody, Attributes: map[string]string{"ApproximateReceiveCount": "1"}}
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
