package audit_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/functions/serve-console/audit"
	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// auditNames: the log shows names instead of the ids of people and integrations.
func auditNames(t *testing.T, w *consoletest.World) {
	entry := func(action aggregate.Action, typ string, details aggregate.JSON) aggregate.AuditEntry {
		return aggregate.AuditEntry{
			TenantID: w.Tenant.ID, Timestamp: w.Now(), ActorType: aggregate.ActorUser, ActorID: webapi.Suzuki, Action: action, ResourceType: typ, ResourceID: "01X", Details: details,
		}
	}
	w.Record(
		entry(tenancy.AuditIntegrationConnected, "integration", `{"provider":"google"}`), entry(tenancy.AuditIntegrationConnected, "integration", `{"provider":"mcp:<rooms>"}`),
		entry(tenancy.AuditToolPermissionUpdated, "tool_permission", `{"tool":"slack.dm.send"}`),
	)
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/audit")
	page.Says(t, http.StatusOK, "連携: Google", "連携: mcp:&lt;rooms&gt;", "ツールの許可: slack.dm.send")
	if !strings.Contains(page.Body, `<option value="`+webapi.Tanaka+`">田中`) ||
		strings.Contains(page.Body, `<option value="`+webapi.Bot) {
		t.Errorf("the filter does not offer the workspace's people, and only them: %s", page.Body)
	}
	if page := b.Get("/console/audit?actor=" + webapi.Tanaka); !strings.Contains(page.Body,
		`value="`+webapi.Tanaka+`" selected`) || strings.Contains(page.Text(), "連携: Google") {
		t.Error("who was chosen does not stand in the filter, or filters nothing")
	}
	w.Console.Listing, w.Console.Roster = unlisted{w.Console.Listing}, people.Roster{}
	b.Get("/console/audit").Says(t, http.StatusOK).Holds(t, `<option value="`+webapi.Suzuki+`">鈴木`)
}

// unlisted is a Slack that lists no people.
type unlisted struct{ people.Listing }

func (unlisted) Users(context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) { yield(slackapi.User{}, errors.New("no")) }
}

// The filter adds ids to equal names, because anyone may choose a name that is taken.
func TestTheFilterTellsPeopleOfOneNameApart(t *testing.T) {
	w := consoletest.Start(t)
	w.Console.Listing, w.Console.Roster = unlisted{w.Console.Listing}, people.Roster{}
	r := httptest.NewRequest("GET", "/console/audit", nil)
	all := audit.Actors(&audit.Pages{Site: &w.Console.Site}, r, &web.Viewer{Locale: "ja"}, "U4",
		map[string]string{"U1": "Ringi", "U2": "佐藤", "U3": "佐藤", "U4": "田中"})
	expect.Same(t, []web.Choice{{Value: "system", Text: "Ringi"}, {Value: "U1", Text: "Ringi (U1)"},
		{Value: "U2", Text: "佐藤 (U2)"}, {Value: "U3", Text: "佐藤 (U3)"}, {Value: "U4", Text: "田中", Chosen: true}}, all)
}
