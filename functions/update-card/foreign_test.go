package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// receivedOf makes the task belong to another workspace, whose message claims to be from this workspace's channel.
func (w *world) receivedOf(team string) {
	w.T.Helper()
	c, ref, err := task.Receive(aggregate.TenantID(team), task.Request{
		TeamID: team, Text: "従業員一覧", User: webapi.Alex, Channel: webapi.HR, MessageTS: w.root, ThreadTS: w.root,
		Source: task.SourceChannel,
	}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
}

func testForeign(t *testing.T, w *world) {
	w.receivedOf("T0FOREIGN")
	w.slack.Faults.Add(webapi.Fault{Method: "auth.test", Kind: webapi.RateLimited, RetryAfter: 20 * time.Second, Times: 1})
	w.slack.Calls()
	w.back(20, 25) // while Slack doesn't say which workspace the app belongs to
	w.done()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.Refuse(1, task.ReasonWorkspace, w.Now()) })
	w.done()
	for _, c := range w.slack.Calls() {
		expect.That(t, c == "auth.test", "called %s", c)
	}
	w.shows()
	head := w.Load().Head
	expect.That(t, head.ShownRev == head.Rev, "shown %d of %d: it would be drawn again and again", head.ShownRev, head.Rev)

	w.receivedOf("T0KNOWN")
	expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "T0KNOWN",
		TeamID: "T0KNOWN", Admins: []string{}}, w.Now()))(t)
	w.done()
	w.shows("受け付けました")
}

// A card is sent by the bot of its own workspace.
func TestCardsAreSentByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, calls := w.slack.ByTenant(t)
	w.h.Slack = client
	expect.Must(t, w.deliver(), "it was given back")
	ours(t, calls(), w.Ref.Tenant, "chat.postMessage")
}

// ours fails for every call that was not made for this tenant, except for auth.test with the deployment's own token.
func ours(t *testing.T, calls []string, tenant, want string) {
	t.Helper()
	expect.That(t, slices.Contains(calls, want+" "+tenant), "%s was not called for %s: %q", want, tenant, calls)
	for _, c := range calls {
		expect.That(t, strings.HasSuffix(c, " "+tenant) || c == "auth.test ", "called %q, for %s", c, tenant)
	}
}
