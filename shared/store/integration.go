package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

const integrationPrefix = "INTEGRATION#"

// integrationPartition is the key of a tenant's integrations. It is theirs alone:
// who renews credentials writes here, and has no business with settings and permissions.
func integrationPartition(tenant string) (string, error) {
	if !keyPart(tenant) {
		return "", fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	return "INTEGRATIONS#" + tenant, nil
}

// Integration reads a tenant's connection to a provider. It returns
// task.ErrNotFound when there never was one.
func (s *Store) Integration(ctx context.Context, tenant, provider string) (tenancy.Integration, error) {
	pk, err := integrationPartition(tenant)
	if err != nil {
		return tenancy.Integration{}, err
	}
	var x tenancy.Integration
	if err := s.get(ctx, pk, integrationPrefix+provider, &x); err != nil {
		return x, fmt.Errorf("read integration %s of %s: %w", provider, tenant, err)
	}
	return x, nil
}

// Integrations returns all of a tenant's, by provider.
func (s *Store) Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error) {
	pk, err := integrationPartition(tenant)
	if err != nil {
		return nil, err
	}
	return under[tenancy.Integration](ctx, s, pk, integrationPrefix)
}

// SaveIntegration writes x over the integration of revision x.Rev, 0 for a new
// one. Connecting, reconnecting with other credentials, disconnecting and failing
// are recorded; what is not connected keeps no credentials.
// It returns task.ErrConflict when somebody saved in between.
func (s *Store) SaveIntegration(ctx context.Context, x tenancy.Integration, by aggregate.Actor, now time.Time) (tenancy.Integration, error) {
	was := tenancy.Integration{}
	if x.Rev != 0 {
		var err error
		if was, err = s.Integration(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
		x.ID = was.ID
	}
	x.UpdatedAt = moment(now)
	if x.Status != tenancy.Connected {
		x = x.Ended(x.Status, x.StatusReason)
	} else if was.Status != tenancy.Connected || was.Credentials != x.Credentials {
		x.ConnectedAt = &x.UpdatedAt
	}
	return s.keepIntegration(ctx, x, recorded(was, x), by, now)
}

// recorded is what a change of an integration is called in the audit log, empty for
// one that is not worth an entry.
func recorded(was, is tenancy.Integration) aggregate.Action {
	switch {
	case is.Status == tenancy.Connected && (was.Status != tenancy.Connected || was.Credentials != is.Credentials):
		return tenancy.IntegrationConnected
	case is.Status == tenancy.Disconnected && was.Status != tenancy.Disconnected:
		return tenancy.IntegrationDisconnected
	case is.Status == tenancy.Broken && was.Status != tenancy.Broken:
		return tenancy.IntegrationFailed
	}
	return ""
}

// RenewIntegration writes what a refresh changes, the claim to it and the sealed
// credentials, over revision x.Rev. The audit log knows nothing of it.
// It returns task.ErrConflict when somebody saved in between.
func (s *Store) RenewIntegration(ctx context.Context, x tenancy.Integration, now time.Time) (tenancy.Integration, error) {
	x.UpdatedAt = moment(now)
	return s.keepIntegration(ctx, x, "", aggregate.System(), now)
}

func (s *Store) keepIntegration(ctx context.Context, x tenancy.Integration, action aggregate.Action, by aggregate.Actor, now time.Time) (tenancy.Integration, error) {
	items, err := s.integrationItems(&x, action, by, now)
	if err == nil {
		err = s.transact(ctx, s.newID(), items)
	}
	if err != nil {
		return x, fmt.Errorf("save integration %s of %s: %w", x.Provider, x.TenantID, err)
	}
	return x, nil
}

// integrationItems are x's row as its next revision, and the entry that records it if action says what.
func (s *Store) integrationItems(x *tenancy.Integration, action aggregate.Action, by aggregate.Actor, now time.Time) ([]types.TransactWriteItem, error) {
	if err := checkIntegration(*x); err != nil {
		return nil, err
	}
	pk, err := integrationPartition(x.TenantID)
	if err != nil {
		return nil, err
	}
	if x.ID == "" {
		x.ID = s.newID()
	}
	if x.Metadata == "" {
		x.Metadata = "{}"
	}
	rev := x.Rev
	x.Rev++
	it, err := pack("integration", pk, integrationPrefix+x.Provider, *x)
	if err != nil {
		return nil, err
	}
	items := []types.TransactWriteItem{s.put(it, rev)}
	if action == "" {
		return items, nil
	}
	about := map[string]any{"provider": x.Provider}
	if x.StatusReason != "" {
		about["reason"] = string(x.StatusReason)
	}
	entry, err := s.entry(aggregate.AuditEntry{
		TenantID: x.TenantID, Action: action, ResourceType: "integration", ResourceID: x.ID, Details: details(about),
	}, by, now)
	return append(items, entry), err
}

// EndIntegrations ends what Slack says has ended, in one transaction with its audit
// entries, and returns how many that were: none when it is known already. It tries
// again for up to two seconds while others write; then it returns task.ErrConflict.
func (s *Store) EndIntegrations(ctx context.Context, tenant string, why tenancy.IntegrationReason, at, now time.Time) (int, error) {
	stop, wait := time.Now().Add(retryFor), newBackoff(20*time.Millisecond, 400*time.Millisecond)
	for {
		n, err := s.endIntegrations(ctx, tenant, why, at, now)
		if !errors.Is(err, aggregate.ErrConflict) || !wait.until(ctx, stop) {
			if err != nil {
				err = fmt.Errorf("end the integrations of %s: %w", tenant, err)
			}
			return n, err
		}
	}
}

func (s *Store) endIntegrations(ctx context.Context, tenant string, why tenancy.IntegrationReason, at, now time.Time) (int, error) {
	rows, err := s.Integrations(ctx, tenant)
	if err != nil {
		return 0, err
	}
	ended := tenancy.EndedBySlack(tenant, rows, why, at)
	var items []types.TransactWriteItem
	for _, x := range ended {
		x.UpdatedAt = moment(now)
		more, err := s.integrationItems(&x, tenancy.IntegrationDisconnected, aggregate.System(), now)
		if err != nil {
			return 0, err
		}
		items = append(items, more...)
	}
	if len(items) == 0 {
		return 0, nil
	}
	return len(ended), s.transact(ctx, s.newID(), items)
}

func checkIntegration(x tenancy.Integration) error {
	if x.Provider == "" || len(x.Provider) > 100 {
		return aggregate.ErrField{Field: "provider", Limit: "must have 1 to 100 bytes"}
	}
	switch x.Status {
	case tenancy.Connected, tenancy.Disconnected, tenancy.Broken:
		return nil
	}
	return aggregate.ErrField{Field: "status", Limit: "must be connected, disconnected or error"}
}
