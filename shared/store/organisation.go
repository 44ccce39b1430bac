package store

import (
	"context"
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// OrganisationRow reads which version of its organisation stands for a tenant. A tenant that never had one has a row
// without revision.
func (s *Store) OrganisationRow(ctx context.Context, tenant string) (tenancy.OrganisationRow, error) {
	row := tenancy.OrganisationRow{TenantID: tenant}
	err := s.read(ctx, tenant, &row)
	if errors.Is(err, aggregate.ErrNotFound) && table.KeyPart(tenant) {
		err = nil
	}
	return row, err
}

// BeginOrganisation lists a new version of a tenant's organisation before its rows are written.
func (s *Store) BeginOrganisation(ctx context.Context, tenant string, v tenancy.OrganisationVersion, now time.Time) (
	tenancy.OrganisationWriting, error) {
	v.Version = s.newID()
	w, c := tenancy.BeginOrganisation(tenant, v, now)
	return w, s.change(ctx, c, nil)
}

// MoveOrganisation commits row.Move. It returns aggregate.ErrConflict when somebody saved in between, or abandoned the
// version.
func (s *Store) MoveOrganisation(ctx context.Context, row tenancy.OrganisationRow, over int,
	w tenancy.OrganisationWriting, n tenancy.OrganisationCounts, by aggregate.Actor,
	now time.Time) (tenancy.OrganisationRow, error) {
	is, c, err := row.Move(over, w, n, by, now)
	return is, s.change(ctx, c, err)
}

// RemoveOrganisation reads the row and commits Remove. It returns aggregate.ErrConflict when it has another revision.
func (s *Store) RemoveOrganisation(ctx context.Context, tenant string, over int, by aggregate.Actor,
	now time.Time) error {
	row, err := s.OrganisationRow(ctx, tenant)
	if err != nil {
		return err
	}
	_, c, err := row.Remove(over, by, now)
	return s.change(ctx, c, err)
}

// OrganisationVersions returns the list of a tenant's versions, the oldest first.
func (s *Store) OrganisationVersions(ctx context.Context, tenant string) ([]tenancy.OrganisationWriting, error) {
	return owned(ctx, s, tenant, tenancy.OrganisationWriting{TenantID: tenant}, "0") // ids begin with the time
}

// ClearOrganisation deletes the rows of a version that never stood. It returns aggregate.ErrConflict if it stands by
// now, or somebody else clears it.
func (s *Store) ClearOrganisation(ctx context.Context, w tenancy.OrganisationWriting) error {
	w, c := w.Abandon()
	if err := s.change(ctx, c, nil); err != nil {
		return err
	}
	if _, err := s.t.Erase(ctx, tenancy.OrganisationPartition(w.TenantID, w.Version), nil); err != nil {
		return err
	}
	return s.change(ctx, w.Drop(), nil)
}
