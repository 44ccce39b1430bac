package contestfiles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/model/teamconfig"
)

// Tenants say which workspaces are not the deployment's own.
type Tenants interface {
	Further(ctx context.Context, tenant string) (t tenancy.Tenant, further bool, err error)
}

// Opener opens the files of contests that a tenant may see.
type Opener func(ctx context.Context, tenant string) (teamconfig.Workspace, error)

// For opens the files at an address: all of them for the deployment's own workspace, for a further one those that are
// shared with it by name. It returns errorclass.ErrUnavailable while nobody knows which these are.
func For(cfg aws.Config, address string, rows Tenants) Opener {
	return func(ctx context.Context, tenant string) (teamconfig.Workspace, error) {
		w, err := teamconfig.Open(address, Bucket(cfg))
		if err != nil {
			return w, err
		}
		t, further, err := rows.Further(ctx, tenant)
		if err != nil {
			return w, fmt.Errorf("whose the files of contests are: %w: %w", errorclass.ErrUnavailable, err)
		}
		if !further {
			return w, nil
		}
		shared, err := w.SharedWith(t.TeamID)
		if err != nil && !errors.Is(err, errorclass.ErrUnavailable) {
			slog.ErrorContext(ctx, "no contests are shared with further workspaces", "err", err)
			err = nil
		}
		return shared, err
	}
}
