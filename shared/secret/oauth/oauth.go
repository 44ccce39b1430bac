// Package oauth gets tokens from vendors' authorization servers: by a person's consent,
// and by refresh tokens. The error of a failed exchange says whether the token that was
// sent can still be used.
package oauth

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"ringi/shared/runtime/secret"
)

// Provider is a vendor's authorization server.
type Provider struct {
	Name     string // as integrations name it
	AuthURL  string // where people consent
	TokenURL string
	Scopes   []string
	Params   map[string]string // further parameters of AuthURL
	// OneTime: a refresh token works once, and its answer brings the next.
	OneTime bool
	// RevokeURL is where tokens are revoked; empty: the vendor has no such place. RevokesAlone says that the request
	// names no client.
	RevokeURL    string
	RevokesAlone bool
	// Resource is an MCP server's address for which tokens are made, since an authorization server may have several (RFC
	// 8707).
	Resource string
	// Transport makes the calls; nil: a default one. A guarded one is needed for addresses that a tenant chooses.
	Transport http.RoundTripper
}

// Where the vendors' own servers are.
const (
	FreeeAuthURL   = "https://accounts.secure.freee.co.jp/public_api/authorize"
	FreeeTokenURL  = "https://accounts.secure.freee.co.jp/public_api/token"
	GoogleAuthURL  = "https://accounts.google.com/o/oauth2/v2/auth"
	GoogleTokenURL = "https://oauth2.googleapis.com/token"
)

// Freee is freee's authorization server. Access tokens last 6 hours, and refresh tokens 90 days, for one use. A person
// chooses the company of the token. If authURL is empty it is beside tokenURL, as is the address for revoking
// (https://developer.freee.co.jp/reference/faq/switch-obsolete-authorization).
func Freee(authURL, tokenURL string) Provider {
	return Provider{
		Name: "freee", AuthURL: cmp.Or(authURL, beside(tokenURL, "authorize")), TokenURL: tokenURL,
		RevokeURL: beside(tokenURL, "revoke"),
		Params:    map[string]string{"prompt": "select_company"}, OneTime: true,
	}
}

// beside is an address with another last part.
func beside(address, last string) string {
	i := strings.LastIndexByte(address, '/')
	return address[:i+1] + last
}

// Google is Google's authorization server. Access tokens last an hour, and refresh tokens stay. Google gives a refresh
// token only for offline access, and only when it asks for consent.
func Google(authURL, tokenURL string) Provider {
	if authURL == "" && tokenURL == GoogleTokenURL {
		authURL = GoogleAuthURL
	}
	return Provider{
		Name: "google", AuthURL: cmp.Or(authURL, beside(tokenURL, "authorize")), TokenURL: tokenURL,
		RevokeURL: beside(tokenURL, "revoke"), RevokesAlone: true,
		Scopes: []string{"https://www.googleapis.com/auth/spreadsheets"},
		Params: map[string]string{"access_type": "offline", "prompt": "consent"},
	}
}

// Client is the app as it is registered with a vendor.
type Client struct {
	secret.Hidden
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

// Token is the result of an exchange.
type Token struct {
	secret.Hidden
	Access    string
	Refresh   string    // empty: there is none, so the access token can't be renewed
	ExpiresAt time.Time // zero: never, as far as the vendor says
	CompanyID string    // freee's, of the company that the person chose
}

// TokenState is the state of a token or code after its exchange failed.
type TokenState string

const (
	// Refused: the vendor rejected it; it can't be used again.
	Refused TokenState = "refused"
	// Unspent: it was not used; a later try may work.
	Unspent TokenState = "unspent"
	// Unclear: it was sent and no usable answer arrived, so a one-time token may be used up.
	Unclear TokenState = "unclear"
)

// Error is an exchange that failed. It names no token: its cause is a *failedcall.Error.
type Error struct {
	State TokenState
	Cause error
}

func (e *Error) Error() string {
	return "exchange a token (" + string(e.State) + "): " + e.Cause.Error()
}
func (e *Error) Unwrap() error { return e.Cause }
