package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"ringi/shared/explain"
	"ringi/shared/runtime/secret"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
)

// exchangeWithin bounds one exchange. An exchange continues when its caller's context ends: otherwise the answer, and
// with it a one-time refresh token, would be lost.
const exchangeWithin = 10 * time.Second

// Refresh exchanges a refresh token with a single request. If the answer has no new refresh token, the old one remains
// valid. Its errors are *OAuthError.
func (p OAuthProvider) Refresh(ctx context.Context, c OAuthClient, refresh string) (Token, error) {
	return p.exchange(ctx, func(ctx context.Context) (*oauth2.Token, error) {
		if p.Resource == "" {
			return p.config(c, "").TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
		}
		// The library's own refresh can't send the tokens' resource. An empty code counts as absent (RFC 6749, 3.2).
		t, err := p.config(c, "").Exchange(ctx, "",
			append(p.about(), oauth2.SetAuthURLParam("grant_type", "refresh_token"),
				oauth2.SetAuthURLParam("refresh_token", refresh))...)
		if err == nil && t.RefreshToken == "" {
			t.RefreshToken = refresh
		}
		return t, err
	})
}

func (p OAuthProvider) config(c OAuthClient, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: redirect, Scopes: p.Scopes,
		// The client id is sent in the form: if the library tried both ways, it could send the token twice.
		Endpoint: oauth2.Endpoint{AuthURL: p.AuthURL, TokenURL: p.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
}

func (p OAuthProvider) exchange(ctx context.Context, send func(context.Context) (*oauth2.Token, error)) (Token, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchangeWithin)
	defer cancel()
	answered := &answer{next: p.transport()}
	got, err := send(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport: answered, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))
	if err != nil {
		return Token{}, p.failed(err, answered)
	}
	return Token{Access: got.AccessToken, Refresh: got.RefreshToken, ExpiresAt: got.Expiry,
		CompanyID: company(got.Extra("company_id"))}, nil
}

func (p OAuthProvider) transport() http.RoundTripper {
	if p.Transport != nil {
		return p.Transport
	}
	return wire.NewHTTP().Writes.Transport
}

// company returns an id that may be a text or a number, empty for anything else.
func company(id any) string {
	if n, ok := id.(float64); ok {
		id = strconv.FormatFloat(n, 'f', 0, 64)
	}
	text, _ := id.(string)
	return digits.Get().FindString(text)
}

// answer records the response's status, so that it is known even if the body is incomplete.
type answer struct {
	next   http.RoundTripper
	status int
	header http.Header
}

func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := a.next.RoundTrip(r)
	if err == nil {
		a.status, a.header = res.StatusCode, res.Header
	}
	return res, err
}

var (
	digits = language.Regexp{Text: `^[0-9]{1,20}$`}
	code   = language.Regexp{Text: `^[a-z_]{1,40}$`}
)

// failed classifies a failed exchange. It keeps only the answer's error code because its text may repeat the token.
func (p OAuthProvider) failed(err error, a *answer) *OAuthError {
	name := explain.Provider(p.Name)
	said := &oauth2.RetrieveError{}
	errors.As(err, &said)
	if !code.Get().MatchString(said.ErrorCode) {
		said.ErrorCode = ""
	}
	switch {
	case a.status == 0:
		cause := wire.Broken(name, err)
		if cause.Outcome == explain.CallFailed {
			return &OAuthError{TokenUnspent, cause}
		}
		return &OAuthError{TokenUnclear, cause}
	case a.status == http.StatusBadRequest || a.status == http.StatusUnauthorized || a.status < 300 &&
		said.ErrorCode != "":
		return &OAuthError{TokenRefused, explain.Fail(explain.ProblemUnauthorized,
			fmt.Errorf("HTTP %d %s", a.status, said.ErrorCode), name)}
	case a.status >= 300:
		cause := wire.Refused(name, a.status, a.header, said.ErrorCode)
		cause.Outcome = explain.CallFailed
		return &OAuthError{TokenUnspent, cause}
	}
	return &OAuthError{TokenUnclear, explain.Fail(explain.ProblemBadAnswer, errors.New("the answer holds no token"), name)}
}

