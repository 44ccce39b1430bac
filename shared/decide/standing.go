package decide

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// RulesReader reads a tenant's rules with their revision.
type RulesReader interface {
	Rules(ctx context.Context, tenant string) (x *rules.Rules, rev int, err error)
}

// Rules reads the rules that the settings s note. It returns aggregate.ErrSettings if others stand by now.
func Rules(ctx context.Context, from RulesReader, tenant string, s tenancy.Settings) (*rules.Rules, error) {
	r, rev, err := from.Rules(ctx, tenant)
	if err == nil && rev != s.RulesRev {
		err = aggregate.ErrSettings
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return r, nil
}

// Organised reads whether an organisation stands, and the row on which a commit relies for that, with the error
// aggregate.ErrSettings.
func Organised(ctx context.Context, from interface {
	OrganisationRow(ctx context.Context, tenant string) (tenancy.OrganisationRow, error)
}, tenant string) (stands bool, on aggregate.Owned, err error) {
	row, err := from.OrganisationRow(ctx, tenant)
	if err != nil {
		return false, on, fmt.Errorf("read whether an organisation stands: %w", err)
	}
	return row.Stands(), aggregate.Owned{Key: tenancy.OrganisationKey, Rev: row.Rev, Err: aggregate.ErrSettings}, nil
}
