package slackapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Slack says which workspace the deployment's token belongs to.
type Installations interface {
	Team(ctx context.Context) (string, error)
}

// Rows says which workspaces have connected Slack.
type InstallationRows interface {
	Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error)
}

// Home knows which workspaces a deployment serves.
type HomeWorkspaces struct {
	Slack Installations
	Rows  InstallationRows
}

// ErrSilent means that Slack could not be asked which workspace the deployment's token belongs to.
var ErrNoWorkspace = errors.New("nobody says whose the app is")

// Tenant returns the deployment's own workspace as a tenant. It is empty for a stand-in for Slack that lacks auth.test:
// such a stand-in has one unnamed workspace. On failure Tenant returns ErrSilent with Slack's error.
func (h HomeWorkspaces) Tenant(ctx context.Context) (string, error) {
	team, err := h.Slack.Team(For(ctx, ""))
	switch {
	case Code(err) == CodeUnknownMethod:
		slog.WarnContext(ctx, "workspaces can't be told apart here")
		return "", nil
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrNoWorkspace, err)
	}
	return aggregate.TenantID(team), nil
}

// Own reports whether a tenant is the deployment's own workspace. It fails as Tenant does.
func (h HomeWorkspaces) Own(ctx context.Context, tenant string) (bool, error) {
	own, err := h.Tenant(ctx)
	return err == nil && (own == "" || own == tenant), err
}

// Knows reports whether a tenant is the deployment's own workspace or has connected Slack itself. It fails as Tenant
// does.
func (h HomeWorkspaces) Knows(ctx context.Context, tenant string) (bool, error) {
	own, err := h.Own(ctx, tenant)
	if own {
		return true, nil
	}
	rows, failed := h.Rows.Integrations(ctx, tenant)
	switch {
	case failed != nil:
		return false, fmt.Errorf("look for the workspace's own connection: %w", failed)
	case tenancy.HasOwnSlack(rows):
		return true, nil
	}
	return false, err
}
