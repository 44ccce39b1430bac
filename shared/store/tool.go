package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

// ToolPermission reads whether a tenant's tasks may call a tool. Without a row a
// tool of Ringi's own is allowed and one of an MCP server is not: then found is
// false and the revision 0, which a claim relies on as well.
func (s *Store) ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error) {
	pk, err := tenantPartition(tenant)
	if err != nil {
		return p, false, err
	}
	err = s.get(ctx, pk, tenancy.ToolKey(name), &p)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
		_, _, foreign := tenancy.ServerTool(name)
		return tenancy.ToolPermission{TenantID: tenant, ToolName: name, Allowed: !foreign, Constraints: "{}"}, false, nil
	case err != nil:
		return p, false, fmt.Errorf("read permission of tool %s: %w", name, err)
	}
	return p, true, nil
}

// ToolPermissions returns all rows of a tenant, by name.
func (s *Store) ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error) {
	return owned[tenancy.ToolPermission](ctx, s, tenant, tenancy.ToolPrefix)
}

// SaveToolPermission writes x over the permission of revision x.Rev, 0 for a
// new one, with its audit entry; known are the constraints that the catalog has for the tool, and no others are taken. It returns task.ErrConflict when somebody saved in between.
func (s *Store) SaveToolPermission(ctx context.Context, x tenancy.ToolPermission, by aggregate.Actor, now time.Time, known ...tenancy.Constraint) (tenancy.ToolPermission, error) {
	if x.Constraints == "" {
		x.Constraints = "{}"
	}
	if err := checkPermission(x, known); err != nil {
		return x, err
	}
	pk, err := tenantPartition(x.TenantID)
	if err != nil {
		return x, err
	}
	if x.ID == "" {
		x.ID = s.newID()
	}
	x.UpdatedAt = moment(now)
	if x.Rev == 0 {
		x.CreatedAt = x.UpdatedAt
	}
	rev := x.Rev
	x.Rev++
	it, err := pack("tool", pk, tenancy.ToolKey(x.ToolName), x)
	if err != nil {
		return x, err
	}
	err = s.transactAudited(ctx, []types.TransactWriteItem{s.put(it, rev)}, aggregate.AuditEntry{
		TenantID: x.TenantID, Action: tenancy.ToolPermissionUpdated, ResourceType: "tool_permission", ResourceID: x.ID,
		Details: permissionDetails(x),
	}, by, now)
	if err != nil {
		return x, fmt.Errorf("save permission of tool %s: %w", x.ToolName, err)
	}
	return x, nil
}

// NoteToolChanged switches a tool of an MCP server off, as of the permission x: the
// server has another one now. Saving the permission ends that. Noted already, or
// saved by an administrator since x was read, it stays as it is.
func (s *Store) NoteToolChanged(ctx context.Context, x tenancy.ToolPermission, now time.Time) error {
	pk, err := tenantPartition(x.TenantID)
	if err != nil {
		return err
	}
	e := newExpression()
	e.set("changed_at", moment(now))
	e.set("updated_at", moment(now))
	as := all(e.is("rev", "=", x.Rev), e.lacks("changed_at"))
	update := types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key(pk, tenancy.ToolKey(x.ToolName)), UpdateExpression: e.update(), ConditionExpression: as,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
	err = s.transactAudited(ctx, []types.TransactWriteItem{update}, aggregate.AuditEntry{
		TenantID: x.TenantID, Action: tenancy.ToolPermissionUpdated, ResourceType: "tool_permission", ResourceID: x.ID,
		Details: details(map[string]any{"tool": x.ToolName, "allowed": false, "changed": true}),
	}, aggregate.System(), now)
	if err != nil && !errors.Is(err, aggregate.ErrConflict) {
		return fmt.Errorf("note that tool %s has changed: %w", x.ToolName, err)
	}
	return nil
}

func checkPermission(x tenancy.ToolPermission, known []tenancy.Constraint) error {
	if x.ToolName == "" || len(x.ToolName) > 100 {
		return aggregate.ErrField{Field: "tool_name", Limit: "must have 1 to 100 bytes"}
	}
	if _, err := x.Bounds(known); err != nil {
		return err
	}
	_, _, foreign := tenancy.ServerTool(x.ToolName)
	switch {
	case x.Pin == nil && foreign && x.Allowed, x.Pin != nil && !foreign:
		return aggregate.ErrField{Field: "pin", Limit: "must be there for an MCP server's tool that is allowed, and for no other"}
	case x.Pin == nil:
		return nil
	case x.Pin.Effect != aggregate.Read && x.Pin.Effect != aggregate.Write:
		return aggregate.ErrField{Field: "pin.effect", Limit: "must be read or write"}
	}
	for _, schema := range []aggregate.JSON{x.Pin.Input, x.Pin.Output} {
		if schema != "" && !json.Valid([]byte(schema)) || len(schema) > 64<<10 {
			return aggregate.ErrField{Field: "pin", Limit: "must have schemas that are JSON of at most 65536 bytes"}
		}
	}
	return nil
}

// permissionDetails say which tool exactly was allowed, and within which bounds; the
// hash stands for what its server said of it.
func permissionDetails(x tenancy.ToolPermission) aggregate.JSON {
	d := map[string]any{"tool": x.ToolName, "allowed": x.Allowed}
	if x.Constraints != "{}" {
		d["constraints"] = x.Constraints
	}
	if x.Pin != nil && x.Allowed {
		d["effect"], d["url"], d["hash"] = x.Pin.Effect, x.Pin.URL, x.Pin.Hash
	}
	return details(d)
}
