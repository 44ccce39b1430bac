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

// deploymentFor is how long a process believes the deployment's row, which hardly ever changes.
const deploymentFor = time.Minute

// deployment is the deployment's row as a process remembers it.
type deployment struct {
	mu   sync.Mutex
	row  tenancy.Deployment
	read time.Time
}

// CapFurther bounds, by the settings that are read from now on, what a further workspace may cost on a day. It returns
// an error for a text that is no amount of US dollars above 0.
func (s *Store) CapFurther(usd string) error {
	most, err := strconv.ParseFloat(usd, 64)
	if err != nil || !(aggregate.USD(most) > 0) {
		return fmt.Errorf("a further workspace's day must be bounded by US dollars above 0, got %q", usd)
	}
	s.furtherDay = aggregate.USD(most)
	return nil
}

// Further reports whether a tenant is another workspace than the deployment's own, and reads it then.
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

// FurtherDay is what a tenant may cost on a day as a further workspace, whatever it saves, as the deployment's row
// says: 0 if nothing bounds it.
func (s *Store) FurtherDay(ctx context.Context, tenant string) (aggregate.MicroUSD, error) {
	d, err := s.deployment(ctx)
	if err != nil || !d.Further(tenant) {
		return 0, err
	}
	return d.FurtherDay, nil
}

// NoteDeployment commits tenancy.Deployment.Note, with what CapFurther was told. While the row is known to say so it
// calls nothing.
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

// deployment is the row as it was read within the minute; one that is not there is looked for each time.
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
