package main

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// A card is sent by the bot of the workspace that it is for.
func TestCardsAreSentByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, calls := w.slack.ByTenant(t)
	w.h.Slack = client
	expect.Must(t, w.deliver(), "it was given back")
	ours(t, calls(), w.Ref.Tenant, "chat.postMessage")
}

// ours fails for a call that is not for a tenant, but for the question whose the deployment's token is.
func ours(t *testing.T, calls []string, tenant, want string) {
	t.Helper()
	expect.That(t, slices.Contains(calls, want+" "+tenant), "%s was not called for %s: %q", want, tenant, calls)
	for _, c := range calls {
		expect.That(t, strings.HasSuffix(c, " "+tenant) || c == "auth.test ", "called %q, for %s", c, tenant)
	}
}
