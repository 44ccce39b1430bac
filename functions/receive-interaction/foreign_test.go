package main

import (
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

// connected makes another workspace connect Slack itself.
func (w *world) connected(team string) {
	w.T.Helper()
	own := tenancy.Integration{TenantID: aggregate.TenantID(team), Provider: tenancy.SlackProvider,
		Status: tenancy.Connected, Credentials: "sealed"}
	expect.Value(w.Store.SaveIntegration(w.T.Context(), own, aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"},
		w.Now()))(w.T)
}

// Interactions from a workspace that Ringi doesn't serve are accepted and counted, but get no note and no dialog. In a
// workspace that has connected Slack itself, the person is told that there is no such task.
func TestInteractionsOfAWorkspaceThatIsNoneOfOurs(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	id := w.prompted().ID
	of := func(team string, p map[string]any) map[string]any {
		p["team"] = map[string]any{"id": team, "domain": "x"}
		p["user"] = map[string]any{"id": webapi.Tanaka, "username": "x", "team_id": team}
		return p
	}
	before := w.Load().Head.Rev
	w.slack.Calls()
	for _, p := range []map[string]any{
		w.click(webapi.Tanaka, "approve_prompt", id), w.click(webapi.Alex, "reject_prompt", id), w.form(webapi.Alex,
			"prompt", id, "いいえ"),
	} {
		if out := w.post(of("T0FOREIGN", p)); out.StatusCode != 200 || out.Body != "" {
			t.Errorf("answered %d %s", out.StatusCode, out.Body)
		}
	}
	for _, c := range w.slack.Calls() {
		expect.That(t, c == "auth.test", "called %s", c)
	}
	w.connected("T0CONNECTED")
	w.post(of("T0CONNECTED", w.click(webapi.Tanaka, "approve_prompt", id)))
	notes := w.slack.Ephemerals(webapi.Tanaka)
	expect.That(t, len(notes) == 1 && notes[0].Text == card.Note("ja", aggregate.ErrNotFound),
		"one of ours is told %+v", notes)
	after := w.Load().Head.Rev
	expect.That(t, after == before, "the task moved from %d to %d", before, after)
	if out := w.post(w.click(webapi.Suzuki, "approve_prompt", id)); out.StatusCode != 200 ||
		w.Load().Prompt().Status != aggregate.Approved {
		t.Errorf("our own %s: answered %d", slacktest.Team, out.StatusCode)
	}
}

func TestClicksOfAnOrganizationsInstallationDecideNothing(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.prompted()
	click := w.click(webapi.Suzuki, "approve_prompt", p.ID)
	click["team"], click["enterprise"], click["is_enterprise_install"] = nil, map[string]any{"id": "E1", "name": "x"}, true
	w.quiet(w.post(click), webapi.Suzuki)
	expect.That(t, w.Load().Prompt().Status == aggregate.PendingApproval, "it was decided")
}

// The workspace's own bot looks up the person who clicked, and opens the dialogs.
func TestClicksAreAnsweredByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, calls := w.slack.ByTenant(t)
	w.h.Slack, w.h.People = client, &people.People{Slack: client, Now: w.Now}
	p := w.prompted()
	w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID))
	tenant := w.Ref.Tenant
	if !slices.Contains(calls(), "users.info "+tenant) {
		t.Errorf("nobody was asked who clicks: %q", calls())
	}
	for _, c := range calls() {
		expect.That(t, strings.HasSuffix(c, " "+tenant) || c == "auth.test ", "called %q, for %s", c, tenant)
	}
}
