package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
)

const (
	// renewBefore is how long before its expiry a token is renewed: longer than a tool's call may take.
	renewBefore = 3 * time.Minute
	// refreshFor is how long a call's claim to refresh is valid: longer than the exchange (10 s at most) and the save
	// of its result (saveWithin) together.
	refreshFor = time.Minute
	saveWithin = 4 * time.Second
	// pollEvery is how often a call reads the row while another call refreshes the token.
	pollEvery = 200 * time.Millisecond
)

// Token returns the tenant's token for a provider, valid for at least renewBefore. It renews a token that expires. It
// returns aggregate.ErrNotFound when the tenant never connected the provider, an ErrNotConnected when the connection
// has ended, and an *OAuthError when the token can't be renewed now.
func (v Vault) Token(ctx context.Context, tenant, provider string) (string, error) {
	return v.token(ctx, tenant, provider, "", v.lasts)
}

// lasts reports whether a token is valid long enough for a call.
func (v Vault) lasts(c Credential) bool {
	return c.ExpiresAt.IsZero() || v.Now().Add(renewBefore).Before(c.ExpiresAt)
}

// ServerToken returns the secret of an MCP server at its address. Its errors are those of Token. It returns an
// ErrNotConnected for a secret with another address, or none: otherwise changing a server's address would send the
// secret there.
func (v Vault) ServerToken(ctx context.Context, tenant string, s tenancy.MCPServer) (string, error) {
	return v.token(ctx, tenant, s.Provider(), s.URL, v.lasts)
}

// Renew returns the tenant's token after the vendor refused one. It renews the token unless another call has done so.
// Its errors are those of Token.
func (v Vault) Renew(ctx context.Context, tenant, provider, refused string) (string, error) {
	return v.token(ctx, tenant, provider, "", func(c Credential) bool { return c.AccessToken != refused })
}

// Refused ends a connection whose token the vendor refused right after it was renewed, so that a person must connect
// again. It does nothing when the row has a new token.
func (v Vault) Refused(ctx context.Context, tenant, provider, token string) error {
	row, c, err := v.find(ctx, tenant, provider, "")
	if err != nil || c.AccessToken != token {
		if errors.Is(err, aggregate.ErrNotFound) {
			return nil // another call has ended it
		}
		return err
	}
	err = v.end(ctx, row, tenancy.CredentialRefused)
	if errors.As(err, new(tenancy.ErrNotConnected)) || errors.Is(err, aggregate.ErrConflict) {
		return nil
	}
	return err
}

// token returns the access token if good accepts it. If the token must be renewed, one call among all processes claims
// the row and renews it, and the others wait.
func (v Vault) token(ctx context.Context, tenant, provider, address string,
	good func(Credential) bool) (string, error) {
	for {
		row, c, err := v.find(ctx, tenant, provider, address)
		if err != nil {
			return "", err
		}
		if good(c) {
			return c.AccessToken, nil
		}
		p, known := v.Server(provider, c)
		switch held := row.Refreshing; {
		case !known || c.RefreshToken == "":
			return "", v.end(ctx, row, tenancy.CredentialRefused)
		case held != nil && v.Now().Before(held.Until):
			err = clock.Sleep(ctx, pollEvery)
		case held != nil && p.OneTime: // the claim's holder crashed, and has probably used the one-time token
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

// refresh exchanges the refresh token and saves the result before using it. It returns aggregate.ErrConflict when the
// row has changed.
func (v Vault) refresh(ctx context.Context, p OAuthProvider, row tenancy.Integration, c Credential) (string, error) {
	// Ask KMS first: if KMS failed after the exchange, the new token would be lost.
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
	next := CredentialOf(got, c.Client)
	next.Address, next.TokenURL, next.RevokeURL, next.Resource = c.Address, c.TokenURL, c.RevokeURL, c.Resource
	if row.Credentials, err = seal.credential(next); err != nil {
		return "", err
	}
	return got.Access, v.save(ctx, row)
}

// hold claims the refresh for refreshFor.
func (v Vault) hold(ctx context.Context, row tenancy.Integration) (tenancy.Integration, error) {
	row.Refreshing = &tenancy.Refreshing{By: v.NewID(), Until: v.Now().Add(refreshFor)}
	held, err := v.Rows.RenewIntegration(ctx, row, v.Now())
	if err == nil {
		return held, nil
	}
	// The claim may have been written although the answer was lost.
	is, again := v.Rows.Integration(ctx, row.TenantID, row.Provider)
	if again == nil && is.Refreshing != nil && is.Refreshing.By == row.Refreshing.By {
		return is, nil
	}
	return row, fmt.Errorf("claim the refresh of %s: %w", row.Provider, err)
}

// save writes the row without its claim. The new token is stored nowhere else, so save retries for saveWithin even if
// the caller's context has ended.
func (v Vault) save(ctx context.Context, row tenancy.Integration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	row.Refreshing = nil
	for {
		_, err := v.Rows.RenewIntegration(ctx, row, v.Now())
		if err == nil {
			return nil
		}
		if errors.Is(err, aggregate.ErrConflict) || clock.Sleep(ctx, pollEvery) != nil {
			return fmt.Errorf("save the renewed credentials of %s: %w", row.Provider, err)
		}
	}
}

// failed records a failed refresh. It ends the connection if the refresh token is used up or was rejected; otherwise it
// removes the claim. It returns the error for the caller.
func (v Vault) failed(ctx context.Context, p OAuthProvider, row tenancy.Integration, err error) error {
	state := TokenUnclear
	if e := (*OAuthError)(nil); errors.As(err, &e) {
		state = e.State
	}
	switch {
	case state == TokenRefused:
		return v.end(ctx, row, tenancy.CredentialRefused)
	case state == TokenUnclear && p.OneTime:
		return v.end(ctx, row, tenancy.CredentialLost)
	}
	if again := v.save(ctx, row); again != nil {
		return again
	}
	return err
}

// end marks the integration as broken, so that a person must connect it again. It returns aggregate.ErrConflict when
// the row has changed, for example by a new connection.
func (v Vault) end(ctx context.Context, row tenancy.Integration, why tenancy.IntegrationReason) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	row = row.Ended(tenancy.Broken, why)
	if _, err := v.Rows.SaveIntegration(ctx, row, aggregate.System(), v.Now()); err != nil {
		return fmt.Errorf("record that %s must be connected again: %w", row.Provider, err)
	}
	return unusable(row)
}
