package tenancy

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// VendorClient is the OAuth app that a tenant registered with a vendor. It is kept when the vendor is disconnected.
type VendorClient struct {
	aggregate.Meta
	TenantID string `json:"tenant_id"`
	Provider string `json:"provider"`
	ClientID string `json:"client_id"`
	// Only for an MCP server's client. Issuer is its authorization server, empty for a pasted client that was not used
	// yet. Redirect is the redirect URI if Ringi registered the client itself.
	Issuer    string    `json:"issuer,omitempty"`
	Redirect  string    `json:"redirect,omitempty"`
	Sealed    string    `json:"sealed"` // id and secret, encrypted
	UpdatedBy string    `json:"updated_by"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ClientPrefix begins the sort keys of a tenant's clients.
const ClientPrefix = "CLIENT#"

// maxClientID is the maximum length of a client id in bytes.
const maxClientID = 512

// Place is in the partition of the tenant's integrations.
func (c VendorClient) Place() (partition, key, typ string) {
	return "INTEGRATIONS#" + c.TenantID, ClientPrefix + c.Provider, "vendor_client"
}

// Save replaces was, whose revision is c.Rev, by c; was is zero for a new client. The audit log gets the id but never
// the secret.
func (c VendorClient) Save(was VendorClient, by aggregate.Actor, now time.Time) (VendorClient, Change, error) {
	if n := len(c.ClientID); n < 1 || n > maxClientID {
		return c, Change{}, aggregate.ErrField{Field: "client_id", Limit: fmt.Sprintf("must have 1 to %d bytes", maxClientID)}
	}
	if err := bySomebody(by); err != nil {
		return c, Change{}, err
	}
	c.UpdatedBy, c.UpdatedAt = by.ID, moment(now)
	c.Rev++
	return c, Change{
		Tenant: c.TenantID, Writes: []Write{{Row: c, Over: c.Rev - 1}},
		Audit: []aggregate.AuditEntry{entry(c.TenantID, AuditSettingsUpdated, "integration", c.Provider, c.details(was), by, now)},
	}, nil
}

// details names the old and the new app's id. If the id is unchanged, it only says that the client was saved.
func (c VendorClient) details(was VendorClient) map[string]any {
	const field = "clients"
	diff := differences(map[string]any{field: map[string]string{c.Provider: was.ClientID}}, map[string]any{field: map[string]string{c.Provider: c.ClientID}})
	if diff == nil {
		return map[string]any{"fields": []string{field + "." + c.Provider}}
	}
	return detailsOf(diff)
}
