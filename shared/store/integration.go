package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/task"
)

const integrationPrefix = "INTEGRATION#"

// integrationPartition is the key of a tenant's integrations. It is theirs alone:
// who renews credentials writes here, and has no business with settings and permissions.
func integrationPartition(tenant string) (string, error) {
	if !keyPart(tenant) {
		return "", fmt.Errorf("tenant %.40q: %w", tenant, task.ErrNotFound)
	}
	return "INTEGRATIONS#" + tenant, nil
}

// Integration reads a tenant's connection to a provider. It returns
// task.ErrNotFound when there never was one.
func (s *Store) Integration(ctx context.Context, tenant, provider string) (task.Integration, error) {
	pk, err := integrationPartition(tenant)
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
	pk, err := integrationPartition(tenant)
	if err != nil {
		return nil, err
	}
	return under[task.Integration](ctx, s, pk, integrationPrefix)
}

// SaveIntegration writes x over the integration of revision x.Rev, 0 for a new
// one. Connecting, reconnecting with other credentials, disconnecting and failing
// are recorded; what is not connected keeps no credentials.
// It returns task.ErrConflict when somebody saved in between.
func (s *Store) SaveIntegration(ctx context.Context, x task.Integration, by task.Actor, now time.Time) (task.Integration, error) {
	was := task.Integration{}
	if x.Rev != 0 {
		var err error
		if was, err = s.Integration(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
		x.ID = was.ID
	}
	x.UpdatedAt = moment(now)
	if x.Status != task.Connected {
		x = x.Ended(x.Status, x.StatusReason)
	} else if was.Status != task.Connected || was.Credentials != x.Credentials {
		x.ConnectedAt = &x.UpdatedAt
	}
	return s.keepIntegration(ctx, x, recorded(was, x), by, now)
}

// recorded is what a change of an integration is called in the audit log, empty for
// one that is not worth an entry.
func recorded(was, is task.Integration) task.Action {
	switch {
	case is.Status == task.Connected && (was.Status != task.Connected || was.Credentials != is.Credentials):
		return task.IntegrationConnected
	case is.Status == task.Disconnected && was.Status != task.Disconnected:
		return task.IntegrationDisconnected
	case is.Status == task.Broken && was.Status != task.Broken:
		return task.IntegrationFailed
	}
	return ""
}

// RenewIntegration writes what a refresh changes, the claim to it and the sealed
// credentials, over revision x.Rev. The audit log knows nothing of it.
// It returns task.ErrConflict when somebody saved in between.
func (s *Store) RenewIntegration(ctx context.Context, x task.Integration, now time.Time) (task.Integration, error) {
	x.UpdatedAt = moment(now)
	return s.keepIntegration(ctx, x, "", task.System(), now)
}

func (s *Store) keepIntegration(ctx context.Context, x task.Integration, action task.Action, by task.Actor, now time.Time) (task.Integration, error) {
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
func (s *Store) integrationItems(x *task.Integration, action task.Action, by task.Actor, now time.Time) ([]types.TransactWriteItem, error) {
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
	entry, err := s.entry(task.AuditEntry{
		TenantID: x.TenantID, Action: action, ResourceType: "integration", ResourceID: x.ID, Details: details(about),
	}, by, now)
	return append(items, entry), err
}

// EndIntegrations ends what Slack says has ended, in one transaction with its audit
// entries, and returns how many that were: none when it is known already. It tries
// again for up to two seconds while others write; then it returns task.ErrConflict.
func (s *Store) EndIntegrations(ctx context.Context, tenant string, why task.IntegrationReason, at, now time.Time) (int, error) {
	stop, wait := time.Now().Add(retryFor), newBackoff(20*time.Millisecond, 400*time.Millisecond)
	for {
		n, err := s.endIntegrations(ctx, tenant, why, at, now)
		if !errors.Is(err, task.ErrConflict) || !wait.until(ctx, stop) {
			if err != nil {
				err = fmt.Errorf("end the integrations of %s: %w", tenant, err)
			}
			return n, err
		}
	}
}

func (s *Store) endIntegrations(ctx context.Context, tenant string, why task.IntegrationReason, at, now time.Time) (int, error) {
	rows, err := s.Integrations(ctx, tenant)
	if err != nil {
		return 0, err
	}
	ended := task.EndedBySlack(tenant, rows, why, at)
	var items []types.TransactWriteItem
	for _, x := range ended {
		x.UpdatedAt = moment(now)
		more, err := s.integrationItems(&x, task.IntegrationDisconnected, task.System(), now)
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
