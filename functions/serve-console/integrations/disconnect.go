package integrations

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/vault"
)

// connected returns the connection that an address or form names.
func (c *Pages) connected(ctx context.Context, v *web.Viewer, provider string) (integration, error) {
	x, err := c.integrationOf(ctx, v, provider)
	if err == nil && !x.Connected {
		err = aggregate.ErrNotFound
	}
	return x, err
}

// askDisconnect asks for confirmation and lists what will stop working.
func (c *Pages) askDisconnect(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	x, err := c.connected(r.Context(), v, r.URL.Query().Get("provider"))
	if err != nil {
		return err
	}
	words := integrationTexts{v.Texts("integrations")}
	d := web.Document{Title: words.Say("disconnect_title"), Here: "integrations", Data: struct {
		integration
		Stops []string
	}{x, words.stops(x.Provider)}}
	return c.Show(w, r, v, d, "integration-disconnect.html")
}

// disconnect deletes a connection's tokens, so that no call uses them any more, and then asks the vendor to revoke
// them. If the vendor doesn't confirm, the page says so.
func (c *Pages) disconnect(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	x, err := c.connected(r.Context(), v, r.PostFormValue("provider"))
	if err != nil {
		return err
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
	failed := func(err error) func() error { return func() error { return err } }
	if x.IsSlack {
		token, err := c.Connect.Bot(ctx, v.Tenant)
		if err != nil {
			return failed(err)
		}
		return func() error { return c.SignIn.Revoke(ctx, token) }
	}
	if x.IsGitHub { // a key is deleted on the App's own page
		return failed(vault.ErrNoRevoking)
	}
	row, err := c.Store.Integration(ctx, v.Tenant, x.Provider)
	if err != nil {
		return failed(err)
	}
	held, err := c.Connect.Vault.Open(ctx, row)
	if err != nil {
		return failed(err)
	}
	return func() error { return c.revoke(ctx, x.Provider, held) }
}

func (c *Pages) revoke(ctx context.Context, provider string, held vault.Credential) error {
	p, known := c.Connect.Vault.Server(provider, held)
	if !known || held.Client.ID == "" && !p.RevokesAlone { // a token that somebody made by hand
		return vault.ErrNoRevoking
	}
	// revoking a refresh token revokes its access tokens too
	return p.Revoke(ctx, held.Client, cmp.Or(held.RefreshToken, held.AccessToken))
}
