package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/task"
)

const toolPrefix = "TOOL#"

func toolKey(name string) string { return toolPrefix + name }

// ToolPermission reads whether a tenant's tasks may call a tool. A tool without
// a row is allowed: then found is false and the revision 0, which a claim relies on as well.
func (s *Store) ToolPermission(ctx context.Context, tenant, name string) (p task.ToolPermission, found bool, err error) {
	pk, err := tenantPartition(tenant)
	if err != nil {
		return p, false, err
	}
	err = s.get(ctx, pk, toolKey(name), &p)
	switch {
	case errors.Is(err, task.ErrNotFound):
		return task.ToolPermission{TenantID: tenant, ToolName: name, Allowed: true, Constraints: "{}"}, false, nil
	case err != nil:
		return p, false, fmt.Errorf("read permission of tool %s: %w", name, err)
	}
	return p, true, nil
}

// ToolPermissions returns all rows of a tenant, by name.
func (s *Store) ToolPermissions(ctx context.Context, tenant string) ([]task.ToolPermission, error) {
	return owned[task.ToolPermission](ctx, s, tenant, toolPrefix)
}

// SaveToolPermission writes x over the permission of revision x.Rev, 0 for a
// new one, with its audit entry. It returns task.ErrConflict when somebody saved in between.
func (s *Store) SaveToolPermission(ctx context.Context, x task.ToolPermission, by task.Actor, now time.Time) (task.ToolPermission, error) {
	if x.ToolName == "" || len(x.ToolName) > 100 {
		return x, task.ErrField{Field: "tool_name", Limit: "must have 1 to 100 bytes"}
	}
	if x.Constraints == "" {
		x.Constraints = "{}"
	}
	if !json.Valid([]byte(x.Constraints)) || len(x.Constraints) > 64<<10 {
		return x, task.ErrField{Field: "constraints", Limit: "must be JSON of at most 65536 bytes"}
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
	it, err := pack("tool", pk, toolKey(x.ToolName), x)
	if err != nil {
		return x, err
	}
	err = s.transactAudited(ctx, []types.TransactWriteItem{s.put(it, rev)}, task.AuditEntry{
		TenantID: x.TenantID, Action: task.ToolPermissionUpdated, ResourceType: "tool_permission", ResourceID: x.ID,
		Details: details(map[string]any{"tool": x.ToolName, "allowed": x.Allowed}),
	}, by, now)
	if err != nil {
		return x, fmt.Errorf("save permission of tool %s: %w", x.ToolName, err)
	}
	return x, nil
}
