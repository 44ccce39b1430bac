package vendors

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"ringi/shared/secret/vault"
)

// The names of token endpoints for Fail and the other faults. Those of revocation are google_revoke and so on.
const FreeeTokens, GoogleTokens = "freee_token", "google_token"

// accounts is one vendor's authorization server.
type accounts struct {
	provider string
	client   vault.OAuthClient
	lifetime time.Duration // of access tokens
	oneTime  bool          // each refresh token works once
	resource string        // path of the resource, if requests must name it

	mu      sync.Mutex
	access  map[string]*grant
	refresh map[string]*grant
	codes   map[string]asked
	clients map[string]bool // that registered, by id; they have no secret
	given   []string        // all secrets that were ever made
}

// grant is a person's consent. Revoking it invalidates all of its tokens.
type grant struct {
	until   time.Time // expiry of the newest access token
	revoked bool
}

// asked has the values that the exchange of a code must repeat.
type asked struct{ client, redirect, challenge string }

func newAccounts(provider string, lifetime time.Duration, oneTime bool) *accounts {
	a := &accounts{
		provider: provider, lifetime: lifetime, oneTime: oneTime,
		client: vault.OAuthClient{ID: provider + "-client", Secret: provider + "-secret-" + rand.Text()},
		access: map[string]*grant{}, refresh: map[string]*grant{}, codes: map[string]asked{}, clients: map[string]bool{},
	}
	a.given = []string{a.client.Secret}
	return a
}

// issue makes an access token. It keeps the refresh token, or makes one if refresh is empty. The caller holds mu.
func (a *accounts) issue(g *grant, refresh string) vault.Token {
	t := vault.Token{Access: a.provider + "-access-" + rand.Text(), ExpiresAt: time.Now().Add(a.lifetime),
		Refresh: cmp.Or(refresh, a.provider+"-refresh-"+rand.Text())}
	if a.provider == "freee" {
		t.CompanyID = strconv.Itoa(company)
	}
	g.until = t.ExpiresAt
	a.access[t.Access], a.refresh[t.Refresh] = g, g
	a.given = append(a.given, t.Access, t.Refresh)
	return t
}

// knows reports whether a request has a valid access token.
func (a *accounts) knows(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.access[token]
	return ok && g != nil && !g.revoked && time.Now().Before(g.until)
}

// token exchanges codes and refresh tokens for tokens.
func (a *accounts) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.knowsClient(r):
		refuseToken(w, http.StatusUnauthorized, "invalid_client")
		return
	case !a.isFor(r, r.PostFormValue("resource")):
		refuseToken(w, http.StatusBadRequest, "invalid_target")
		return
	}
	var t vault.Token
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		want, ok := a.codes[r.PostFormValue("code")]
		delete(a.codes, r.PostFormValue("code"))
		if !ok || want.client != r.PostFormValue("client_id") || want.redirect != r.PostFormValue("redirect_uri") ||
			want.challenge != oauth2.S256ChallengeFromVerifier(r.PostFormValue("code_verifier")) {
			refuseToken(w, http.StatusBadRequest, "invalid_grant")
			return
		}
		t = a.issue(&grant{}, "")
	case "refresh_token":
		old := r.PostFormValue("refresh_token")
		g := a.refresh[old]
		switch {
		case g == nil || g.revoked:
			// freee answers 401 if a refresh token was used before.
			refuseToken(w, map[bool]int{true: http.StatusUnauthorized, false: http.StatusBadRequest}[a.oneTime], "invalid_grant")
			return
		case a.oneTime:
			delete(a.refresh, old)
			old = ""
		}
		t = a.issue(g, old)
	default:
		refuseToken(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	out := map[string]any{"access_token": t.Access, "token_type": "bearer", "expires_in": int(a.lifetime.Seconds())}
	if a.oneTime || r.PostFormValue("grant_type") == "authorization_code" {
		out["refresh_token"] = t.Refresh
	}
	switch a.provider {
	case "freee":
		out["company_id"], out["scope"], out["created_at"] = t.CompanyID, "read write default_read", time.Now().Unix()
	case "google":
		out["token_type"], out["scope"] = "Bearer", "https://www.googleapis.com/auth/spreadsheets"
	}
	answer(w, http.StatusOK, out)
}

func refuseToken(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]any{"error": code, "error_description": "The request was refused."})
}

// Client is the OAuth client that is registered with a vendor, freee or google.
func (v *Vendors) Client(provider string) vault.OAuthClient { return v.accounts[provider].client }

// Grant makes the tokens of a new consent.
func (v *Vendors) Grant(provider string) vault.Token {
	a := v.accounts[provider]
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.issue(&grant{}, "")
}

// Expire makes all access tokens expire; refresh tokens still work.
func (v *Vendors) Expire(provider string) {
	v.each(provider, func(g *grant) { g.until = time.Time{} })
}

// Revoke invalidates all access and refresh tokens.
func (v *Vendors) Revoke(provider string) { v.each(provider, func(g *grant) { g.revoked = true }) }

func (v *Vendors) each(provider string, do func(*grant)) {
	a := v.accounts[provider]
	a.mu.Lock()
	defer a.mu.Unlock()
	for g := range maps.Values(a.access) {
		do(g)
	}
}

