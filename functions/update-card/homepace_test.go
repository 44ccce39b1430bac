package main

import (
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/expect"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// Home tabs are published no faster than Slack takes them.
func TestHomeTabsKeepSlacksPace(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	now := w.Now()
	b := store.Budget{Workspace: slacktest.Team, Name: methodPublish, Calls: publishes, Window: publishingWindow}
	for n := range publishes {
		if until := expect.Value(w.Store.TakePace(t.Context(), b, 0, now))(t); !until.IsZero() {
			t.Fatalf("call %d waits until %v", n+1, until)
		}
	}
	h := w.handler()
	h.Pace, h.PaceScale, h.Homes = w.Store, 1, &Homes{Slack: w.slack.Client}
	err := h.publish(t.Context(), store.Home{Team: slacktest.Team, User: "U1"}, slack.HomeTabViewRequest{}, now.Add(time.Second))
	if _, waits := err.(later); !waits {
		t.Errorf("one more is published at once: %v", err)
	}
}
