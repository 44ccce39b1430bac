package integrations

import (
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
