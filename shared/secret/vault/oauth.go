package vault

import (
	"cmp"
	"net/http"
	"ringi/shared/runtime/secret"
	"strings"
	"time"
)

// Provider is a vendor's authorization server.
type OAuthProvider struct {
	Name     string // as in integrations
	AuthURL  string // where people consent
	TokenURL string
	Scopes   []string
	Params   map[string]string // further parameters of AuthURL
	// OneTime: a refresh token works once, and the answer contains the next one.
	OneTime bool
	// RevokeURL is where tokens are revoked; empty if the vendor can't. RevokesAlone means that the request names no
	// client.
	RevokeURL    string
	RevokesAlone bool
	// Resource is the MCP server's address that tokens are for: an authorization server may serve several (RFC 8707).
	Resource string
	// Transport makes the calls; nil means the default. Addresses that a tenant chooses need a guarded one.
	Transport http.RoundTripper
}

// Addresses of the vendors' servers.
const (
	FreeeAuthURL   = "https://accounts.secure.freee.co.jp/public_api/authorize"
	FreeeTokenURL  = "https://accounts.secure.freee.co.jp/public_api/token"
	GoogleAuthURL  = "https://accounts.google.com/o/oauth2/v2/auth"
	GoogleTokenURL = "https://oauth2.googleapis.com/token"
)

// Freee is freee's authorization server. Access tokens are valid for 6 hours; refresh tokens for 90 days and one use. A
// person chooses the company of the token. Empty addresses are derived from tokenURL
// (https://developer.freee.co.jp/reference/faq/switch-obsolete-authorization).
func FreeeOAuth(authURL, tokenURL string) OAuthProvider {
	return OAuthProvider{
		Name: "freee", AuthURL: cmp.Or(authURL, beside(tokenURL, "authorize")), TokenURL: tokenURL,
		RevokeURL: beside(tokenURL, "revoke"),
		Params:    map[string]string{"prompt": "select_company"}, OneTime: true,
	}
}

// beside replaces the last part of an address.
func beside(address, last string) string {
	i := strings.LastIndexByte(address, '/')
	return address[:i+1] + last
}

// Google is Google's authorization server. Access tokens are valid for an hour; refresh tokens don't change. Google
// gives a refresh token only for offline access, and only when it asks for consent.
func GoogleOAuth(authURL, tokenURL string) OAuthProvider {
	if authURL == "" && tokenURL == GoogleTokenURL {
		authURL = GoogleAuthURL
	}
	return OAuthProvider{
		Name: "google", AuthURL: cmp.Or(authURL, beside(tokenURL, "authorize")), TokenURL: tokenURL,
		RevokeURL: beside(tokenURL, "revoke"), RevokesAlone: true,
		Scopes: []string{"https://www.googleapis.com/auth/spreadsheets"},
		Params: map[string]string{"access_type": "offline", "prompt": "consent"},
	}
}

// Client is an app that is registered with a vendor.
type OAuthClient struct {
	secret.Hidden
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

// Token is the result of an exchange.
type Token struct {
	secret.Hidden
	Access    string
	Refresh   string    // empty if the access token can't be renewed
	ExpiresAt time.Time // zero if the vendor names no expiry
	CompanyID string    // freee's id of the company that the person chose
}

// TokenState is the state of a token or code after its exchange failed.
type TokenState string

const (
	// Refused: the vendor rejected it, so it can't be used again.
	TokenRefused TokenState = "refused"
	// Unspent: it was not used, so a retry may work.
	TokenUnspent TokenState = "unspent"
	// Unclear: it was sent without a usable answer, so a one-time token may be used up.
	TokenUnclear TokenState = "unclear"
)

// Error is a failed exchange. It contains no token: its cause is a *failedcall.Error.
type OAuthError struct {
	State TokenState
	Cause error
}

func (e *OAuthError) Error() string {
	return "exchange a token (" + string(e.State) + "): " + e.Cause.Error()
}
func (e *OAuthError) Unwrap() error { return e.Cause }
