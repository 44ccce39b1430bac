package settings

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// signIn is the provider of a consent by which a person signs in.
const signIn = "signin"

func (c *Pages) showSignIn(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	begin := "/console/signin/begin?next=" + url.QueryEscape(web.NextOf(r))
	return c.Show(w, r, v, web.Document{Title: v.Texts("fault").Say("sign_in"), Data: begin}, "home/signin")
}

func redirect(r *http.Request) string { return web.Address(r) + "/console/signin/done" }

func (c *Pages) beginSignIn(w http.ResponseWriter, r *http.Request, _ *web.Viewer) error {
	begun := store.Consent{Provider: signIn, Nonce: store.NewSecret(), Next: web.NextOf(r)}
	return c.leave(w, r, begun, func(state string) (string, error) {
		return c.SignIn.Address(r.Context(), redirect(r), state, begun.Nonce)
	})
}

// leave leads a person whom Ringi doesn't know yet to Slack, at the address for a state.
func (c *Pages) leave(w http.ResponseWriter, r *http.Request, begun store.Consent,
	address func(state string) (string, error)) error {
	if err := c.Within(r); err != nil {
		return err
	}
	state := store.NewSecret()
	to, err := address(state)
	if errors.Is(err, secret.ErrMissing) {
		slog.ErrorContext(r.Context(), "nobody can go to Slack", "err", err)
		err = web.ErrNoClient
	}
	if err == nil {
		err = c.begin(w, r, begun, store.NewSecret(), state)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func (c *Pages) endSignIn(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ctx, q := r.Context(), r.URL.Query()
	begun, err := c.takeConsent(w, r, v)
	switch {
	case errors.As(err, new(connectFault)) || err == nil && begun.Provider != signIn:
		return web.ErrStaleSignIn
	case err != nil:
		return err
	case q.Get("error") != "": // the person said no
		return web.ErrDenied
	}
	p, err := c.SignIn.Person(ctx, q.Get("code"), redirect(r), begun.Nonce)
	if err != nil {
		return err
	}
	owner, name, err := c.enter(ctx, p)
	if err != nil {
		return err
	}
	s := store.NewSession(owner.ID, owner.TeamID, p.User, name, c.Now())
	if err := c.KeepSession(w, r, s); err != nil {
		return err
	}
	slog.InfoContext(ctx, "signed in", "tenant", s.Tenant, "user", s.User,
		"admin", slices.Contains(owner.Admins, s.User))
	http.Redirect(w, r, begun.Next, http.StatusSeeOther)
	return nil
}

// enter returns the tenant and the name of a person who signed in with Slack. When the first member of the deployment's
// own workspace signs in, it makes the tenant with the administrator that the Slack secret names. It returns
// ErrOtherWorkspace or ErrNoAdmin if there is no tenant, and an error if the person may not use it.
func (c *Pages) enter(ctx context.Context, p slackapi.SignedIn) (owner tenancy.Tenant, name string, err error) {
	owner, err = c.Store.Tenant(ctx, aggregate.TenantID(p.Team))
	known := !errors.Is(err, aggregate.ErrNotFound)
	if !known {
		owner, err = c.own(ctx, p)
	}
	if err == nil {
		name, err = c.Belongs(ctx, p.User, owner)
	}
	if err == nil && !known {
		owner, err = c.Store.Bootstrap(ctx, owner, c.Now())
		slog.InfoContext(ctx, "the workspace is known from now on", "tenant", owner.ID, "team", owner.TeamID, "err", err)
	}
	return owner, name, err
}

// own returns the tenant to create for the deployment's own workspace, if the person belongs to it.
func (c *Pages) own(ctx context.Context, p slackapi.SignedIn) (tenancy.Tenant, error) {
	t := tenancy.Tenant{ID: aggregate.TenantID(p.Team), Name: web.WorkspaceName(p.Team, p.TeamName), TeamID: p.Team}
	is, err := c.Own.Serves(ctx, t.ID)
	switch {
	case err != nil:
		return t, err
	case !is:
		return t, web.ErrOtherWorkspace
	}
	admin, err := c.Own.TenantAdmin(ctx)
	if errors.Is(err, secret.ErrMissing) {
		return t, web.ErrNoAdmin
	}
	if err != nil {
		return t, err
	}
	t.Admins = []string{admin}
	if err := t.Validate(); err != nil {
		slog.ErrorContext(ctx, "tenant_admin of the Slack secret is no Slack user id", "err", err)
		return t, web.ErrNoAdmin
	}
	return t, nil
}

// signOut clears the cookie, and ends the person's sessions in all browsers.
func (c *Pages) signOut(w http.ResponseWriter, r *http.Request, _ *web.Viewer) error {
	s, err := c.SessionOf(r)
	if err == nil {
		err = c.Store.SignOut(r.Context(), s, c.Now())
	}
	if err != nil {
		return err
	}
	w.Header().Del("Set-Cookie") // what Slack was asked just now renewed the session
	web.SetCookie(w, r, web.SessionCookie, "", -1)
	http.Redirect(w, r, "/console/signin", http.StatusSeeOther)
	return nil
}

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
