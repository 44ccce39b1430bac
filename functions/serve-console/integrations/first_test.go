package integrations_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// fresh is the deployment's own workspace before its first request.
const fresh = "T0FRESH"

func TestTheFirstAdministratorEntersBeforeAnybodyAsked(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *consoletest.World){
		"whom the secret names, and decides first who approves their own requests": firstAdministrator,
		"after a colleague who is none":                                            colleagueFirst, "not without a name in the secret": nobodyNamed,
		"and nobody of another workspace does": strangersFirst,
	} {
		t.Run(name, func(t *testing.T) {
			w := consoletest.New(t, db)
			w.Own.Team, w.Own.Admin = fresh, webapi.Suzuki
			for _, id := range []string{webapi.Suzuki, webapi.Sato, webapi.Guest} {
				w.People.Become(id, func(u *slackapi.User) error { u.Team = fresh; return nil })
			}
			run(t, w)
		})
	}
}

// enters signs a person in and returns the page that they get.
func enters(w *consoletest.World, user, team string) (*consoletest.Browser, consoletest.Answer) {
	b := w.Browser()
	q := begin(b, "/console/signin/begin")
	w.OIDC.Person = said(user, team)
	w.OIDC.Person["https://slack.com/team_name"] = "新しい会社"
	return b, back(b, q)
}

func firstAdministrator(t *testing.T, w *consoletest.World) {
	b, a := enters(w, webapi.Suzuki, fresh)
	expect.Must(t, a.To == "/console", "%v", a)
	b.Get("/console").Says(t, 200).Holds(t, `href="/console/welcome"`) // which leads to who may approve their own requests
	is := expect.Value(w.Store.Tenant(t.Context(), aggregate.TenantID(fresh)))(t)
	expect.That(t, is.Name == "新しい会社" && len(is.Admins) == 1 && is.Admins[0] == webapi.Suzuki,
		"the workspace is %+v", is)
}

func colleagueFirst(t *testing.T, w *consoletest.World) {
	if _, a := enters(w, webapi.Guest, fresh); a.Status != http.StatusForbidden {
		t.Errorf("a guest: %d", a.Status)
	}
	_, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh))
	expect.That(t, err != nil, "a guest makes the workspace known")
	b, _ := enters(w, webapi.Sato, fresh)
	b.Get("/console/settings/admins").Says(t, http.StatusForbidden) // a colleague
	b, _ = enters(w, webapi.Suzuki, fresh)
	b.Get("/console/settings/admins").Says(t, 200) // the administrator
}

func nobodyNamed(t *testing.T, w *consoletest.World) {
	for _, admin := range []string{"", "suzuki@example.com"} {
		w.Own.Admin = admin
		if _, a := enters(w, webapi.Suzuki, fresh); a.Status != http.StatusServiceUnavailable ||
			!strings.Contains(a.Text(), web.TextsOf("fault", "ja").In("title", "no_admin")) {
			t.Errorf("%q: %d %s", admin, a.Status, a.Text())
		}
	}
	_, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh))
	expect.That(t, err != nil, "a workspace that nobody administers is known")
}

func strangersFirst(t *testing.T, w *consoletest.World) {
	w.Own.Team = "T0ANOTHER"
	log := consoletest.Logged(t)
	_, a := enters(w, webapi.Suzuki, fresh)
	expect.That(t, a.Status == http.StatusForbidden && strings.Contains(log.String(), "msg=refused"), "%v", a)
	_, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh))
	expect.That(t, err != nil, "the workspace is known")
}
