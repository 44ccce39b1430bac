package settings_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/settings"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/store/storetest"
)

// guardedServer is the console's client, allowed to reach this server.
func guardedServer(address string) *http.Client {
	return outbound.Allowing(strings.TrimPrefix(address, "http://")).Client()
}

// The server's metadata decides where people and tokens are sent.
func TestAServerThatCannotBeTrustedIsNotUsed(t *testing.T) {
	const resource, server = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"
	var all map[string]map[string]any
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if all[r.URL.Path] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(all[r.URL.Path])
	}))
	for _, tt := range []struct {
		path, field string
		is          any // nil: the field is missing
		want        error
	}{
		{server, "x", "y", nil},
		{resource, "resource", "https://other.example/mcp", settings.ErrNone},
		{resource, "authorization_servers", []string{"https://169.254.169.254"}, settings.ErrNone}, // within our network
		{server, "issuer", "https://other.example", settings.ErrUnfit},
		{server, "code_challenge_methods_supported", nil, settings.ErrUnfit},
		{server, "code_challenge_methods_supported", []string{"plain"}, settings.ErrUnfit},
		{server, "authorization_endpoint", "javascript:alert(1)", settings.ErrUnfit},
		{server, "authorization_endpoint", nil, settings.ErrUnfit},
		{"", "", nil, settings.ErrNone}, // it says nothing
	} {
		all = map[string]map[string]any{
			resource: {"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}},
			server: {"issuer": s.URL, "authorization_endpoint": s.URL + "/a", "token_endpoint": s.URL + "/t",
				"code_challenge_methods_supported": []string{"S256"}},
		}
		if all[tt.path] == nil {
			clear(all)
		} else if all[tt.path][tt.field] = tt.is; tt.is == nil {
			delete(all[tt.path], tt.field)
		}
		found, err := settings.FindAuthServer(t.Context(), guardedServer(s.URL), "mcp:x", s.URL+"/mcp")
		expect.That(t, errors.Is(err, tt.want) && (err == nil) == (tt.want == nil), "%s %s: %v", tt.path, tt.field, err)
		if err == nil {
			_, err := found.Register(t.Context(), guardedServer(s.URL), "https://ringi.example/back")
			expect.That(t, errors.Is(err, settings.ErrNoRegistration), "%v", err)
		}
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
	s.Server = expect.Server(t, mux)
	return s
}

// named adds an MCP server called docs to the settings; it names an authorization server.
func (w *connecting) named(t *testing.T, by func() string, issuers ...*issuing) {
	mcp := http.NewServeMux()
	tools := expect.Server(t, mcp)
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
	w.Settings(func(x *tenancy.Settings) {
		x.MCPServers = []tenancy.MCPServer{{Name: "docs", URL: tools.URL + "/mcp"}}
	})
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
