package integrations_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/integrations"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store/storetest"
)

// guardedServer is the console's client, allowed to reach this server.
func guardedServer(address string) *http.Client {
	return outbound.Allowing(expectHost(address)).Client()
}

func expectHost(address string) string { u, _ := url.Parse(address); return u.Host }

func TestAServerThatSaysItAllIsConnectedWithATokenForItAlone(t *testing.T) {
	v := vendors.New()
	server := httptest.NewServer(v.Handler())
	t.Cleanup(server.Close)
	address, client := server.URL+vendors.RoomsPath, guardedServer(server.URL)
	s := expect.Value(integrations.FindAuthServer(t.Context(), client, "mcp:rooms", address))(t)
	expect.Must(t, s.Issuer == server.URL+"/rooms" && s.Provider.Resource == address && s.Provider.RevokeURL != "",
		"%+v", s)
	app := expect.Value(s.Register(t.Context(), client, "https://ringi.example/back"))(t)
	verifier := strings.Repeat("v", 43)
	consent := expect.Value(url.Parse(s.Provider.Ask(app, "https://ringi.example/back", "state", verifier)))(t)
	q := consent.Query()
	expect.That(t, q.Get("resource") == address && q.Get("code_challenge_method") == "S256" && q.Get("scope") == "rooms",
		"asked with %v", q)
	code := func() string {
		browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res := expect.Value(browser.Get(consent.String()))(t)
		defer res.Body.Close()
		return expect.Value(url.Parse(res.Header.Get("Location")))(t).Query().Get("code")
	}
	token := expect.Value(s.Provider.Exchange(t.Context(), app, "https://ringi.example/back", code(), verifier))(t)
	expect.That(t, call(t, address, token.Access) != http.StatusUnauthorized, "the server doesn't take the token")
	next := expect.Value(s.Provider.Refresh(t.Context(), app, token.Refresh))(t)
	expect.That(t, next.Access != token.Access && next.Refresh != token.Refresh, "nothing was renewed")
	expect.NoError(t, s.Provider.Revoke(t.Context(), app, next.Refresh))
	expect.Is(t, call(t, address, next.Access), http.StatusUnauthorized, "a revoked token is answered")
	var refused *vault.OAuthError
	_, err := s.Provider.Exchange(t.Context(), app, "https://ringi.example/back", code(), strings.Repeat("w", 43))
	expect.That(t, errors.As(err, &refused) && refused.State == vault.TokenRefused, "another verifier: %v", err)
}

func call(t *testing.T, address, token string) int {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), "POST", address, strings.NewReader("{}")))(t)
	r.Header.Set("Authorization", "Bearer "+token)
	res := expect.Value(http.DefaultClient.Do(r))(t)
	res.Body.Close()
	return res.StatusCode
}

// The server's metadata decides where people and tokens are sent.
func TestAServerThatCannotBeTrustedIsNotUsed(t *testing.T) {
	good := func(at string) map[string]map[string]any {
		return map[string]map[string]any{
			"/.well-known/oauth-protected-resource/mcp": {"resource": at + "/mcp", "authorization_servers": []string{at}},
			"/.well-known/oauth-authorization-server": {"issuer": at, "authorization_endpoint": at + "/a",
				"token_endpoint": at + "/t", "code_challenge_methods_supported": []string{"S256"}},
		}
	}
	const resource, server = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"
	for name, test := range map[string]struct {
		change func(all map[string]map[string]any, at string)
		want   error
	}{
		"as it should be": {func(map[string]map[string]any, string) {}, nil},
		"says nothing":    {func(all map[string]map[string]any, _ string) { clear(all) }, integrations.ErrNone},
		"speaks for another server": {func(all map[string]map[string]any, _ string) {
			all[resource]["resource"] = "https://other.example/mcp"
		}, integrations.ErrNone},
		"another issuer": {func(all map[string]map[string]any, _ string) {
			all[server]["issuer"] = "https://other.example"
		}, integrations.ErrUnfit},
		"no PKCE": {func(all map[string]map[string]any, _ string) {
			delete(all[server], "code_challenge_methods_supported")
		}, integrations.ErrUnfit},
		"plain PKCE only": {func(all map[string]map[string]any, _ string) {
			all[server]["code_challenge_methods_supported"] = []string{"plain"}
		}, integrations.ErrUnfit},
		"consent by a script": {func(all map[string]map[string]any, _ string) {
			all[server]["authorization_endpoint"] = "javascript:alert(1)"
		}, integrations.ErrUnfit},
		"no place for consent": {func(all map[string]map[string]any, _ string) {
			delete(all[server], "authorization_endpoint")
		}, integrations.ErrUnfit},
		"tokens within our network": {func(all map[string]map[string]any, _ string) {
			all[resource]["authorization_servers"] = []string{"https://169.254.169.254"}
		}, integrations.ErrNone},
	} {
		t.Run(name, func(t *testing.T) {
			var all map[string]map[string]any
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if all[r.URL.Path] == nil {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				json.NewEncoder(w).Encode(all[r.URL.Path])
			}))
			t.Cleanup(s.Close)
			all = good(s.URL)
			test.change(all, s.URL)
			found, err := integrations.FindAuthServer(t.Context(), guardedServer(s.URL), "mcp:x", s.URL+"/mcp")
			expect.Must(t, errors.Is(err, test.want) && (err == nil) == (test.want == nil), "%v", err)
			if err == nil {
				_, err := found.Register(t.Context(), guardedServer(s.URL), "https://ringi.example/back")
				expect.That(t, errors.Is(err, integrations.ErrNoRegistration), "%v", err)
			}
		})
	}
}

