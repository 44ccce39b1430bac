package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/secret/oauth"
	"ringi/shared/sleep"
	"ringi/shared/tenancy"
)

const (
	// early is how long before its end a token counts as expired: longer than a tool's call.
	early = 3 * time.Minute
	// refreshFor is how long a refresh may take, with all that belongs to it: the
	// exchange takes 10 s at most, saving what it brought saveWithin.
	refreshFor = time.Minute
	saveWithin = 4 * time.Second
	// look is how often one who waits for another's refresh looks.
	look = 200 * time.Millisecond
)

// Token is the tenant's token for a provider, good for a few minutes at least. It
// renews one that expires.
//
// It returns aggregate.ErrNotFound when the tenant has not connected the provider, as an
// ErrNotConnected when it no longer is; an *oauth.Error when the token could not be
// renewed for now.
func (v Vault) Token(ctx context.Context, tenant, provider string) (string, error) {
	return v.token(ctx, tenant, provider, func(c Credential) bool {
		return c.ExpiresAt.IsZero() || v.Now().Add(early).Before(c.ExpiresAt)
	})
}

// ServerToken is what opens the door of an MCP server at its address. Its errors are
// those of Token; a secret that was given for another address, or for none, is an
// ErrNotConnected: whoever can rename a server can't have its secret sent elsewhere.
func (v Vault) ServerToken(ctx context.Context, tenant string, s tenancy.MCPServer) (string, error) {
	_, c, err := v.find(ctx, tenant, s.Provider(), s.URL)
	return c.AccessToken, err
}

// Renew is the tenant's token after the vendor refused one: another one, renewed if
// nobody has. Its errors are those of Token.
func (v Vault) Renew(ctx context.Context, tenant, provider, refused string) (string, error) {
	return v.token(ctx, tenant, provider, func(c Credential) bool { return c.AccessToken != refused })
}

// Refused ends a connection whose token the vendor refused though it had just been
// renewed: what is left is to connect again. One that is another by now is left alone.
func (v Vault) Refused(ctx context.Context, tenant, provider, token string) error {
	row, c, err := v.find(ctx, tenant, provider, "")
	if err != nil || c.AccessToken != token {
		if errors.Is(err, aggregate.ErrNotFound) {
			return nil // somebody has ended it
		}
		return err
	}
	err = v.end(ctx, row, tenancy.CredentialRefused)
	if errors.As(err, new(tenancy.ErrNotConnected)) || errors.Is(err, aggregate.ErrConflict) {
		return nil
	}
	return err
}

// token finds a token that is good. Of all who need another one, here and in other
// processes, one renews it and the others wait.
func (v Vault) token(ctx context.Context, tenant, provider string, good func(Credential) bool) (string, error) {
	for {
		row, c, err := v.find(ctx, tenant, provider, "")
		if err != nil {
			return "", err
		}
		if good(c) {
			return c.AccessToken, nil
		}
		p, known := v.Providers[provider]
		switch held := row.Refreshing; {
		case !known || c.RefreshToken == "":
			return "", v.end(ctx, row, tenancy.CredentialRefused)
		case held != nil && v.Now().Before(held.Until):
			err = sleep.For(ctx, look)
		case held != nil && p.OneTime: // whoever held it died, most likely with the new token in its hands
			return "", v.end(ctx, row, tenancy.CredentialLost)
		default:
			var renewed string
			if renewed, err = v.refresh(ctx, p, row, c); err == nil {
				return renewed, nil
			}
		}
		if err != nil && !errors.Is(err, aggregate.ErrConflict) {
			return "", err
		}
	}
}

// refresh exchanges the refresh token and saves what it brings, before anybody uses
// it. It returns aggregate.ErrConflict when the row is another by now.
func (v Vault) refresh(ctx context.Context, p oauth.Provider, row tenancy.Integration, c Credential) (string, error) {
	// First whatever can be refused: afterwards there is a token to lose.
	seal, err := v.Envelope.sealer(ctx, row.TenantID, row.Provider)
	if err != nil {
		return "", err
	}
	if row, err = v.hold(ctx, row); err != nil {
		return "", err
	}
	got, err := p.Refresh(ctx, c.Client, c.RefreshToken)
	if err != nil {
		return "", v.failed(ctx, p, row, err)
	}
	if row.Credentials, err = seal.credential(Of(got, c.Client)); err != nil {
		return "", err
	}
	return got.Access, v.save(ctx, row)
}

// hold makes the refresh this call's.
func (v Vault) hold(ctx context.Context, row tenancy.Integration) (tenancy.Integration, error) {
	row.Refreshing = &tenancy.Refreshing{By: v.NewID(), Until: v.Now().Add(refreshFor)}
	held, err := v.Rows.RenewIntegration(ctx, row, v.Now())
	if err == nil {
		return held, nil
	}
	// A write whose answer was lost may hold it all the same: nobody else would ever refresh.
	is, again := v.Rows.Integration(ctx, row.TenantID, row.Provider)
	if again == nil && is.Refreshing != nil && is.Refreshing.By == row.Refreshing.By {
		return is, nil
	}
	return row, fmt.Errorf("claim the refresh of %s: %w", row.Provider, err)
}

// save writes the row without the claim to its refresh. What it holds exists nowhere
// else, so it does not give up at the first try, nor when the caller does.
func (v Vault) save(ctx context.Context, row tenancy.Integration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	row.Refreshing = nil
	for {
		_, err := v.Rows.RenewIntegration(ctx, row, v.Now())
		if err == nil {
			return nil
		}
		if errors.Is(err, aggregate.ErrConflict) || sleep.For(ctx, look) != nil {
			return fmt.Errorf("save the renewed credentials of %s: %w", row.Provider, err)
		}
	}
}

// failed records what became of the refresh token, and returns why there is no other.
func (v Vault) failed(ctx context.Context, p oauth.Provider, row tenancy.Integration, err error) error {
	fate := oauth.Unclear
	if e := (*oauth.Error)(nil); errors.As(err, &e) {
		fate = e.State
	}
	switch {
	case fate == oauth.Refused:
		return v.end(ctx, row, tenancy.CredentialRefused)
	case fate == oauth.Unclear && p.OneTime:
		return v.end(ctx, row, tenancy.CredentialLost)
	}
	if again := v.save(ctx, row); again != nil {
		return again
	}
	return err
}

// end makes the integration one that a person has to connect again. It returns
// aggregate.ErrConflict when somebody has, meanwhile.
func (v Vault) end(ctx context.Context, row tenancy.Integration, why tenancy.IntegrationReason) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	row = row.Ended(tenancy.Broken, why)
	if _, err := v.Rows.SaveIntegration(ctx, row, aggregate.System(), v.Now()); err != nil {
		return fmt.Errorf("record that %s must be connected again: %w", row.Provider, err)
	}
	return unusable(row)
}
