package vendors

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringi/shared/secret/oauth"
)

// The names under which Fail and Hang know the token endpoints.
const (
	FreeeTokens  = "freee_token"
	GoogleTokens = "google_token"
	RoomsTokens  = "rooms_token"
)

// accounts is one vendor's authorization server.
type accounts struct {
	provider string
	client   oauth.Client
	lifetime time.Duration // of an access token
	oneTime  bool          // a refresh token works once
	resource string        // the path of what tokens are for, where a request must say so
	now      func() time.Time

	mu      sync.Mutex
	access  map[string]*grant
	refresh map[string]*grant
	codes   map[string]asked
	clients map[string]string // secrets by id of clients that registered themselves; empty: it has none
	given   []string          // every secret that was ever made
}

// grant is a person's consent; revoking it ends all of its tokens.
type grant struct {
	until   time.Time // of the newest access token
	revoked bool
}

// asked is what a request to exchange a code must match.
type asked struct{ client, redirect, challenge string }

func newAccounts(provider string, lifetime time.Duration, oneTime bool, now func() time.Time) *accounts {
	a := &accounts{
		provider: provider, lifetime: lifetime, oneTime: oneTime, now: now,
		client: oauth.Client{ID: provider + "-client", Secret: provider + "-secret-" + rand.Text()},
		access: map[string]*grant{}, refresh: map[string]*grant{}, codes: map[string]asked{}, clients: map[string]string{},
	}
	a.given = []string{a.client.Secret}
	return a
}

// issue makes an access token, and a refresh token unless one is given, which then stays. The caller holds mu.
func (a *accounts) issue(g *grant, refresh string) oauth.Token {
	t := oauth.Token{Access: a.provider + "-access-" + rand.Text(), Refresh: refresh, ExpiresAt: a.now().Add(a.lifetime)}
	t.Refresh = cmp.Or(t.Refresh, a.provider+"-refresh-"+rand.Text())
	if a.provider == "freee" {
		t.CompanyID = strconv.Itoa(company)
	}
	g.until = t.ExpiresAt
	a.access[t.Access], a.refresh[t.Refresh] = g, g
	a.given = append(a.given, t.Access, t.Refresh)
	return t
}

// grant makes tokens for a new consent.
func (a *accounts) grant() oauth.Token {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.issue(&grant{}, "")
}

// knows reports whether a request carries an access token that works.
func (a *accounts) knows(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.access[token]
	return ok && g != nil && !g.revoked && a.now().Before(g.until)
}

// token exchanges codes and refresh tokens.
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
	var t oauth.Token
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
			// freee says 401 of a token that was used before.
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

// Client is the app by which a vendor, freee or google, knows us.
func (v *Vendors) Client(provider string) oauth.Client { return v.accounts[provider].client }

// Grant is a person's consent: tokens of its own.
func (v *Vendors) Grant(provider string) oauth.Token { return v.accounts[provider].grant() }

// Expire ends all access tokens; refresh tokens still work.
func (v *Vendors) Expire(provider string) {
	v.each(provider, func(g *grant) { g.until = time.Time{} })
}

// Revoke ends all access and refresh tokens.
func (v *Vendors) Revoke(provider string) { v.each(provider, func(g *grant) { g.revoked = true }) }

func (v *Vendors) each(provider string, do func(*grant)) {
	a := v.accounts[provider]
	a.mu.Lock()
	defer a.mu.Unlock()
	for g := range maps.Values(a.access) {
		do(g)
	}
}

// Secrets are all tokens, codes and client secrets that ever existed.
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
