package signin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/slack-go/slack"
)

// BotScopes are what the app asks of a workspace, as its manifest has them.
var BotScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands", "files:read",
	"groups:history", "groups:read",
	"im:history", "im:write", "team:read", "usergroups:read", "users:read", "users:read.email",
}

// Installation is a workspace in which somebody installed the app.
type Installation struct {
	Team     string
	TeamName string
	User     string // who installed it
	// Enterprise is the organization (Enterprise Grid) of the workspace, empty without one.
	Enterprise string
	Bot        string // its user id
	App        string
	Token      string // of the bot; a secret
}

// String keeps the token out of logs and errors.
func (i Installation) String() string { return "the installation in " + i.Team }

// GoString is String.
func (i Installation) GoString() string { return i.String() }

// ErrOrganization is an installation for all workspaces of an organization, which is not supported: a tenant is one
// workspace.
var ErrOrganization = errors.New("the app was installed for a whole organization")

// InstallAddress is where a browser is sent to install the app in a workspace
// (https://docs.slack.dev/authentication/installing-with-oauth).
func (s *Slack) InstallAddress(ctx context.Context, redirect, state string) (string, error) {
	id, _, api, err := s.App.Client(ctx)
	if err != nil {
		return "", err
	}
	query := url.Values{"client_id": {id}, "scope": {strings.Join(BotScopes, ",")}, "redirect_uri": {redirect},
		"state": {state}}
	return strings.TrimSuffix(api, "api/") + "oauth/v2/authorize?" + query.Encode(), nil
}

// Installed exchanges the code that Slack sent a browser back with for the installation. It returns ErrRefused for a
// code or an answer that won't do, and ErrOrganization, having given the token back.
func (s *Slack) Installed(ctx context.Context, code, redirect string) (Installation, error) {
	id, secret, api, err := s.App.Client(ctx)
	if err != nil {
		return Installation{}, err
	}
	out, err := slack.GetOAuthV2ResponseContext(ctx, s.HTTP, id, secret, code, redirect, slack.OAuthOptionAPIURL(api))
	if refused := (slack.SlackErrorResponse{}); errors.As(err, &refused) {
		return Installation{}, fmt.Errorf("%w: Slack says %.60s", ErrRefused, refused.Err)
	}
	if err != nil {
		return Installation{}, errors.New("oauth.v2.access: no answer that can be read") // it may hold the token
	}
	i := Installation{Team: out.Team.ID, TeamName: out.Team.Name, User: out.AuthedUser.ID, Enterprise: out.Enterprise.ID,
		Bot: out.BotUserID, App: out.AppID, Token: out.AccessToken}
	switch {
	case out.IsEnterpriseInstall:
		if err := s.Revoke(ctx, i.Token); err != nil {
			return Installation{}, fmt.Errorf("%w, and its token stays valid: %w", ErrOrganization, err)
		}
		return Installation{}, ErrOrganization
	case i.Team == "" || i.User == "" || i.Token == "" || out.TokenType != "bot":
		return Installation{}, fmt.Errorf("%w: the answer names no workspace, person or bot", ErrRefused)
	}
	return i, nil
}

// Revoke makes a bot's token invalid. One that was invalid before is no error.
func (s *Slack) Revoke(ctx context.Context, token string) error {
	_, _, api, err := s.App.Client(ctx)
	if err != nil {
		return err
	}
	_, err = slack.New(token, slack.OptionAPIURL(api), slack.OptionHTTPClient(s.HTTP)).SendAuthRevokeContext(ctx, "")
	if refused := (slack.SlackErrorResponse{}); errors.As(err, &refused) {
		switch refused.Err {
		case "invalid_auth", "token_revoked", "account_inactive", "not_authed":
			return nil
		}
		return fmt.Errorf("auth.revoke: Slack says %.60s", refused.Err)
	}
	if err != nil {
		return errors.New("auth.revoke: no answer")
	}
	return nil
}
