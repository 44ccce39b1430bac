package store

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/domain/websession"
	"ringi/shared/store/table"
)

// webConsent is the sort key of a consent that a browser began, under the hash of its state.
const webConsent = "OAUTH"

// BeginConsent keeps a consent under its state until the vendor sends the person back.
func (s *Store) BeginConsent(ctx context.Context, state string, x websession.Consent, now time.Time) error {
	pk, sk := webKey(state, webConsent)
	return s.putWeb(ctx, pk, sk, "web_consent", x, now.Add(websession.ConsentLasts))
}

// TakeConsent is the consent of a state, which no other call gets again. It returns aggregate.ErrNotFound when there is
// none, or it is too old.
func (s *Store) TakeConsent(ctx context.Context, state string, now time.Time) (websession.Consent, error) {
	var is websession.Consent
	pk, sk := webKey(state, webConsent)
	it, err := s.taken(ctx, table.Key(pk, sk), now)
	if err != nil {
		return is, fmt.Errorf("take a consent: %w", err)
	}
	return is, table.Unpack(it, &is)
}

// VendorClient is a tenant's client at a vendor. It returns aggregate.ErrNotFound when it has none.
func (s *Store) VendorClient(ctx context.Context, tenant, provider string) (tenancy.VendorClient, error) {
	x := tenancy.VendorClient{TenantID: tenant, Provider: provider}
	if err := s.read(ctx, tenant, &x); err != nil {
		return tenancy.VendorClient{}, err
	}
	return x, nil
}

// VendorClients returns all of a tenant's, by provider.
func (s *Store) VendorClients(ctx context.Context, tenant string) ([]tenancy.VendorClient, error) {
	return owned(ctx, s, tenant, tenancy.VendorClient{TenantID: tenant}, tenancy.ClientPrefix)
}

// SaveVendorClient commits x.Save over the client of revision x.Rev, 0 for a new one. It returns aggregate.ErrConflict
// when somebody saved in between.
func (s *Store) SaveVendorClient(ctx context.Context, x tenancy.VendorClient, by aggregate.Actor, now time.Time) (is tenancy.VendorClient, err error) {
	var was tenancy.VendorClient
	if x.Rev != 0 {
		if was, err = s.VendorClient(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
	}
	x, c, err := x.Save(was, by, now)
	return x, s.change(ctx, c, err)
}
