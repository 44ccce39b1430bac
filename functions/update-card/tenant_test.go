package main

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/store/storetest"
)

// A card is sent by the bot of the workspace that it is for.
func TestCardsAreSentByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, calls := w.slack.ByTenant(t)
	w.h.Slack = client
	if !w.deliver() {
		t.Fatal("it was given back")
	}
	ours(t, calls(), w.Ref.Tenant, "chat.postMessage")
}

// ours fails for a call that is not for a tenant, but for the question whose the deployment's token is.
func ours(t *testing.T, calls []string, tenant, want string) {
	t.Helper()
	if !slices.Contains(calls, want+" "+tenant) {
		t.Errorf("%s was not called for %s: %q", want, tenant, calls)
	}
	for _, c := range calls {
		if !strings.HasSuffix(c, " "+tenant) && c != "auth.test " {
			t.Errorf("called %q, for %s", c, tenant)
		}
	}
}