// Secrets returns all tokens, codes and client secrets that ever existed.
func (v *Vendors) Secrets() []string {
	all := []string{v.RoomsToken}
	for _, a := range v.accounts {
		a.mu.Lock()
		all = append(all, a.given...)
		a.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

// The paths where an MCP server and its authorization server describe themselves (RFC 9728, RFC 8414).
const (
	resourceMetadata = "/.well-known/oauth-protected-resource"
	serverMetadata   = "/.well-known/oauth-authorization-server"
)

// origin returns the origin that a request was sent to.
func origin(r *http.Request) string { return "http://" + r.Host }

var consentPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{if .English}}en{{else}}ja{{end}}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Vendor}}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;
max-width:30em;margin:3em auto;padding:0 1em}
a{display:inline-block;margin:.3em .6em .3em 0;padding:.5em 1.2em;border:1px solid;border-radius:6px}</style>
<main><h1>{{.Vendor}}</h1>
{{if .English}}<p>This page stands in for {{.Vendor}}'s. <b>Ringi</b> asks for access to the sample company's data.</p>
<p><a href="{{.Allow}}">Allow</a><a href="{{.Deny}}">Deny</a></p>
{{else}}<p>{{.Vendor}} の画面の代わりです。<b>Ringi</b> が、見本の会社のデータへのアクセスを求めています。</p>
<p><a href="{{.Allow}}">許可する</a><a href="{{.Deny}}">拒否する</a></p>{{end}}
</main></html>
`))

// authorize serves the page on which a person consents. A request that does not accept HTML counts as consent.
func (a *accounts) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	a.mu.Lock()
	registered := a.clients[q.Get("client_id")]
	a.mu.Unlock()
	switch {
	case err != nil || !back.IsAbs() || q.Get("client_id") != a.client.ID && !registered ||
		q.Get("response_type") != "code":
		http.Error(w, "client_id, response_type or redirect_uri is wrong", http.StatusBadRequest)
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		http.Error(w, "code_challenge is wrong", http.StatusBadRequest)
	case !a.isFor(r, q.Get("resource")):
		http.Error(w, "resource is wrong", http.StatusBadRequest)
	case q.Get("decision") == "deny":
		leadBack(w, r, back, url.Values{"error": {"access_denied"}, "state": {q.Get("state")}})
	case q.Get("decision") == "" && strings.Contains(r.Header.Get("Accept"), "text/html"):
		a.ask(w, r)
	default:
		code := rand.Text()
		a.mu.Lock()
		a.codes[code] = asked{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge")}
		a.given = append(a.given, code)
		a.mu.Unlock()
		leadBack(w, r, back, url.Values{"code": {code}, "state": {q.Get("state")}})
	}
}

func leadBack(w http.ResponseWriter, r *http.Request, back *url.URL, with url.Values) {
	back.RawQuery = with.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (a *accounts) ask(w http.ResponseWriter, r *http.Request) {
	decide := func(what string) string {
		q := r.URL.Query()
		q.Set("decision", what)
		return r.URL.Path + "?" + q.Encode()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = consentPage.Execute(w, map[string]any{
		"English": strings.HasPrefix(r.Header.Get("Accept-Language"), "en"), "Allow": decide("allow"), "Deny": decide("deny"),
		"Vendor": map[string]string{"freee": "freee", "google": "Google", "rooms": "会議室 / Meeting rooms"}[a.provider],
	})
}

// isFor reports whether a request names the right resource, if this server requires one.
func (a *accounts) isFor(r *http.Request, resource string) bool {
	return a.resource == "" || resource == origin(r)+a.resource
}

// knowsClient reports whether a form has a valid client id and secret. The caller holds mu.
func (a *accounts) knowsClient(r *http.Request) bool {
	id, secret := r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	return a.clients[id] && secret == "" || id == a.client.ID && secret == a.client.Secret
}

// revoke ends the consent that a token belongs to. Google requires no client and refuses unknown tokens; the others
// follow RFC 7009.
func (a *accounts) revoke(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.provider != "google" && !a.knowsClient(r) {
		refuseToken(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	token := r.PostFormValue("token")
	g := a.access[token]
	if g == nil {
		g = a.refresh[token]
	}
	switch {
	case g != nil && !g.revoked:
		g.revoked = true
	case a.provider == "google":
		refuseToken(w, http.StatusBadRequest, "invalid_token")
		return
	}
	answer(w, http.StatusOK, map[string]any{})
}

// discoverable serves the metadata of the MCP server and of its authorization server, and the registration of clients.
func (a *accounts) discoverable(m *http.ServeMux) {
	m.HandleFunc("GET "+resourceMetadata+a.resource, func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"resource": origin(r) + a.resource, "authorization_servers": []string{origin(r) + "/" +
				a.provider}, "scopes_supported": []string{"rooms"},
		})
	})
	m.HandleFunc("GET "+serverMetadata+"/"+a.provider, func(w http.ResponseWriter, r *http.Request) {
		at := origin(r) + "/" + a.provider
		answer(w, http.StatusOK, map[string]any{
			"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
			"revocation_endpoint":   at + "/revoke",
			"registration_endpoint": at + "/register", "jwks_uri": at + "/keys", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"},
			"grant_types_supported": []string{"authorization_code",
				"refresh_token"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	m.HandleFunc("POST /"+a.provider+"/register", a.register)
}

// register registers a client without a secret (RFC 7591).
func (a *accounts) register(w http.ResponseWriter, r *http.Request) {
	var wants struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&wants) != nil || len(wants.Redirects) == 0 ||
		wants.Method != "none" {
		refuseToken(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	id := "client-" + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients[id] = true
	answer(w, http.StatusCreated,
		map[string]any{"client_id": id, "redirect_uris": wants.Redirects, "token_endpoint_auth_method": wants.Method})
}