// ErrNoRevoking: the vendor has no address for revoking tokens.
var ErrNoRevoking = errors.New("the vendor takes no tokens back")

// Revoke makes a token invalid at the vendor; for a refresh token, also all tokens made from it (RFC 7009). A token
// that was already invalid is no error. Errors contain only the answer's code.
func (p OAuthProvider) Revoke(ctx context.Context, c OAuthClient, token string) error {
	if p.RevokeURL == "" {
		return ErrNoRevoking
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchangeWithin)
	defer cancel()
	form := url.Values{"token": {token}}
	if !p.RevokesAlone {
		form.Set("client_id", c.ID)
		if c.Secret != "" {
			form.Set("client_secret", c.Secret)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("revoke a token of %s: its address is none", p.Name)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := p.transport().RoundTrip(r)
	if err != nil {
		return fmt.Errorf("revoke a token of %s: no answer", p.Name) // the error may quote the address
	}
	defer res.Body.Close()
	var said struct{ Error string }
	body, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // only the status matters
	_ = json.Unmarshal(body, &said)
	switch {
	case res.StatusCode == http.StatusOK, res.StatusCode == http.StatusNoContent, said.Error == "invalid_token":
		return nil
	case !code.Get().MatchString(said.Error):
		said.Error = ""
	}
	return fmt.Errorf("revoke a token of %s: HTTP %d %s", p.Name, res.StatusCode, said.Error)
}

// OAuthProvider is a vendor's authorization server.
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
	FreeeTokenURL  = "https://accounts.secure.freee.co.jp/public_api/token"
	GoogleAuthURL  = "https://accounts.google.com/o/oauth2/v2/auth"
	GoogleTokenURL = "https://oauth2.googleapis.com/token"
)

// FreeeOAuth is freee's authorization server. Access tokens are valid for 6 hours; refresh tokens for 90 days and one
// use. A person chooses the company of the token. The other addresses are derived from tokenURL
// (https://developer.freee.co.jp/reference/faq/switch-obsolete-authorization). An empty one means freee's own.
func FreeeOAuth(tokenURL string) OAuthProvider {
	tokenURL = cmp.Or(tokenURL, FreeeTokenURL)
	return OAuthProvider{
		Name: "freee", AuthURL: beside(tokenURL, "authorize"), TokenURL: tokenURL,
		RevokeURL: beside(tokenURL, "revoke"),
		Params:    map[string]string{"prompt": "select_company"}, OneTime: true,
	}
}

// beside replaces the last part of an address.
func beside(address, last string) string {
	i := strings.LastIndexByte(address, '/')
	return address[:i+1] + last
}

// GoogleOAuth is Google's authorization server. Access tokens are valid for an hour; refresh tokens don't change.
// Google gives a refresh token only for offline access, and only when it asks for consent. An empty address means
// Google's own.
func GoogleOAuth(tokenURL string) OAuthProvider {
	tokenURL = cmp.Or(tokenURL, GoogleTokenURL)
	authURL := beside(tokenURL, "authorize")
	if tokenURL == GoogleTokenURL {
		authURL = GoogleAuthURL
	}
	return OAuthProvider{
		Name: "google", AuthURL: authURL, TokenURL: tokenURL,
		RevokeURL: beside(tokenURL, "revoke"), RevokesAlone: true,
		Scopes: []string{"https://www.googleapis.com/auth/spreadsheets"},
		Params: map[string]string{"access_type": "offline", "prompt": "consent"},
	}
}

// OAuthClient is an app that is registered with a vendor.
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

// OAuthError is a failed exchange, and says whether the token that was sent can still be used. It contains no token:
// its cause is an *explain.CallError.
type OAuthError struct {
	State TokenState
	Cause error
}

func (e *OAuthError) Error() string {
	return "exchange a token (" + string(e.State) + "): " + e.Cause.Error()
}
func (e *OAuthError) Unwrap() error { return e.Cause }
