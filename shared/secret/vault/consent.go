package vault

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// consentWithin is how long a person may take. freee's codes are valid for the same time.
const consentWithin = 10 * time.Minute

// Consent is one authorization request (OAuth's code flow with PKCE). Until the person returns, the caller must store
// it where nobody else can read it: state and verifier are secrets.
type Consent struct {
	Provider    string    `json:"provider"`
	Tenant      string    `json:"tenant"`
	RedirectURL string    `json:"redirect_url"`
	State       string    `json:"state"`
	Verifier    string    `json:"verifier"`
	Until       time.Time `json:"until"`
}

// String keeps the verifier out of logs and errors.
func (Consent) String() string { return "(hidden)" }

// GoString is String.
func (c Consent) GoString() string { return c.String() }

var (
	// ErrState: the redirect's state belongs to another consent.
	ErrState = errors.New("this return from the vendor belongs to another attempt to connect: begin again")
	// ErrLate: the redirect came after consentWithin.
	ErrLate = fmt.Errorf("connecting took longer than %s: begin again", consentWithin)
	// ErrDenied: the person or the vendor refused access.
	ErrDenied = errors.New("the vendor did not give access")
)

// Begin starts a consent and returns the URL that the person opens.
func (p OAuthProvider) Begin(c OAuthClient, tenant, redirect string, now time.Time) (Consent, string) {
	consent := Consent{
		Provider: p.Name, Tenant: tenant, RedirectURL: redirect, State: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Until: now.Add(consentWithin),
	}
	return consent, p.Ask(c, redirect, consent.State, consent.Verifier)
}

// Ask returns the address where a person consents, which redirects back with state.
func (p OAuthProvider) Ask(c OAuthClient, redirect, state, verifier string) string {
	options := append(p.about(), oauth2.S256ChallengeOption(verifier))
	for name, value := range p.Params {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return p.config(c, redirect).AuthCodeURL(state, options...)
}

// about names the resource of the tokens, if there is one.
func (p OAuthProvider) about() []oauth2.AuthCodeOption {
	if p.Resource == "" {
		return nil
	}
	return []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("resource", p.Resource)}
}

// Code returns the code of a redirect. It returns ErrDenied, with the vendor's error code if that is well-formed, when
// access was refused.
func ConsentCode(returned url.Values) (string, error) {
	if returned.Get("error") == "" && returned.Get("code") != "" {
		return returned.Get("code"), nil
	}
	if why := returned.Get("error"); code.Get().MatchString(why) {
		return "", fmt.Errorf("%w: %s", ErrDenied, why)
	}
	return "", ErrDenied
}

// Exchange exchanges a code for a token with a single request. Its errors are *Error.
func (p OAuthProvider) Exchange(ctx context.Context, c OAuthClient, redirect, code, verifier string) (Token, error) {
	return p.exchange(ctx, func(ctx context.Context) (*oauth2.Token, error) {
		return p.config(c, redirect).Exchange(ctx, code, append(p.about(), oauth2.VerifierOption(verifier))...)
	})
}

// Finish exchanges the redirect's code for a token. It returns ErrState, ErrLate or ErrDenied for a redirect that must
// not be used, and *Error when the exchange fails.
func (p OAuthProvider) Finish(ctx context.Context, c OAuthClient, consent Consent, returned url.Values,
	now time.Time) (Token, error) {
	switch {
	case consent.Provider != p.Name, consent.State == "",
		subtle.ConstantTimeCompare([]byte(consent.State), []byte(returned.Get("state"))) != 1:
		return Token{}, ErrState
	case !now.Before(consent.Until):
		return Token{}, ErrLate
	}
	given, err := ConsentCode(returned)
	if err != nil {
		return Token{}, err
	}
	return p.Exchange(ctx, c, consent.RedirectURL, given, consent.Verifier)
}
