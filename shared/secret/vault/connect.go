package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/task"
)

// Rows keeps integrations.
type Rows interface {
	Integrations
	SaveIntegration(ctx context.Context, x task.Integration, by task.Actor, now time.Time) (task.Integration, error)
}

// Connect seals a token and saves it as the tenant's connection to a provider,
// over the one that was there, with integration.connected in the audit log.
func Connect(ctx context.Context, rows Rows, e Envelope, tenant, provider, token string, by task.Actor, now time.Time) error {
	sealed, err := e.SealCredential(ctx, tenant, provider, Credential{AccessToken: token})
	if err != nil {
		return err
	}
	row, err := rows.Integration(ctx, tenant, provider)
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	row.TenantID, row.Provider, row.Status, row.Credentials, row.ConnectedAt = tenant, provider, task.Connected, sealed, &now
	if _, err := rows.SaveIntegration(ctx, row, by, now); err != nil {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	return nil
}
