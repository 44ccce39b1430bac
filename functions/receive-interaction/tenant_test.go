package main

import (
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/store/storetest"
)

// Who clicks is asked of the workspace's own bot, and its dialogs are opened by that.
func TestClicksAreAnsweredByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, calls := w.slack.ByTenant(t)
	w.h.Slack, w.h.People = client, &people.People{Slack: client, Now: w.Now}
	p := w.prompted()
	w.post(w.click(workspace.Suzuki, "approve_prompt", p.ID))
	tenant := w.Ref.Tenant
	if !slices.Contains(calls(), "users.info "+tenant) {
		t.Errorf("nobody was asked who clicks: %q", calls())
	}
	for _, c := range calls() {
		expect.That(t, strings.HasSuffix(c, " "+tenant) || c == "auth.test ", "called %q, for %s", c, tenant)
	}
}
