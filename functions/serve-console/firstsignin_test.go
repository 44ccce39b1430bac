package main

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// fresh is the deployment's own workspace before anybody has asked for anything.
const fresh = "T0FRESH"

func TestTheFirstAdministratorEntersBeforeAnybodyAsked(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"whom the secret names, and decides first who approves their own requests": firstAdministrator,
		"after a colleague who is none":                                            colleagueFirst, "not without a name in the secret": nobodyNamed,
		"and nobody of another workspace does": strangersFirst,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.own.team, w.own.admin = fresh, workspace.Suzuki
			for _, id := range []string{workspace.Suzuki, workspace.Sato, workspace.Guest} {
				w.people.become(id, func(u *slackapi.User) error { u.Team = fresh; return nil })
			}
			run(t, w)
		})
	}
}

// enters is what a person of a workspace is led to or told.
func (w *world) enters(user, team string) (*browser, answer) {
	b := w.browser()
	q := b.begin("/console/signin/begin")
	w.oidc.person = said(user, team)
	w.oidc.person["https://slack.com/team_name"] = "新しい会社"
	return b, b.back(q)
}

func firstAdministrator(t *testing.T, w *world) {
	b, a := w.enters(workspace.Suzuki, fresh)
	if a.to != "/console" {
		t.Fatalf("%d %s", a.status, a.text())
	}
	if a := b.get("/console"); a.status != 200 || !strings.Contains(a.body, `href="/console/welcome"`) {
		t.Errorf("not asked who may approve their own requests: %d %s", a.status, a.text())
	}
	is := expect.Value(w.Store.Tenant(t.Context(), aggregate.TenantID(fresh)))(t)
	if is.Name != "新しい会社" || len(is.Admins) != 1 || is.Admins[0] != workspace.Suzuki {
		t.Errorf("the workspace is %+v", is)
	}
}

func colleagueFirst(t *testing.T, w *world) {
	if _, a := w.enters(workspace.Guest, fresh); a.status != http.StatusForbidden {
		t.Errorf("a guest: %d", a.status)
	}
	if _, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh)); err == nil {
		t.Error("a guest makes the workspace known")
	}
	b, _ := w.enters(workspace.Sato, fresh)
	if a := b.get("/console/settings/admins"); a.status != http.StatusForbidden {
		t.Errorf("a colleague is an administrator: %d", a.status)
	}
	b, _ = w.enters(workspace.Suzuki, fresh)
	if a := b.get("/console/settings/admins"); a.status != 200 {
		t.Errorf("the administrator: %d %s", a.status, a.text())
	}
}

func nobodyNamed(t *testing.T, w *world) {
	for _, admin := range []string{"", "suzuki@example.com"} {
		w.own.admin = admin
		if _, a := w.enters(workspace.Suzuki, fresh); a.status != http.StatusServiceUnavailable || !strings.Contains(a.text(), web.TextsOf("fault", "ja").In("title", "no_admin")) {
			t.Errorf("%q: %d %s", admin, a.status, a.text())
		}
	}
	if _, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh)); err == nil {
		t.Error("a workspace that nobody administers is known")
	}
}

func strangersFirst(t *testing.T, w *world) {
	w.own.team = "T0ANOTHER"
	log := logged(t)
	if _, a := w.enters(workspace.Suzuki, fresh); a.status != http.StatusForbidden || !strings.Contains(log.String(), "msg=refused") {
		t.Errorf("%d %s", a.status, a.text())
	}
	if _, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh)); err == nil {
		t.Error("the workspace is known")
	}
}
