package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// MaxOrganisation is how many bytes a packed file may have: an item of DynamoDB has at most 400 KB with its keys.
const MaxOrganisation = 390_000

// StandingOrganisation is what stands for a tenant. Organisation is nil where nothing does.
type StandingOrganisation struct {
	tenancy.OrganisationRow
	Organisation *rules.Organisation
}

// ErrUnreadable says that the file isn't the one that was saved, or a later release's. Another may be saved in its
// place.
var ErrUnreadable = errors.New("the organisation can't be read")

// Organisation reads which organisation stands for a tenant. A tenant that never had one has a row without revision.
// Rev is what a commit may rely on, by tenancy.OrganisationKey. With ErrUnreadable it returns the row.
func (s *Store) Organisation(ctx context.Context, tenant string) (is StandingOrganisation, err error) {
	for last := -1; ; last = is.Rev {
		row, err := savedOr(ctx, s, tenant, tenancy.OrganisationRow{TenantID: tenant})
		if is = (StandingOrganisation{OrganisationRow: row}); err != nil || !is.Stands() {
			return is, err
		}
		f, err := savedOr(ctx, s, tenant, tenancy.OrganisationFile{TenantID: tenant})
		if err != nil {
			return is, err
		}
		if f.Rev != is.Rev && is.Rev != last {
			continue // somebody saved in between
		}
		if is.Organisation, err = unpacked(f.File, is.SHA256); err != nil {
			err = fmt.Errorf("%w: revision %d of %s: %w", ErrUnreadable, is.Rev, tenant, err)
		}
		return is, err
	}
}

var errOther = errors.New("it is not what was saved")

func unpacked(packed []byte, sum string) (*rules.Organisation, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	file, err := io.ReadAll(io.LimitReader(r, 2*rules.MaxOrganisationBytes))
	if err != nil {
		return nil, err
	}
	if aggregate.HashOf(string(file)) != sum {
		return nil, errOther
	}
	o, wrong := rules.ReadOrganisation(file)
	return o, wrong.Err()
}

// SaveOrganisation has an organisation stand, over the revision that was shown. What stands already is not saved again.
// It returns a Problem for one that is too large, and aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveOrganisation(ctx context.Context, tenant string, over int, o *rules.Organisation,
	by aggregate.Actor, now time.Time) error {
	was, err := s.Organisation(ctx, tenant)
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return err
	}
	file := o.Bytes()
	sum := aggregate.HashOf(string(file))
	if err == nil && sum == was.SHA256 && was.Rev == over {
		return nil
	}
	if len(file) > rules.MaxOrganisationBytes { // written out it is larger than what was read, and couldn't be read again
		return aggregate.Problem{Code: "csv_bytes", Args: []any{rules.MaxOrganisationBytes >> 20}}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(file)
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	if packed.Len() > MaxOrganisation {
		return aggregate.Problem{Code: "csv_large", Args: []any{packed.Len() >> 10, MaxOrganisation >> 10}}
	}
	c, err := was.Save(over, sum, packed.Bytes(), o.People(), by, now)
	return s.change(ctx, c, err)
}

// RemoveOrganisation has none stand. It returns aggregate.ErrConflict when the row has another revision.
func (s *Store) RemoveOrganisation(ctx context.Context, tenant string, over int, by aggregate.Actor,
	now time.Time) error {
	row, err := savedOr(ctx, s, tenant, tenancy.OrganisationRow{TenantID: tenant})
	if err != nil {
		return err
	}
	c, err := row.Remove(over, by, now)
	return s.change(ctx, c, err)
}
