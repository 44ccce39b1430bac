package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/tenancy"
	"ringi/shared/websession"
)

// slackInstalls plays Slack's part of installing the app.
type slackInstalls struct {
	mu      sync.Mutex
	answer  map[string]any // of oauth.v2.access
	status  int
	revoked []string
	codes   map[string]bool // that were used
}

func (s *slackInstalls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.answer
	switch {
	case r.URL.Path == "/api/auth.revoke":
		s.revoked = append(s.revoked, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+r.PostFormValue("token"))
		answer = map[string]any{"ok": true, "revoked": true}
	case s.status != 0:
		w.WriteHeader(s.status)
		return
	case r.PostFormValue("client_id") != "1.2" || r.PostFormValue("client_secret") != "s" || !strings.HasSuffix(r.PostFormValue("redirect_uri"), "/console/slack/installed"):
		answer = map[string]any{"ok": false, "error": "bad_client_secret"}
	case s.codes[r.PostFormValue("code")]:
		answer = map[string]any{"ok": false, "error": "invalid_code"}
	}
	s.codes[r.PostFormValue("code")] = true
	json.NewEncoder(w).Encode(answer)
}

// of is Slack's answer after an installation.
func (s *slackInstalls) of(team, name, user, token string, organization bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = map[string]any{
		"ok": true, "access_token": token, "token_type": "bot", "scope": "chat:write", "bot_user_id": "U0BOT", "app_id": "A0RINGI",
		"team": map[string]any{"id": team, "name": name}, "authed_user": map[string]any{"id": user}, "is_enterprise_install": organization,
	}
	if organization {
		s.answer["team"], s.answer["enterprise"] = nil, map[string]any{"id": "E1", "name": name}
	}
}

