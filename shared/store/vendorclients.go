package store

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// VendorClient returns a tenant's client at a vendor. It returns aggregate.ErrNotFound when it has none.
func (s *Store) VendorClient(ctx context.Context, tenant, provider string) (tenancy.VendorClient, error) {
	x := tenancy.VendorClient{TenantID: tenant, Provider: provider}
	if err := s.read(ctx, tenant, &x); err != nil {
		return tenancy.VendorClient{}, err
	}
	return x, nil
}

// VendorClients returns all of a tenant's clients at vendors, by provider.
func (s *Store) VendorClients(ctx context.Context, tenant string) ([]tenancy.VendorClient, error) {
	return owned(ctx, s, tenant, tenancy.VendorClient{TenantID: tenant}, tenancy.ClientPrefix)
}

// SaveVendorClient commits x.Save over the client of revision x.Rev, 0 for a new one. It returns aggregate.ErrConflict
// when somebody saved in between.
func (s *Store) SaveVendorClient(ctx context.Context, x tenancy.VendorClient, by aggregate.Actor,
	now time.Time) (is tenancy.VendorClient, err error) {
	var was tenancy.VendorClient
	if x.Rev != 0 {
		if was, err = s.VendorClient(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
	}
	x, c, err := x.Save(was, by, now)
	return x, s.change(ctx, c, err)
}