// issuing is an authorization server that only lets people register clients; it records its requests.
type issuing struct {
	*httptest.Server
	sent []url.Values
}

func issues(t *testing.T) *issuing {
	s := &issuing{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+url.Values{"code": {"c"},
			"state": {r.FormValue("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		if id, secret, ok := r.BasicAuth(); ok {
			r.PostForm.Set("client_id", id)
			r.PostForm.Set("client_secret", secret)
		}
		s.sent = append(s.sent, r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"access_token": "t", "token_type": "Bearer", "expires_in": 3600,
			"refresh_token": "r"})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// named adds an MCP server called docs to the settings; it names an authorization server.
func (w *connecting) named(t *testing.T, by func() string, issuers ...*issuing) {
	mcp := http.NewServeMux()
	tools := httptest.NewServer(mcp)
	t.Cleanup(tools.Close)
	mcp.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		json.NewEncoder(out).Encode(map[string]any{"resource": tools.URL + "/mcp", "authorization_servers": []string{by()}})
	})
	hosts := []string{strings.TrimPrefix(tools.URL, "http://")}
	for _, s := range issuers {
		hosts = append(hosts, strings.TrimPrefix(s.URL, "http://"))
	}
	w.Console.Connect.Outbound = outbound.Allowing(strings.Join(hosts, ",")).Client()
	w.Console.Connect.Vault.Outbound = w.Console.Connect.Outbound.Transport
	settings := expect.Value(w.Store.Settings(t.Context(), w.Tenant.ID))(t)
	settings.MCPServers = []tenancy.MCPServer{{Name: "docs", URL: tools.URL + "/mcp"}}
	expect.Value(w.Store.SaveSettings(t.Context(), w.Tenant.ID, settings, w.By, w.Now()))(t)
}

// An MCP server that was taken over names another authorization server. That one must not get the secret of the client
// that somebody pasted for the first.
func TestAPastedClientGoesToItsOwnAuthorizationServerAlone(t *testing.T) {
	w := newConnecting(t, storetest.Start(t))
	first, evil := issues(t), issues(t)
	named := first
	w.named(t, func() string { return named.URL }, first, evil)

	b := w.As(webapi.Suzuki)
	paste := url.Values{"provider": {"mcp:docs"}, "client_id": {"ours"}, "client_secret": {"pasted-for-the-first"}}
	if a := b.Post("/console/integrations/client", paste); !strings.Contains(a.To, "client-saved") {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	w.connect(b, "mcp:docs")
	expect.Must(t, len(first.sent) == 1 && first.sent[0].Get("client_secret") == "pasted-for-the-first",
		"the first: %v", first.sent)
	named = evil
	a := b.Post("/console/integrations/connect", url.Values{"provider": {"mcp:docs"}})
	if found := onward.FindStringSubmatch(a.Body); a.Status == http.StatusOK && found != nil {
		b.Get(w.consent(strings.ReplaceAll(found[1], "&amp;", "&")))
	}
	expect.That(t, len(evil.sent) == 0, "another authorization server was sent %v", evil.sent)
}

// A consent is open at a malicious authorization server while somebody pastes the client of the right one. Finishing
// the consent must not send that client's secret to the malicious one.
func TestAClientThatWasReplacedDuringAConsentGoesNowhere(t *testing.T) {
	w := newConnecting(t, storetest.Start(t))
	evil := issues(t)
	w.named(t, func() string { return evil.URL }, evil)
	b := w.As(webapi.Suzuki)
	paste := func(secret string) {
		t.Helper()
		form := url.Values{"provider": {"mcp:docs"}, "client_id": {"ours"}, "client_secret": {secret}}
		a := b.Post("/console/integrations/client", form)
		expect.Must(t, strings.Contains(a.To, "client-saved"), "%d %s", a.Status, a.Text())
	}
	paste("of-no-worth")
	back := w.consent(w.begin(b, "mcp:docs"))
	paste("for-the-right-one")
	b.Get(back).Says(t, http.StatusBadRequest)
	expect.That(t, len(evil.sent) == 0, "and the authorization server was sent %v", evil.sent)
}
