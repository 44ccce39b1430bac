package vendors

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"ringi/shared/secret/vault"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The names of the token endpoints for Fail and Hang.
const (
	FreeeTokens  = "freee_token"
	GoogleTokens = "google_token"
	RoomsTokens  = "rooms_token"
)

// accounts is one vendor's authorization server.
type accounts struct {
	provider string
	client   vault.OAuthClient
	lifetime time.Duration // of access tokens
	oneTime  bool          // each refresh token works once
	resource string        // path of the resource, if requests must name it
	now      func() time.Time

	mu      sync.Mutex
	access  map[string]*grant
	refresh map[string]*grant
	codes   map[string]asked
	clients map[string]string // secrets of registered clients by id; "" for a client without a secret
	given   []string          // all secrets that were ever made
}

// grant is a person's consent. Revoking it invalidates all of its tokens.
type grant struct {
	until   time.Time // expiry of the newest access token
	revoked bool
}

// asked has the values that the exchange of a code must repeat.
type asked struct{ client, redirect, challenge string }

func newAccounts(provider string, lifetime time.Duration, oneTime bool, now func() time.Time) *accounts {
	a := &accounts{
		provider: provider, lifetime: lifetime, oneTime: oneTime, now: now,
		client: vault.OAuthClient{ID: provider + "-client", Secret: provider + "-secret-" + rand.Text()},
		access: map[string]*grant{}, refresh: map[string]*grant{}, codes: map[string]asked{}, clients: map[string]string{},
	}
	a.given = []string{a.client.Secret}
	return a
}

// issue makes an access token. It keeps the refresh token, or makes one if refresh is empty. The caller holds mu.
func (a *accounts) issue(g *grant, refresh string) vault.Token {
	t := vault.Token{Access: a.provider + "-access-" + rand.Text(), Refresh: refresh, ExpiresAt: a.now().Add(a.lifetime)}
	t.Refresh = cmp.Or(t.Refresh, a.provider+"-refresh-"+rand.Text())
	if a.provider == "freee" {
		t.CompanyID = strconv.Itoa(company)
	}
	g.until = t.ExpiresAt
	a.access[t.Access], a.refresh[t.Refresh] = g, g
	a.given = append(a.given, t.Access, t.Refresh)
	return t
}

func (a *accounts) grant() vault.Token {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.issue(&grant{}, "")
}

// knows reports whether a request has a valid access token.
func (a *accounts) knows(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.access[token]
	return ok && g != nil && !g.revoked && a.now().Before(g.until)
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
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !ok || want.client != r.PostFormValue("client_id") || want.redirect != r.PostFormValue("redirect_uri") ||
			want.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
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
		out["company_id"], out["scope"], out["created_at"] = t.CompanyID, "read write default_read", a.now().Unix()
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
func (v *Vendors) Grant(provider string) vault.Token { return v.accounts[provider].grant() }

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
	all := []string{v.roomsToken}
	for _, a := range v.accounts {
		a.mu.Lock()
		all = append(all, a.given...)
		a.mu.Unlock()
	}
	slices.Sort(all)
	return all
}
