package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

// settingsRow is the item; what a release adds to the settings has its default
// in rows that are older.
type settingsRow struct {
	ID        string           `json:"id"`
	TenantID  string           `json:"tenant_id"`
	Rev       int              `json:"rev"`
	Config    tenancy.Settings `json:"config"`
	UpdatedAt time.Time        `json:"updated_at"`
	UpdatedBy string           `json:"updated_by"`
}

// Settings returns a tenant's settings, the defaults when it has saved none.
func (s *Store) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	row, err := s.settings(ctx, tenant)
	return row.Config, err
}

func (s *Store) settings(ctx context.Context, tenant string) (settingsRow, error) {
	row := settingsRow{Config: tenancy.DefaultSettings()}
	pk, err := tenantPartition(tenant)
	if err != nil {
		return row, err
	}
	if err := s.get(ctx, pk, tenancy.SettingsKey, &row); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return row, fmt.Errorf("read settings of %s: %w", tenant, err)
	}
	row.Config.Rev, row.Config.UpdatedAt, row.Config.UpdatedBy = row.Rev, row.UpdatedAt, row.UpdatedBy
	return row, nil
}

// SaveSettings writes x over the settings of revision x.Rev, with the audit
// entry that names the fields that changed; if none did, it writes nothing. Cards that
// wait and show what changed are drawn anew, a hundred tasks at most.
//
// It returns task.ErrField for a value out of bounds, a slug that another tenant
// has, or nobody who saves, task.ErrConflict when somebody saved in between.
func (s *Store) SaveSettings(ctx context.Context, tenant string, x tenancy.Settings, by aggregate.Actor, now time.Time) (tenancy.Settings, error) {
	if err := x.Validate(); err != nil {
		return x, err
	}
	if err := bySomebody(by); err != nil {
		return x, err
	}
	was, err := s.settings(ctx, tenant)
	if err != nil {
		return x, err
	}
	if was.Rev != x.Rev {
		return was.Config, fmt.Errorf("save settings of %s: %w", tenant, aggregate.ErrConflict)
	}
	fields := changed(was.Config, x)
	if fields == nil {
		return was.Config, nil
	}
	id := was.ID
	if id == "" {
		id = s.newID()
	}
	x.Rev, x.UpdatedAt, x.UpdatedBy = was.Rev+1, moment(now), by.ID
	it, err := packSettings(tenant, id, x)
	if err != nil {
		return x, err
	}
	items := []types.TransactWriteItem{s.put(it, was.Rev)}
	if x.Slug != was.Config.Slug {
		moves, err := s.moveSlug(ctx, tenant, x.Slug, now)
		if err != nil {
			return x, err
		}
		items = append(items, moves...)
	}
	entry := aggregate.AuditEntry{
		TenantID: tenant, Action: tenancy.SettingsUpdated, ResourceType: "settings", ResourceID: id,
		Details: details(map[string]any{"fields": fields}),
	}
	err = s.transactAudited(ctx, items, entry, by, now)
	var l *lost
	if errors.As(err, &l) && len(items) > 1 && l.failed(1) {
		return x, aggregate.ErrField{Field: "slug", Limit: "is another workspace's"}
	}
	if err != nil {
		return x, fmt.Errorf("save settings of %s: %w", tenant, err)
	}
	s.redrawWaiting(ctx, tenant, fields)
	return x, nil
}

// bySomebody returns ErrField unless a person saves.
func bySomebody(by aggregate.Actor) error {
	if by.Type != aggregate.ActorUser || by.ID == "" {
		return aggregate.ErrField{Field: "updated_by", Limit: "must be a person"}
	}
	return nil
}

// moveSlug makes slug the tenant's instead of its old one; the first action is to take it. Of
// the tenant's row it writes nothing else: its name and agent are written without a new rev.
func (s *Store) moveSlug(ctx context.Context, tenant, slug string, now time.Time) ([]types.TransactWriteItem, error) {
	t, err := s.Tenant(ctx, tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, aggregate.ErrField{Field: "slug", Limit: "cannot be set before the workspace's first message"}
	}
	if err != nil {
		return nil, err
	}
	taken, err := packSlug(slug, tenant)
	if err != nil {
		return nil, err
	}
	row := newExpression()
	row.set("slug", slug)
	row.set("updated_at", moment(now))
	row.set("rev", t.Rev+1)
	as := all(row.revision(t.Rev))
	old := newExpression()
	return []types.TransactWriteItem{s.put(taken, 0), {Update: &types.Update{
		TableName: &s.table, Key: key("TENANT#"+tenant, tenantKey), UpdateExpression: row.update(), ConditionExpression: as,
		ExpressionAttributeNames: row.names, ExpressionAttributeValues: row.values,
	}}, {Delete: &types.Delete{
		TableName: &s.table, Key: key(slugPartition(t.Slug), "SLUG"), ConditionExpression: all(old.is("tenant_id", "=", tenant)),
		ExpressionAttributeNames: old.names, ExpressionAttributeValues: old.values,
	}}}, nil
}

func packSettings(tenant, id string, x tenancy.Settings) (item, error) {
	return pack("settings", "TENANT#"+tenant, tenancy.SettingsKey, settingsRow{
		ID: id, TenantID: tenant, Rev: x.Rev, Config: x, UpdatedAt: x.UpdatedAt, UpdatedBy: x.UpdatedBy,
	})
}

// changed names the fields in which two settings differ, nil when they don't.
func changed(a, b tenancy.Settings) []string {
	before, after := fieldsOf(a), fieldsOf(b)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !bytes.Equal(before[name], after[name]) {
			names = append(names, name)
		}
	}
	return names
}

func fieldsOf(x tenancy.Settings) map[string]json.RawMessage {
	// An empty list may come as nil; it says the same.
	x.Approvers.Users = append([]string{}, x.Approvers.Users...)
	x.Approvers.Usergroups = append([]string{}, x.Approvers.Usergroups...)
	x.MCPServers = append([]tenancy.MCPServer{}, x.MCPServers...)
	text, err := json.Marshal(x)
	if err != nil {
		panic(fmt.Sprintf("encode settings: %v", err)) // of strings, numbers and flags
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(text, &out); err != nil {
		panic(fmt.Sprintf("decode settings: %v", err))
	}
	return out
}
