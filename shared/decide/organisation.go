package decide

import (
	"context"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// OrganisationOf reads which organisation stands, with the row on which commits rely.
func OrganisationOf(from *store.OrganisationStore) func(ctx context.Context, tenant string) (Standing, error) {
	return func(ctx context.Context, tenant string) (out Standing, err error) {
		s, err := from.Standing(ctx, tenant)
		out.On = []aggregate.Owned{{Key: tenancy.OrganisationKey, Rev: s.Rev, Err: aggregate.ErrSettings}}
		if s.Stands() {
			out.Organisation = &Organisation{Version: s.Version, People: s.Organisation, Accounts: s.Accounts}
		}
		return out, err
	}
}
