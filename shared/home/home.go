// Package home says which Slack workspaces a deployment works for: its own, whose bot's token it has, and those that
// have connected Slack themselves. Nothing is begun for any other, and nothing is sent there with the deployment's token.
package home

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ringi/shared/aggregate"
	"ringi/shared/slackapi"
	"ringi/shared/tenancy"
)

// Slack says which workspace the deployment's token belongs to.
type Slack interface {
	Team(ctx context.Context) (string, error)
}

// Rows are what workspaces have connected.
type Rows interface {
	Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error)
}

// Home is a deployment's.
type Home struct {
	Slack Slack
	Rows  Rows
}

// ErrSilent says that Slack did not tell whose the deployment's token is.
var ErrSilent = errors.New("nobody says whose the app is")

// Own reports whether a tenant is the deployment's own workspace. Where Slack has no method that says so, which is
// never slack.com, there is one workspace only. It returns ErrSilent with Slack's error.
func (h Home) Own(ctx context.Context, tenant string) (bool, error) {
	team, err := h.Slack.Team(ctx)
	switch {
	case slackapi.Code(err) == slackapi.CodeUnknownMethod:
		slog.WarnContext(ctx, "workspaces can't be told apart here")
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return aggregate.TenantID(team) == tenant, nil
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
