package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Connect seals a credential and saves it as the tenant's connection to a provider, replacing an earlier one, with
// integration.connected in the audit log. It returns aggregate.ErrConflict when somebody saved in between, and
// aggregate.ErrField for an MCP server's credential without an address.
func (v Vault) Connect(ctx context.Context, tenant, provider string, c Credential, metadata aggregate.JSON,
	by aggregate.Actor) error {
	row, err := v.Row(ctx, tenant, provider)
	if err != nil {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	return v.ConnectOver(ctx, row, c, metadata, by)
}

// ConnectOver is Connect over a row that the caller has read to check whether connecting is allowed.
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

// Disconnect deletes a tenant's credential for a provider, with integration.disconnected in the audit log. At the
// vendor the token remains valid until it is revoked.
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

// Allow connects a provider for which tenants have no credential: Slack, whose token is the deployment's.
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

// Row returns the integration's row, or a new one if there is none.
func (v Vault) Row(ctx context.Context, tenant, provider string) (tenancy.Integration, error) {
	row, err := v.Rows.Integration(ctx, tenant, provider)
	if errors.Is(err, aggregate.ErrNotFound) {
		return tenancy.Integration{TenantID: tenant, Provider: provider}, nil
	}
	return row, err
}

// sealedClient is the JSON of a client; it is encrypted before it is stored.
type sealedClient struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret,omitempty"`
}

// clientOf returns the provider name under which a client is sealed, so that it can't be opened as a credential of that
// provider.
func clientOf(provider string) string { return "client:" + provider }

// SealClient seals a tenant's client at a vendor into its row.
func (e Envelope) SealClient(ctx context.Context, x tenancy.VendorClient,
	c OAuthClient) (tenancy.VendorClient, error) {
	b, err := json.Marshal(sealedClient{c.ID, c.Secret})
	if err != nil {
		return x, fmt.Errorf("seal the client at %s: %w", x.Provider, err)
	}
	x.ClientID = c.ID
	x.Sealed, err = e.Seal(ctx, x.TenantID, clientOf(x.Provider), b)
	return x, err
}

// OpenClient opens the client in a row.
func (e Envelope) OpenClient(ctx context.Context, x tenancy.VendorClient) (OAuthClient, error) {
	b, err := e.Open(ctx, x.TenantID, clientOf(x.Provider), x.Sealed)
	if err != nil {
		return OAuthClient{}, err
	}
	var c sealedClient
	if json.Unmarshal(b, &c) != nil || c.ID == "" || c.ID != x.ClientID { // the error would quote the secret
		return OAuthClient{}, errors.New("open the client at " + x.Provider + ": it is not the row's")
	}
	return OAuthClient{ID: c.ID, Secret: c.Secret}, nil
}
