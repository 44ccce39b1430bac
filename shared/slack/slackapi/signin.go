package slackapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// issuer is the issuer of Slack's ID tokens, from its discovery document.
const issuer = "https://slack.com"

// maxSkew is how far Slack's clock may differ from ours.
const maxSkew = time.Minute

// App gives the credentials of the Slack app.
type AppCredentials interface {
	Client(ctx context.Context) (id, secret, api string, err error)
}

// Slack signs people in.
type SignIn struct {
	App  AppCredentials
	HTTP *http.Client
	Now  func() time.Time
}

// Person is a person whom Slack signed in.
type SignedIn struct {
	User     string
	Team     string
	TeamName string
	Name     string
}

// ErrRefused means that Slack refused the sign-in or its answer is invalid. The person may try again.
var ErrSignInRefused = errors.New("the sign-in was refused")

// Address returns the address at which a browser signs in. Slack sends the browser back with state, and puts nonce into
// the token.
func (s *SignIn) Address(ctx context.Context, redirect, state, nonce string) (string, error) {
	id, _, api, err := s.App.Client(ctx)
	if err != nil {
		return "", err
	}
	query := url.Values{
		"response_type": {"code"}, "scope": {"openid profile"}, "client_id": {id},
		"redirect_uri": {redirect}, "state": {state}, "nonce": {nonce},
	}
	return strings.TrimSuffix(api, "api/") + "openid/connect/authorize?" + query.Encode(), nil
}

// Person exchanges the code from Slack's redirect for the person. It returns ErrRefused if Slack refuses the code or
// its answer is invalid.
func (s *SignIn) Person(ctx context.Context, code, redirect, nonce string) (SignedIn, error) {
	id, secret, api, err := s.App.Client(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	out, err := slack.GetOpenIDConnectTokenContext(ctx, s.HTTP, id, secret, code, redirect, slack.OAuthOptionAPIURL(api))
	if refused := (slack.SlackErrorResponse{}); errors.As(err, &refused) {
		return SignedIn{}, fmt.Errorf("%w: Slack says %.60s", ErrSignInRefused, refused.Err)
	}
	if err != nil {
		return SignedIn{}, fmt.Errorf("openid.connect.token: %w", err)
	}
	c, err := claimsOf(out.IdToken)
	if err != nil {
		return SignedIn{}, fmt.Errorf("%w: %w", ErrSignInRefused, err)
	}
	if err := c.check(id, nonce, s.Now()); err != nil {
		return SignedIn{}, fmt.Errorf("%w: %w", ErrSignInRefused, err)
	}
	return SignedIn{User: c.User, Team: c.Team, TeamName: c.TeamName, Name: c.Name}, nil
}

// claims are the members of Slack's ID tokens that Ringi checks or uses.
type claims struct {
	Issuer   string   `json:"iss"`
	Audience audience `json:"aud"`
	Expires  int64    `json:"exp"`
	Nonce    string   `json:"nonce"`
	User     string   `json:"https://slack.com/user_id"`
	Team     string   `json:"https://slack.com/team_id"`
	TeamName string   `json:"https://slack.com/team_name"`
	Name     string   `json:"name"`
}

// audience is one client id or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// claimsOf reads a token's claims. It need not check the signature: the token came from Slack itself over TLS, in
// answer to a call with the client's secret (OpenID Connect Core 1.0, 3.1.3.7, number 6).
func claimsOf(token string) (claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, errors.New("the ID token is no JWT")
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return claims{}, errors.New("the ID token's claims are not base64url")
	}
	var c claims
	if json.Unmarshal(b, &c) != nil {
		return claims{}, errors.New("the ID token's claims are not JSON")
	}
	return c, nil
}

// check says why claims are invalid. Its error names the wrong claim and never quotes it.
func (c claims) check(client, nonce string, now time.Time) error {
	switch {
	case c.Issuer != issuer:
		return errors.New("the ID token is not Slack's")
	case len(c.Audience) != 1 || c.Audience[0] != client:
		return errors.New("the ID token is for another app")
	case !now.Before(time.Unix(c.Expires, 0).Add(maxSkew)):
		return errors.New("the ID token has expired")
	case nonce == "" || c.Nonce != nonce:
		return errors.New("the ID token is of another sign-in")
	case c.User == "" || c.Team == "":
		return errors.New("the ID token names nobody")
	}
	return nil
}
