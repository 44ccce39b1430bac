package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

const (
	tenantKey = "TENANT"
	maxSlug   = 63
)

func slugPartition(slug string) string { return "SLUG#" + slug }

// slugRow makes a slug one tenant's.
type slugRow struct {
	Slug     string `json:"slug"`
	TenantID string `json:"tenant_id"`
}

// Tenant reads a tenant, or returns task.ErrNotFound.
func (s *Store) Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error) {
	pk, err := tenantPartition(tenant)
	if err != nil {
		return tenancy.Tenant{}, err
	}
	var t tenancy.Tenant
	if err := s.get(ctx, pk, tenantKey, &t); err != nil {
		return tenancy.Tenant{}, fmt.Errorf("read tenant %s: %w", tenant, err)
	}
	return t, nil
}

// Bootstrap makes a tenant at first contact: its row, its slug and its settings,
// in one transaction. A slug that another tenant has gets the team's id behind
// it. A tenant that is there is returned as it is.
func (s *Store) Bootstrap(ctx context.Context, t tenancy.Tenant, now time.Time) (tenancy.Tenant, error) {
	stop, wait := time.Now().Add(retryFor), newBackoff(20*time.Millisecond, 400*time.Millisecond)
	withSettings := true
	for {
		was, err := s.Tenant(ctx, t.ID)
		if !errors.Is(err, aggregate.ErrNotFound) {
			return was, err
		}
		made, err := s.bootstrap(ctx, t, withSettings, now)
		var l *lost
		switch {
		case err == nil:
			return made, nil
		case !errors.As(err, &l):
			return tenancy.Tenant{}, fmt.Errorf("make tenant %s: %w", t.ID, err)
		case l.failed(1) && t.Slug != longSlug(t):
			t.Slug = longSlug(t)
		case l.failed(2):
			withSettings = false // they were saved before the tenant was known
		}
		if !wait.until(ctx, stop) {
			return tenancy.Tenant{}, fmt.Errorf("make tenant %s: %w", t.ID, err)
		}
	}
}

func (s *Store) bootstrap(ctx context.Context, t tenancy.Tenant, withSettings bool, now time.Time) (tenancy.Tenant, error) {
	pk, err := tenantPartition(t.ID)
	if err != nil {
		return t, err
	}
	settings := tenancy.DefaultSettings()
	settings.Slug = t.Slug
	if err := settings.Validate(); err != nil {
		return t, err
	}
	t.Rev, t.CreatedAt, t.UpdatedAt = 1, moment(now), moment(now)
	row, err := pack("tenant", pk, tenantKey, t)
	if err != nil {
		return t, err
	}
	slug, err := packSlug(t.Slug, t.ID)
	if err != nil {
		return t, err
	}
	items := []types.TransactWriteItem{s.put(row, 0), s.put(slug, 0)}
	if withSettings {
		settings.Rev, settings.UpdatedAt = 1, moment(now)
		it, err := packSettings(t.ID, s.newID(), settings)
		if err != nil {
			return t, err
		}
		items = append(items, s.put(it, 0))
	}
	return t, s.transact(ctx, s.newID(), items)
}

// NameTenant gives a tenant that was read as t another name. It returns
// task.ErrNotFound without a tenant, and does nothing when somebody was faster.
func (s *Store) NameTenant(ctx context.Context, t tenancy.Tenant, name string, now time.Time) error {
	pk, err := tenantPartition(t.ID)
	if err != nil {
		return err
	}
	e := newExpression()
	e.set("name", name)
	e.set("updated_at", moment(now))
	if _, err := s.update(ctx, key(pk, tenantKey), e, all(e.exists(), e.is("name", "=", t.Name))); err != nil && !errors.Is(err, errCondition) {
		return fmt.Errorf("name tenant %s: %w", t.ID, err)
	}
	return nil
}

// SaveTenant writes the name and the administrators of t over those of revision t.Rev, with
// the audit entry that names which of them changed; if none did, it writes nothing.
//
// It returns task.ErrNotFound without a tenant, task.ErrField for a value out of bounds or
// nobody who saves, task.ErrConflict when somebody saved in between.
func (s *Store) SaveTenant(ctx context.Context, t tenancy.Tenant, by aggregate.Actor, now time.Time) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if err := bySomebody(by); err != nil {
		return err
	}
	was, err := s.Tenant(ctx, t.ID)
	if err != nil {
		return err
	}
	if was.Rev != t.Rev {
		return fmt.Errorf("save tenant %s: %w", t.ID, aggregate.ErrConflict)
	}
	var fields []string
	if !slices.Equal(was.Admins, t.Admins) {
		fields = append(fields, "admins")
	}
	if was.Name != t.Name {
		fields = append(fields, "name")
	}
	if fields == nil {
		return nil
	}
	e := newExpression()
	e.set("admins", append([]string{}, t.Admins...))
	e.set("name", t.Name)
	e.set("updated_at", moment(now))
	e.set("rev", t.Rev+1)
	// Whoever else writes this row by expression moves no rev: of what is written here that is the name.
	as := all(e.revision(t.Rev), e.is("name", "=", was.Name))
	update := types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key("TENANT#"+t.ID, tenantKey), UpdateExpression: e.update(), ConditionExpression: as,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
	err = s.transactAudited(ctx, []types.TransactWriteItem{update}, aggregate.AuditEntry{
		TenantID: t.ID, Action: tenancy.SettingsUpdated, ResourceType: "tenant", ResourceID: t.ID, Details: details(map[string]any{"fields": fields}),
	}, by, now)
	if err != nil {
		return fmt.Errorf("save tenant %s: %w", t.ID, err)
	}
	return nil
}

// longSlug is the slug with the team's id behind it, which no other tenant has.
func longSlug(t tenancy.Tenant) string {
	tail := "-" + strings.ToLower(t.TeamID)
	head := strings.TrimSuffix(t.Slug, tail)
	return head[:min(len(head), max(0, maxSlug-len(tail)))] + tail
}

func packSlug(slug, tenant string) (item, error) {
	return pack("slug", slugPartition(slug), "SLUG", slugRow{Slug: slug, TenantID: tenant})
}

// moment is a time as the table keeps it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
