package vault

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Connect seals a credential and saves it as the tenant's connection to a provider,
// over the one that was there, with integration.connected in the audit log. It
// returns aggregate.ErrConflict when somebody saved in between, aggregate.ErrField for an MCP
// server's credential that names no address.
func (v Vault) Connect(ctx context.Context, tenant, provider string, c Credential, metadata aggregate.JSON,
	by aggregate.Actor) error {
	row, err := v.Row(ctx, tenant, provider)
	if err != nil {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	return v.ConnectOver(ctx, row, c, metadata, by)
}

// ConnectOver is Connect over a row as it was read: who decides by the row whether it may be connected.
func (v Vault) ConnectOver(ctx context.Context, row tenancy.Integration, c Credential, metadata aggregate.JSON,
	by aggregate.Actor) error {
	if strings.HasPrefix(row.Provider, tenancy.ServerProvider) != (c.Address != "") {
		return aggregate.ErrField{Field: "address", Limit: "must be the server's, for an MCP server only"}
	}
	sealed, err := v.Envelope.SealCredential(ctx, row.TenantID, row.Provider, c)
	if err == nil {
		_, err = v.Rows.SaveIntegration(ctx, row.Fresh(sealed, metadata), by, v.Now())
	}
	if err != nil {
		return fmt.Errorf("connect %s: %w", row.Provider, err)
	}
	return nil
}

// Disconnect deletes a tenant's credential for a provider, with
// integration.disconnected in the audit log. The token stays valid until it is revoked
// at the vendor.
func (v Vault) Disconnect(ctx context.Context, tenant, provider string, by aggregate.Actor) error {
	row, err := v.Rows.Integration(ctx, tenant, provider)
	if err == nil {
		_, err = v.Rows.SaveIntegration(ctx, row.Ended(tenancy.Disconnected, tenancy.ByPerson), by, v.Now())
	}
	if err != nil {
		return fmt.Errorf("disconnect %s: %w", provider, err)
	}
	return nil
}

// Allow connects a provider without a credential of the tenant's: Slack, whose token is the deployment's.
func (v Vault) Allow(ctx context.Context, tenant, provider string, by aggregate.Actor) error {
	row, err := v.Row(ctx, tenant, provider)
	if err == nil {
		_, err = v.Rows.SaveIntegration(ctx, row.Fresh("", "{}"), by, v.Now())
	}
	if err != nil {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	return nil
}

// Row is the integration's row, or a new one if there is none.
func (v Vault) Row(ctx context.Context, tenant, provider string) (tenancy.Integration, error) {
	row, err := v.Rows.Integration(ctx, tenant, provider)
	if errors.Is(err, aggregate.ErrNotFound) {
		return tenancy.Integration{TenantID: tenant, Provider: provider}, nil
	}
	return row, err
}