func TestInstallingInFurtherWorkspaces(t *testing.T) {
	w := newConnecting(t, storetest.Start(t))
	slack := &slackInstalls{codes: map[string]bool{}}
	server := httptest.NewServer(slack)
	t.Cleanup(server.Close)
	w.oidc.api = server.URL + "/api/"
	begin := func(b *browser) url.Values {
		t.Helper()
		return expect.Value(url.Parse(b.get("/slack/install").to))(t).Query()
	}
	n := 0
	back := func(b *browser, q url.Values) answer {
		n++
		return b.get("/console/slack/installed?" + url.Values{"code": {strings.Repeat("c", n)}, "state": {q.Get("state")}}.Encode())
	}

	b := w.browser()
	q := begin(b)
	if !strings.Contains(q.Get("scope"), "chat:write,") || q.Get("redirect_uri") != "https://"+home+"/console/slack/installed" || q.Get("client_id") != "1.2" {
		t.Errorf("Slack is asked %v", q)
	}
	slack.of("T0SECOND", `二号店 <script>alert(1)</script>`, "U0SECOND", "xoxb-second", false)
	if a := back(b, q); a.status != 200 || !strings.Contains(a.text(), "二号店") || strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "xoxb") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	second := aggregate.TenantID("T0SECOND")
	owner := expect.Value(w.Store.Tenant(t.Context(), second))(t)
	if owner.TeamID != "T0SECOND" || !slices.Equal(owner.Admins, []string{"U0SECOND"}) || owner.Slug == w.tenant.Slug {
		t.Errorf("%+v", owner)
	}
	if token, err := w.c.Connect.Vault.Bot(t.Context(), second); err != nil || token != "xoxb-second" {
		t.Errorf("%q, %v", token, err)
	}
	if _, err := w.Store.Integration(t.Context(), w.tenant.ID, tenancy.SlackProvider); err == nil {
		t.Error("the first workspace was changed")
	}
	t.Run("again, by somebody else", func(t *testing.T) {
		slack.of("T0SECOND", "二号店", "U0ELSE", "xoxb-third", false)
		again := w.browser()
		if a := back(again, begin(again)); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.text())
		}
		owner := expect.Value(w.Store.Tenant(t.Context(), second))(t)
		if token, err := w.c.Connect.Vault.Bot(t.Context(), second); err != nil || token != "xoxb-third" || !slices.Equal(owner.Admins, []string{"U0SECOND"}) {
			t.Errorf("%q, %v, %v", token, err, owner.Admins)
		}
	})
	t.Run("where nobody is an administrator yet", func(t *testing.T) {
		w.found("T0THIRD")
		slack.of("T0THIRD", "三号店", "U0THIRD", "xoxb-4", false)
		third := w.browser()
		back(third, begin(third))
		if owner := expect.Value(w.Store.Tenant(t.Context(), aggregate.TenantID("T0THIRD")))(t); !slices.Equal(owner.Admins, []string{"U0THIRD"}) {
			t.Errorf("%v", owner.Admins)
		}
	})
	t.Run("in the deployment's own workspace nobody is made an administrator", func(t *testing.T) {
		w.own.also = []string{"T0OWN", "T0BARE"}
		w.found("T0OWN")
		for _, team := range []string{"T0OWN", "T0BARE"} {
			slack.of(team, "本店", "U0ANYBODY", "xoxb-own", false)
			anybody := w.browser()
			if a := back(anybody, begin(anybody)); a.status != 200 {
				t.Errorf("%s: %d %s", team, a.status, a.text())
			}
			owner, _ := w.Store.Tenant(t.Context(), aggregate.TenantID(team))
			if token, err := w.c.Connect.Vault.Bot(t.Context(), aggregate.TenantID(team)); err != nil || token != "xoxb-own" || len(owner.Admins) > 0 {
				t.Errorf("%s: %q, %v, administered by %v", team, token, err, owner.Admins)
			}
		}
	})
	t.Run("for an organization", func(t *testing.T) {
		slack.of("", "本社", "U0ORG", "xoxb-org", true)
		org := w.browser()
		if a := back(org, begin(org)); a.status != http.StatusConflict || !strings.Contains(a.text(), "Enterprise Grid") || !slices.Contains(slack.revoked, "xoxb-org") {
			t.Errorf("%d %s, revoked %v", a.status, a.text(), slack.revoked)
		}
	})
	t.Run("what is refused", func(t *testing.T) {
		slack.of("T0EVIL", "x", "U0EVIL", "xoxb-evil", false)
		one := w.browser()
		q := begin(one)
		if a := back(w.browser(), q); a.status != http.StatusBadRequest {
			t.Errorf("another browser: %d", a.status)
		}
		if a := back(one, q); a.status != http.StatusBadRequest {
			t.Errorf("after another browser: %d", a.status)
		}
		q = begin(one)
		w.Later(websession.ConsentLasts + time.Second)
		if a := back(one, q); a.status != http.StatusBadRequest {
			t.Errorf("too late: %d", a.status)
		}
		admin := w.as(workspace.Suzuki)
		w.register(admin, "freee")
		of := expect.Value(url.Parse(w.begin(admin, "freee")))(t).Query()
		if a := back(admin, of); a.status != http.StatusBadRequest {
			t.Errorf("the state of another vendor: %d", a.status)
		}
		q = begin(admin)
		if a := admin.get("/console/integrations/return?code=x&state=" + q.Get("state")); a.status != http.StatusBadRequest {
			t.Errorf("the state of an installation: %d", a.status)
		}
		q = begin(one)
		if a := one.get("/console/slack/installed?error=access_denied&state=" + q.Get("state")); a.status != http.StatusForbidden {
			t.Errorf("denied: %d", a.status)
		}
		n = 0 // the first code again
		if a := back(one, begin(one)); a.status != http.StatusBadGateway {
			t.Errorf("a code twice: %d", a.status)
		}
		slack.status = http.StatusInternalServerError
		if a := back(one, begin(one)); a.status != http.StatusBadGateway {
			t.Errorf("Slack fails: %d", a.status)
		}
		if _, err := w.Store.Tenant(t.Context(), aggregate.TenantID("T0EVIL")); err == nil {
			t.Error("a tenant was made")
		}
	})
}

// Slack's own connection ends for good only when Slack takes the token back.
func TestDisconnectingSlack(t *testing.T) {
	w := newConnecting(t, storetest.Start(t))
	slack := &slackInstalls{codes: map[string]bool{}}
	server := httptest.NewServer(slack)
	t.Cleanup(server.Close)
	w.oidc.api = server.URL + "/api/"
	b := w.as(workspace.Suzuki)
	if a := b.get("/console/integrations/disconnect?provider=slack"); a.status != 200 || !strings.Contains(a.text(), "すべてが止まります") {
		t.Errorf("%d %s", a.status, a.text())
	}
	if a := b.post("/console/integrations/disconnect", url.Values{"provider": {"slack"}}); a.to != "/console/integrations?done=disconnected" || !slices.Equal(slack.revoked, []string{"xoxb-first"}) {
		t.Errorf("%d %s, revoked %v", a.status, a.to, slack.revoked)
	}
	if row := w.row("slack"); row.Status != tenancy.Disconnected {
		t.Errorf("%+v", row)
	}
	if a := b.get("/console/integrations"); !strings.Contains(a.body, `href="/slack/install"`) {
		t.Error("there is no way back")
	}
}
