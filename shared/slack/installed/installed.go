// Package installed says which Slack workspaces a deployment works for: its own, to which its bot token belongs, and
// those that have connected Slack with a token of their own. Requests of any other workspace are refused, and nothing
// is sent there.
package installed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/slackapi"
)

// Slack says which workspace the deployment's token belongs to.
type Slack interface {
	Team(ctx context.Context) (string, error)
}

// Rows are what workspaces have connected.
type Rows interface {
	Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error)
}

// Home knows the workspaces of one deployment.
type Home struct {
	Slack Slack
	Rows  Rows
}

// ErrSilent: Slack could not be asked which workspace the deployment's token belongs to.
var ErrSilent = errors.New("nobody says whose the app is")

// Tenant is the deployment's own workspace as a tenant. A Slack that lacks auth.test (a stand-in, never slack.com) has
// one workspace only, and does not say which: then it is empty. On failure it returns ErrSilent with Slack's error.
func (h Home) Tenant(ctx context.Context) (string, error) {
	team, err := h.Slack.Team(slackapi.For(ctx, ""))
	switch {
	case slackapi.Code(err) == slackapi.CodeUnknownMethod:
		slog.WarnContext(ctx, "workspaces can't be told apart here")
		return "", nil
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return aggregate.TenantID(team), nil
}

// Own reports whether a tenant is the deployment's own workspace. It returns the errors of Tenant.
func (h Home) Own(ctx context.Context, tenant string) (bool, error) {
	own, err := h.Tenant(ctx)
	return err == nil && (own == "" || own == tenant), err
}

// Knows reports whether a tenant is the deployment's own workspace or has connected Slack itself. It returns
// ErrSilent like Own.
func (h Home) Knows(ctx context.Context, tenant string) (bool, error) {
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
