package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/task"
)

const integrationPrefix = "INTEGRATION#"

// Integration reads a tenant's connection to a provider. It returns
// task.ErrNotFound when there never was one.
func (s *Store) Integration(ctx context.Context, tenant, provider string) (task.Integration, error) {
	pk, err := tenantPartition(tenant)
	if err != nil {
		return task.Integration{}, err
	}
	var x task.Integration
	if err := s.get(ctx, pk, integrationPrefix+provider, &x); err != nil {
		return x, fmt.Errorf("read integration %s of %s: %w", provider, tenant, err)
	}
	return x, nil
}

// Integrations returns all of a tenant's, by provider.
func (s *Store) Integrations(ctx context.Context, tenant string) ([]task.Integration, error) {
	return owned[task.Integration](ctx, s, tenant, integrationPrefix)
}

// SaveIntegration writes x over the integration of revision x.Rev, 0 for a new
// one. Connecting, reconnecting with other credentials and disconnecting are
// recorded; a disconnected integration keeps no credentials.
// It returns task.ErrConflict when somebody saved in between.
func (s *Store) SaveIntegration(ctx context.Context, x task.Integration, by task.Actor, now time.Time) (task.Integration, error) {
	if err := checkIntegration(x); err != nil {
		return x, err
	}
	pk, err := tenantPartition(x.TenantID)
	if err != nil {
		return x, err
	}
	was := task.Integration{}
	if x.Rev != 0 {
		if was, err = s.Integration(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
		x.ID = was.ID
	} else if x.ID == "" {
		x.ID = s.newID()
	}
	x.UpdatedAt = moment(now)
	var action task.Action
	switch {
	case x.Status == task.Disconnected:
		x.Credentials, x.ConnectedAt = "", nil
		if was.Status != task.Disconnected {
			action = task.IntegrationDisconnected
		}
	case x.Status == task.Connected && (was.Status != task.Connected || was.Credentials != x.Credentials):
		action, x.ConnectedAt = task.IntegrationConnected, &x.UpdatedAt
	}
	if x.Metadata == "" {
		x.Metadata = "{}"
	}
	rev := x.Rev
	x.Rev++
	it, err := pack("integration", pk, integrationPrefix+x.Provider, x)
	if err != nil {
		return x, err
	}
	items := []types.TransactWriteItem{s.put(it, rev)}
	if action == "" {
		err = s.transact(ctx, s.newID(), items)
	} else {
		err = s.transactAudited(ctx, items, task.AuditEntry{
			TenantID: x.TenantID, Action: action, ResourceType: "integration", ResourceID: x.ID,
			Details: details(map[string]any{"provider": x.Provider}),
		}, by, now)
	}
	if err != nil {
		return x, fmt.Errorf("save integration %s of %s: %w", x.Provider, x.TenantID, err)
	}
	return x, nil
}

func checkIntegration(x task.Integration) error {
	if x.Provider == "" || len(x.Provider) > 100 {
		return task.ErrField{Field: "provider", Limit: "must have 1 to 100 bytes"}
	}
	switch x.Status {
	case task.Connected, task.Disconnected, task.Broken:
		return nil
	}
	return task.ErrField{Field: "status", Limit: "must be connected, disconnected or error"}
}
