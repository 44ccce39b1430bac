package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// MaxAllowed bounds all descriptions and schemas of a tenant's allowed tools, in bytes: the planning model is sent them
// all.
const MaxAllowed = 128 << 10

// ErrChanged says that the tool differs from the one that the administrator saw.
var ErrChanged = errors.New("the tool is not the one that was shown: look at it again")

// Allow lets a tenant's tasks call a tool exactly as it was shown. hash is Listed.Hash. Allow returns ErrChanged
// if the server's tool has changed, and ErrField if the tool can't be allowed.
func (d Admin) Allow(ctx context.Context, tenant, name, hash string, access aggregate.Access,
	by aggregate.Actor) error {
	server, _, foreign := tenancy.ServerTool(name)
	if !foreign {
		return aggregate.ErrField{Field: "tool_name", Limit: "must be <server>.<tool>"}
	}
	all, err := d.Tools(ctx, tenant, server)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(x Listed) bool { return x.Name == name && x.Hash != "" })
	switch {
	case i < 0:
		return aggregate.ErrField{Field: "tool_name", Limit: "is none that the server has"}
	case all[i].Problem != "":
		return aggregate.ErrField{Field: "tool_name", Limit: "can't be allowed: " + all[i].Problem}
	case all[i].Hash != hash:
		return ErrChanged
	}
	pin := all[i].Tool.Pin(all[i].URL, access)
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("allow %s: %w", name, err)
	}
	total := size(pin)
	for _, row := range rows {
		if row.Allowed && row.Pin != nil && row.ToolName != name {
			total += size(*row.Pin)
		}
	}
	if total > MaxAllowed {
		return aggregate.ErrField{Field: "tool_name",
			Limit: fmt.Sprintf("can't be allowed: all allowed tools of servers may have %d bytes of descriptions and schemas, with this they have %d", MaxAllowed, total)}
	}
	return d.save(ctx, tenant, rows, name, &pin, by)
}

// ForContests adds an allowed tool, exactly as it was shown, to the list for contests, or removes it. It returns
// ErrChanged if another tool, or none, is allowed now, and ErrField if the tool can't be listed.
func (d Admin) ForContests(ctx context.Context, tenant, name, hash string, on bool, by aggregate.Actor) error {
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list %s for contests: %w", name, err)
	}
	row, allowed := permission(rows, name)
	listed := 0
	for _, p := range rows {
		if p.Contests && p.ToolName != name {
			listed++
		}
	}
	switch {
	case !on && (!allowed || !row.Contests):
		return nil
	case !on:
	case !allowed || row.ChangedAt != nil || row.Pin.Hash != hash:
		return ErrChanged
	case row.Pin.Access != aggregate.Read:
		return aggregate.ErrField{Field: "tool_name", Limit: "can't be used by contests: it was allowed as one that writes"}
	case listed >= tenancy.MaxContestTools:
		return aggregate.ErrField{Field: "tool_name",
			Limit: fmt.Sprintf("can't be used by contests: they have %d tools already, which is the limit", listed)}
	}
	row.Contests = on
	_, err = d.Rows.SaveToolPermission(ctx, row, by, d.Now())
	return err
}

// Forbid switches a tool off. It changes nothing if the tool is off.
func (d Admin) Forbid(ctx context.Context, tenant, name string, by aggregate.Actor) error {
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("forbid %s: %w", name, err)
	}
	if _, allowed := permission(rows, name); !allowed {
		return nil
	}
	return d.save(ctx, tenant, rows, name, nil, by)
}

func (d Admin) save(ctx context.Context, tenant string, rows []tenancy.ToolPermission, name string, pin *tenancy.Pin,
	by aggregate.Actor) error {
	x := tenancy.ToolPermission{TenantID: tenant, ToolName: name, Constraints: "{}"}
	if i := slices.IndexFunc(rows, func(p tenancy.ToolPermission) bool { return p.ToolName == name }); i >= 0 {
		x = rows[i]
	}
	// a changed tool has to be listed for contests again
	x.Allowed, x.Pin, x.ChangedAt, x.Contests = pin != nil, pin, nil, false
	if pin != nil && pin.Access == aggregate.Read {
		x.Mark = nil
	}
	_, err := d.Rows.SaveToolPermission(ctx, x, by, d.Now())
	return err
}

func size(p tenancy.Pin) int { return len(p.Description) + len(p.Input) + len(p.Output) }
