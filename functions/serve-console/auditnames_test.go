package main

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// auditNames: who reads the log knows neither ids of people nor those of integrations.
func auditNames(t *testing.T, w *world) {
	entry := func(action aggregate.Action, typ string, details aggregate.JSON) aggregate.AuditEntry {
		return aggregate.AuditEntry{
			TenantID: w.tenant.ID, Timestamp: w.Now(), ActorType: aggregate.ActorUser, ActorID: workspace.Suzuki, Action: action, ResourceType: typ, ResourceID: "01X", Details: details,
		}
	}
	w.record(
		entry(tenancy.AuditIntegrationConnected, "integration", `{"provider":"google"}`), entry(tenancy.AuditIntegrationConnected, "integration", `{"provider":"mcp:<rooms>"}`),
		entry(tenancy.AuditToolPermissionUpdated, "tool_permission", `{"tool":"slack.dm.send"}`),
	)
	b := w.as(workspace.Suzuki)
	page := b.get("/console/audit")
	page.says(t, http.StatusOK, "連携: Google", "連携: mcp:&lt;rooms&gt;", "ツールの許可: slack.dm.send")
	if !strings.Contains(page.body, `<option value="`+workspace.Tanaka+`">田中`) || strings.Contains(page.body, `<option value="`+workspace.Bot) {
		t.Errorf("the filter does not offer the workspace's people, and only them: %s", page.body)
	}
	if page := b.get("/console/audit?actor=" + workspace.Tanaka); !strings.Contains(page.body, `value="`+workspace.Tanaka+`" selected`) || strings.Contains(page.text(), "連携: Google") {
		t.Error("who was chosen does not stand in the filter, or filters nothing")
	}
	w.c.Listing, w.c.Roster = unlisted{w.c.Listing}, people.Roster{}
	if page := b.get("/console/audit"); page.status != http.StatusOK || !strings.Contains(page.body, `<option value="`+workspace.Suzuki+`">鈴木`) {
		t.Errorf("while Slack lists nobody, who stands in the log can't be chosen: %d", page.status)
	}
}

// unlisted is a Slack that lists nobody.
type unlisted struct{ people.Listing }

func (unlisted) Users(context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) { yield(slackapi.User{}, errors.New("no")) }
}

// People choose their names themselves.
func TestTheFilterTellsPeopleOfOneNameApart(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.c.Listing, w.c.Roster = unlisted{w.c.Listing}, people.Roster{}
	all := w.c.actors(httptest.NewRequest("GET", "/console/audit", nil), &viewer{Locale: "ja"}, "", map[string]string{"U1": "Ringi", "U2": "佐藤", "U3": "佐藤", "U4": "田中"})
	expect.Same(t, []choice{{"system", "Ringi"}, {"U1", "Ringi (U1)"}, {"U2", "佐藤 (U2)"}, {"U3", "佐藤 (U3)"}, {"U4", "田中"}}, all)
}
