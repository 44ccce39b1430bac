package tenancy

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// VendorClient is a tenant's app as it is registered with a vendor. It stays when the tenant disconnects the vendor.
type VendorClient struct {
	aggregate.Meta
	TenantID string `json:"tenant_id"`
	Provider string `json:"provider"`
	ClientID string `json:"client_id"`
	// Of an MCP server's client: whose it is, empty for one that was pasted and not used yet; and, of one that Ringi
	// registered itself, where people come back to.
	Issuer    string    `json:"issuer,omitempty"`
	Redirect  string    `json:"redirect,omitempty"`
	Sealed    string    `json:"sealed"` // id and secret; never in clear
	UpdatedBy string    `json:"updated_by"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ClientPrefix begins the sort keys of a tenant's clients.
const ClientPrefix = "CLIENT#"

// maxClientID is how long a client's id may be, in bytes.
const maxClientID = 512

// Place is beside the tenant's integrations, and none of them.
func (c VendorClient) Place() (partition, key, typ string) {
	return "INTEGRATIONS#" + c.TenantID, ClientPrefix + c.Provider, "vendor_client"
}

// Save writes c over was, the client of revision c.Rev, which is zero for a new one. The log has the id, never the
// secret.
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

// details say which app it was and is; of one that keeps its id only that it was saved.
func (c VendorClient) details(was VendorClient) map[string]any {
	const field = "clients"
	diff := differences(map[string]any{field: map[string]string{c.Provider: was.ClientID}}, map[string]any{field: map[string]string{c.Provider: c.ClientID}})
	if diff == nil {
		return map[string]any{"fields": []string{field + "." + c.Provider}}
	}
	return detailsOf(diff)
}
