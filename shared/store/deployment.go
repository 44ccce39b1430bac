package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// deploymentFor is how long a process caches the deployment's row, which hardly ever changes.
const deploymentFor = time.Minute

// deployment caches the deployment's row.
type deployment struct {
	mu   sync.Mutex
	row  tenancy.Deployment
	read time.Time
}

// CapFurther sets the daily budget of further workspaces in US dollars. Settings returns it for them from then on. It
// returns an error for a text that is not an amount above 0.
func (s *Store) CapFurther(usd string) error {
	most, err := strconv.ParseFloat(usd, 64)
	if err != nil || !(aggregate.USD(most) > 0) {
		return fmt.Errorf("a further workspace's day must be bounded by US dollars above 0, got %q", usd)
	}
	s.furtherDay = aggregate.USD(most)
	return nil
}

// Further reports whether a tenant is not the deployment's own workspace. Only then it also returns the tenant.
func (s *Store) Further(ctx context.Context, tenant string) (t tenancy.Tenant, further bool, err error) {
	d, err := s.deployment(ctx)
	if err != nil || !d.Further(tenant) {
		return t, false, err
	}
	if t, err = s.Tenant(ctx, tenant); errors.Is(err, aggregate.ErrNotFound) && table.KeyPart(tenant) {
		err = nil
	}
	return t, true, err
}

// FurtherDay returns the daily budget that the deployment's row sets for a tenant as a further workspace, whatever its
// own settings are. It returns 0 if there is no such bound.
func (s *Store) FurtherDay(ctx context.Context, tenant string) (aggregate.MicroUSD, error) {
	d, err := s.deployment(ctx)
	if err != nil || !d.Further(tenant) {
		return 0, err
	}
	return d.FurtherDay, nil
}

// NoteDeployment commits tenancy.Deployment.Note with the budget of CapFurther. It makes no call if the cached row
// already has it.
func (s *Store) NoteDeployment(ctx context.Context, own string, now time.Time) error {
	is, err := s.deployment(ctx)
	if err != nil {
		return err
	}
	return whileConflict(ctx, func() error {
		next, c := is.Note(own, s.furtherDay, now)
		err := s.changeOnce(ctx, c, nil)
		if err == nil {
			s.keepDeployment(next)
		} else if errors.Is(err, aggregate.ErrConflict) {
			if again, failed := s.readDeployment(ctx); failed == nil {
				is = again
			}
		}
		return err
	})
}

// deployment returns the row, cached for a minute. A missing row is not cached.
func (s *Store) deployment(ctx context.Context) (tenancy.Deployment, error) {
	s.known.mu.Lock()
	is, read := s.known.row, s.known.read
	s.known.mu.Unlock()
	if is.Rev > 0 && s.t.Now().Sub(read) < deploymentFor {
		return is, nil
	}
	return s.readDeployment(ctx)
}

func (s *Store) readDeployment(ctx context.Context) (d tenancy.Deployment, err error) {
	err = s.t.Get(ctx, tenancy.DeploymentKey, tenancy.DeploymentKey, &d)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
		return tenancy.Deployment{}, nil
	case err != nil:
		return d, fmt.Errorf("read which workspace is the deployment's own: %w", err)
	}
	s.keepDeployment(d)
	return d, nil
}

func (s *Store) keepDeployment(d tenancy.Deployment) {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	s.known.row, s.known.read = d, s.t.Now()
}

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
