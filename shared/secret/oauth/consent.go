package oauth

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

// consentWithin is how long a person may take; freee's codes live as long.
const consentWithin = 10 * time.Minute

// Consent is one authorization request (OAuth's code flow with PKCE). The caller keeps it until the person
// returns, where nobody else can read it: state and verifier are secrets until then.
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
	// ErrState: the redirect's state is not that of this consent.
	ErrState = errors.New("this return from the vendor belongs to another attempt to connect: begin again")
	// ErrLate: the redirect came after consentWithin.
	ErrLate = fmt.Errorf("connecting took longer than %s: begin again", consentWithin)
	// ErrDenied: the person or the vendor refused access.
	ErrDenied = errors.New("the vendor did not give access")
)

// Begin starts a consent and returns the URL that the person opens.
func (p Provider) Begin(c Client, tenant, redirect string, now time.Time) (Consent, string) {
	consent := Consent{
		Provider: p.Name, Tenant: tenant, RedirectURL: redirect, State: rand.Text(), Verifier: oauth2.GenerateVerifier(), Until: now.Add(consentWithin),
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(consent.Verifier)}
	for name, value := range p.Params {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return consent, p.config(c, redirect).AuthCodeURL(consent.State, options...)
}

// Finish exchanges the code of the person's redirect for a token. It returns ErrState,
// ErrLate or ErrDenied for a redirect that must not be used, and *Error when the exchange fails.
func (p Provider) Finish(ctx context.Context, c Client, consent Consent, returned url.Values, now time.Time) (Token, error) {
	switch {
	case consent.Provider != p.Name, consent.State == "",
		subtle.ConstantTimeCompare([]byte(consent.State), []byte(returned.Get("state"))) != 1:
		return Token{}, ErrState
	case !now.Before(consent.Until):
		return Token{}, ErrLate
	case returned.Get("error") != "" || returned.Get("code") == "":
		if why := returned.Get("error"); code().MatchString(why) {
			return Token{}, fmt.Errorf("%w: %s", ErrDenied, why)
		}
		return Token{}, ErrDenied
	}
	return p.exchange(ctx, func(ctx context.Context) (*oauth2.Token, error) {
		return p.config(c, consent.RedirectURL).Exchange(ctx, returned.Get("code"), oauth2.VerifierOption(consent.Verifier))
	})
}
