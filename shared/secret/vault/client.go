package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/oauth"
)

// sealedClient is the JSON of a client; it is encrypted before it is stored.
type sealedClient struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret,omitempty"`
}

// clientOf is what a client is sealed for: not for the credential of the same provider.
func clientOf(provider string) string { return "client:" + provider }

// SealClient seals a tenant's client at a vendor into its row.
func (e Envelope) SealClient(ctx context.Context, x tenancy.VendorClient,
	c oauth.Client) (tenancy.VendorClient, error) {
	b, err := json.Marshal(sealedClient{c.ID, c.Secret})
	if err != nil {
		return x, fmt.Errorf("seal the client at %s: %w", x.Provider, err)
	}
	x.ClientID = c.ID
	x.Sealed, err = e.Seal(ctx, x.TenantID, clientOf(x.Provider), b)
	return x, err
}

// OpenClient reads the client of a row.
func (e Envelope) OpenClient(ctx context.Context, x tenancy.VendorClient) (oauth.Client, error) {
	b, err := e.Open(ctx, x.TenantID, clientOf(x.Provider), x.Sealed)
	if err != nil {
		return oauth.Client{}, err
	}
	var c sealedClient
	if json.Unmarshal(b, &c) != nil || c.ID == "" || c.ID != x.ClientID { // the error would quote the secret
		return oauth.Client{}, errors.New("open the client at " + x.Provider + ": it is not the row's")
	}
	return oauth.Client{ID: c.ID, Secret: c.Secret}, nil
}
