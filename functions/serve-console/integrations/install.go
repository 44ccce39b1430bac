package integrations

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// Open registers the pages that need no session: on which people sign in with Slack, if Ringi serves their workspace,
// and on which the app is installed in it.
func (c *Pages) Open(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/signin", c.Site.Open(c.showSignIn))
	mux.HandleFunc("GET /console/signin/begin", c.Site.Open(c.beginSignIn))
	mux.HandleFunc("GET /console/signin/done", c.Site.Open(c.endSignIn))
	mux.HandleFunc("GET /slack/install", c.Site.Open(c.explained(c.beginInstall)))
	mux.HandleFunc("GET /console/slack/installed", c.Site.Open(c.explained(c.endInstall)))
}

func (c *Pages) beginInstall(w http.ResponseWriter, r *http.Request, _ *web.Viewer) error {
	begun := store.Consent{Provider: tenancy.SlackProvider, Redirect: web.Address(r) + "/console/slack/installed"}
	return c.leave(w, r, begun, func(state string) (string, error) {
		return c.SignIn.InstallAddress(r.Context(), begun.Redirect, state)
	})
}

// endInstall saves the bot's token of the deployment's own workspace.
func (c *Pages) endInstall(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	begun, err := c.takeConsent(w, r, v)
	if err == nil && begun.Provider != tenancy.SlackProvider {
		err = connectFault{"stale", http.StatusBadRequest, begun.Provider}
	}
	if err != nil {
		return err
	}
	code, err := vault.ConsentCode(r.URL.Query())
	if err != nil {
		return connectFault{"denied", http.StatusForbidden, tenancy.SlackProvider}
	}
	made, err := c.SignIn.Installed(r.Context(), code, begun.Redirect)
	if err != nil {
		slog.WarnContext(r.Context(), "an installation failed", "err", err)
		why, status := "silent", http.StatusBadGateway
		switch {
		case errors.Is(err, slackapi.ErrOrganization):
			why, status = "organization", http.StatusConflict
		case errors.Is(err, slackapi.ErrSignInRefused):
			why = "refused"
		}
		return connectFault{why, status, tenancy.SlackProvider}
	}
	owner, err := c.installed(r.Context(), made)
	if err != nil {
		return err
	}
	slog.InfoContext(r.Context(), "installed", "tenant", owner.ID, "team", made.Team, "user", made.User)
	d := web.Document{Title: v.Texts("integrations").Say("installed_title"), Data: owner.Name}
	return c.Show(w, r, v, d, "integrations/installed")
}

// installed returns the tenant of an installation and saves its bot's token. Any other workspace than the deployment's
// own is refused. The installer doesn't become an administrator: any member can install an app that is installed.
func (c *Pages) installed(ctx context.Context, made slackapi.Installation) (tenancy.Tenant, error) {
	id := aggregate.TenantID(made.Team)
	owner := tenancy.Tenant{ID: id, Name: web.WorkspaceName(made.Team, made.TeamName)}
	own, err := c.Own.Serves(ctx, id)
	switch {
	case err != nil:
		slog.WarnContext(ctx, "whose the app is", "err", err)
		return owner, connectFault{"silent", http.StatusBadGateway, tenancy.SlackProvider}
	case !own:
		return owner, c.giveBack(ctx, made, "not-named")
	}
	// The workspace's first request writes the row.
	if is, err := c.Store.Tenant(ctx, id); err == nil {
		owner = is
	} else if !errors.Is(err, aggregate.ErrNotFound) {
		return owner, err
	}
	row, err := c.Connect.Vault.Row(ctx, id, tenancy.SlackProvider)
	switch {
	case err != nil:
		return owner, err
	case row.PutAway() && !slices.Contains(owner.Admins, made.User):
		return owner, c.giveBack(ctx, made, "put-away")
	}
	if owner.Rev > 0 {
		if err := c.Store.NoteBot(ctx, owner, made.Bot, "", c.Now()); err != nil {
			return owner, err
		}
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: made.User, Team: made.Team}
	return owner, c.Connect.Vault.ConnectOver(ctx, row, vault.Credential{AccessToken: made.Token}, "{}", by)
}

// giveBack revokes the token of a refused installation and returns the fault that explains the refusal.
func (c *Pages) giveBack(ctx context.Context, made slackapi.Installation, why string) error {
	if err := c.SignIn.Revoke(ctx, made.Token); err != nil {
		slog.WarnContext(ctx, "the token of a refused installation stays valid", "team", made.Team, "err", err)
	}
	slog.WarnContext(ctx, "an installation was refused", "team", made.Team, "why", why)
	return connectFault{why, http.StatusForbidden, tenancy.SlackProvider}
}

// disconnect deletes a connection's tokens, so that no call uses them any more, and then asks the vendor to revoke
// them. If the vendor doesn't confirm, the page says so.
func (c *Pages) disconnect(w http.ResponseWriter, r *http.Request, v *web.Viewer, x integration) error {
	if !x.Connected {
		return aggregate.ErrNotFound
	}
	revoke := c.revocation(r.Context(), v, x)
	if err := c.forget(r.Context(), v, x.Provider); err != nil {
		return err
	}
	notice := "disconnected"
	if err := revoke(); err != nil {
		slog.WarnContext(r.Context(), "the vendor did not revoke it", "tenant", v.Tenant, "provider", x.Provider, "err", err)
		notice = "not-revoked"
	}
	return c.Done(w, r, "/console/integrations", notice)
}

// forget ends the connection in the row; the deployment's own workspace may have no row for Slack yet.
func (c *Pages) forget(ctx context.Context, v *web.Viewer, provider string) error {
	err := c.Connect.Vault.Disconnect(ctx, v.Tenant, provider, v.Actor())
	if !errors.Is(err, aggregate.ErrNotFound) {
		return err
	}
	row := tenancy.Integration{TenantID: v.Tenant, Provider: provider}.Ended(tenancy.Disconnected, tenancy.ByPerson)
	_, err = c.Store.SaveIntegration(ctx, row, v.Actor(), c.Now())
	return err
}

// revocation reads the tokens before they are deleted; the function it returns revokes them.
func (c *Pages) revocation(ctx context.Context, v *web.Viewer, x integration) func() error {
	if x.IsSlack {
		token, err := c.Connect.Bot(ctx, v.Tenant)
		return func() error {
			if err != nil {
				return err
			}
			return c.SignIn.Revoke(ctx, token)
		}
	}
	row, err := c.Store.Integration(ctx, v.Tenant, x.Provider)
	var held vault.Credential
	if err == nil {
		held, err = c.Connect.Vault.Open(ctx, row)
	}
	return func() error {
		p, known := c.Connect.Vault.Server(x.Provider, held)
		switch {
		case err != nil:
			return err
		case x.IsGitHub, !known, held.Client.ID == "" && !p.RevokesAlone: // an App's key, or a token that somebody made
			return vault.ErrNoRevoking
		}
		// revoking a refresh token revokes its access tokens too
		return p.Revoke(ctx, held.Client, cmp.Or(held.RefreshToken, held.AccessToken))
	}
}
