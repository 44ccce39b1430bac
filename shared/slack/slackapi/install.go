package slackapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/secret"
)

// BotScopes are the bot scopes of the app's manifest.
var BotScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands", "files:read",
	"groups:history", "groups:read",
	"im:history", "im:write", "usergroups:read", "users:read", "users:read.email",
}

// Installation is the app's installation in one workspace. Printing it shows nothing.
type Installation struct {
	secret.Hidden
	Team     string
	TeamName string
	User     string // who installed it
	Bot      string // the bot's user id
	Token    string // the bot's token; a secret
}

// ErrOrganization means that the app was installed for all workspaces of an organization. Ringi doesn't support that: a
// tenant is one workspace.
var ErrOrganization = errors.New("the app was installed for a whole organization")

// InstallAddress returns the address at which a browser installs the app in a workspace
// (https://docs.slack.dev/authentication/installing-with-oauth).
func (s *SignIn) InstallAddress(ctx context.Context, redirect, state string) (string, error) {
	return s.address(ctx, "oauth/v2/authorize", url.Values{"scope": {strings.Join(BotScopes, ",")},
		"redirect_uri": {redirect}, "state": {state}})
}

// Installed exchanges the code from Slack's redirect for the installation. It returns ErrSignInRefused if Slack refuses
// the code or its answer is invalid. For an organization it revokes the token and returns ErrOrganization.
func (s *SignIn) Installed(ctx context.Context, code, redirect string) (Installation, error) {
	id, password, api, err := s.App.Client(ctx)
	if err != nil {
		return Installation{}, err
	}
	out, err := slack.GetOAuthV2ResponseContext(ctx, s.HTTP, id, password, code, redirect, slack.OAuthOptionAPIURL(api))
	if refused := (slack.SlackErrorResponse{}); errors.As(err, &refused) {
		return Installation{}, fmt.Errorf("%w: Slack says %.60s", ErrSignInRefused, refused.Err)
	}
	if err != nil {
		return Installation{}, errors.New("oauth.v2.access: no answer that can be read") // the answer may contain the token
	}
	i := Installation{Team: out.Team.ID, TeamName: out.Team.Name, User: out.AuthedUser.ID,
		Bot: out.BotUserID, Token: out.AccessToken}
	switch {
	case out.IsEnterpriseInstall:
		if err := s.Revoke(ctx, i.Token); err != nil {
			return Installation{}, fmt.Errorf("%w, and its token stays valid: %w", ErrOrganization, err)
		}
		return Installation{}, ErrOrganization
	case i.Team == "" || i.User == "" || i.Token == "" || out.TokenType != "bot":
		return Installation{}, fmt.Errorf("%w: the answer names no workspace, person or bot", ErrSignInRefused)
	}
	return i, nil
}

// Revoke makes a bot's token invalid. It returns nil for a token that already was.
func (s *SignIn) Revoke(ctx context.Context, token string) error {
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

// HomeWorkspace says which Slack workspace a deployment serves: the one to which the bot token of its secret belongs.
// That token ends when somebody removes the app; the workspace is known by its row, too. Ringi refuses requests from
// any other workspace and sends nothing there.
type HomeWorkspace struct {
	Slack interface {
		Team(ctx context.Context) (string, error)
	}
	Rows interface {
		Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	}
}

// ErrNoWorkspace means that Slack could not be asked which workspace the deployment's token belongs to.
var ErrNoWorkspace = errors.New("nobody says whose the app is")

// Own reports whether the deployment's token belongs to a tenant. On failure it returns ErrNoWorkspace with Slack's
// error.
func (h HomeWorkspace) Own(ctx context.Context, tenant string) (bool, error) {
	team, err := h.Slack.Team(For(ctx, ""))
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoWorkspace, err)
	}
	return aggregate.TenantID(team) == tenant, nil
}

// Serves reports whether a tenant is the deployment's workspace. It fails as Own does if there is no row, either.
func (h HomeWorkspace) Serves(ctx context.Context, tenant string) (bool, error) {
	own, err := h.Own(ctx, tenant)
	if own {
		return true, nil
	}
	switch _, failed := h.Rows.Tenant(ctx, tenant); {
	case failed == nil:
		return true, nil
	case !errors.Is(failed, aggregate.ErrNotFound):
		return false, fmt.Errorf("look for the workspace: %w", failed)
	}
	return false, err
}
