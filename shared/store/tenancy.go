package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// Settings returns a tenant's settings, or the defaults if it has saved none.
func (s *Store) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	row, err := s.settings(ctx, tenant)
	return row.Settings(), err
}

// settings reads the row. What is missing in it has its default.
func (s *Store) settings(ctx context.Context, tenant string) (tenancy.SettingsRow, error) {
	return savedOr(ctx, s, tenant, tenancy.SettingsRow{TenantID: tenant, Config: tenancy.DefaultSettings()})
}

// SaveSettings reads the settings and commits Settings.Save. It returns aggregate.ErrConflict when
// somebody saved in between.
func (s *Store) SaveSettings(ctx context.Context, tenant string, x tenancy.Settings, by aggregate.Actor,
	now time.Time) (tenancy.Settings, error) {
	was, err := s.settings(ctx, tenant)
	if err != nil {
		return x, err
	}
	x, c, err := x.Save(was, s.newID(), by, now)
	return x, s.change(ctx, c, err)
}

// Rules returns a tenant's rules and the revision of their row; the rules are nil if it has none. They name channels as
// Slack calls them by now.
func (s *Store) Rules(ctx context.Context, tenant string) (x *rules.Rules, rev int, err error) {
	row, err := s.RulesRow(ctx, tenant)
	return row.Config(), row.Rev, err
}

// RulesRow returns a tenant's rules with who saved them when, or an empty row.
func (s *Store) RulesRow(ctx context.Context, tenant string) (tenancy.RulesRow, error) {
	return savedOr(ctx, s, tenant, tenancy.RulesRow{TenantID: tenant})
}

// SaveRules reads the rules and the settings and commits RulesRow.Save: x replaces the rules of revision rev, nil ends
// them. It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveRules(ctx context.Context, tenant string, x *rules.Rules, rev int, known []rules.Known,
	by aggregate.Actor, now time.Time) (is *rules.Rules, newRev int, err error) {
	was, err := s.RulesRow(ctx, tenant)
	if err != nil {
		return nil, rev, err
	}
	over, err := s.settings(ctx, tenant)
	if err != nil {
		return nil, rev, err
	}
	row, c, err := was.Save(x, rev, over, known, s.newID(), by, now)
	return row.Config(), row.Rev, s.change(ctx, c, err)
}

// ToolPermission returns whether a tenant's tasks may call a tool. Without a row, Ringi's own tools are allowed and
// tools of MCP servers are not. Then found is false and the revision is 0, which claims check as well.
func (s *Store) ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool,
	err error) {
	p, err = saved(ctx, s, tenant, tenancy.ToolPermission{TenantID: tenant, ToolName: name})
	if !errors.Is(err, aggregate.ErrNotFound) || !table.KeyPart(tenant) {
		return p, err == nil, err
	}
	return tenancy.Unsaved(tenant, name), false, nil
}

// ToolPermissions returns all of a tenant's permissions, by tool name.
func (s *Store) ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error) {
	return owned(ctx, s, tenant, tenancy.ToolPermission{TenantID: tenant}, tenancy.ToolPrefix)
}

// SaveToolPermission commits x.Save. It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveToolPermission(ctx context.Context, x tenancy.ToolPermission, by aggregate.Actor, now time.Time,
	known ...tenancy.Constraint) (tenancy.ToolPermission, error) {
	x, c, err := x.Save(s.newID(), by, now, known)
	return x, s.change(ctx, c, err)
}

// NoteToolChanged commits x.NoteChanged, unless the change is already recorded or the permission was saved since x was
// read.
func (s *Store) NoteToolChanged(ctx context.Context, x tenancy.ToolPermission, now time.Time) error {
	if err := s.change(ctx, x.NoteChanged(now), nil); !errors.Is(err, aggregate.ErrConflict) {
		return err
	}
	return nil
}

// Integration reads a tenant's connection to a provider. It returns aggregate.ErrNotFound if the tenant never had one.
func (s *Store) Integration(ctx context.Context, tenant, provider string) (tenancy.Integration, error) {
	return saved(ctx, s, tenant, tenancy.Integration{TenantID: tenant, Provider: provider})
}

// Integrations returns all of a tenant's integrations, by provider.
func (s *Store) Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error) {
	return owned(ctx, s, tenant, tenancy.Integration{TenantID: tenant}, tenancy.IntegrationPrefix)
}

// SaveIntegration saves x in place of the integration with revision x.Rev; a new integration has revision 0.
// It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveIntegration(ctx context.Context, x tenancy.Integration, by aggregate.Actor,
	now time.Time) (was tenancy.Integration, err error) {
	if x.Rev != 0 {
		if was, err = s.Integration(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
	}
	x, c, err := x.Save(was, s.newID(), by, now)
	return x, s.change(ctx, c, err)
}

// RenewIntegration commits x.Renew. It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) RenewIntegration(ctx context.Context, x tenancy.Integration, now time.Time) (tenancy.Integration,
	error) {
	x, c, err := x.Renew(s.newID(), now)
	return x, s.change(ctx, c, err)
}

// EndIntegrations commits tenancy.EndBySlack and returns how many integrations ended: 0 if that was done before. It
// retries conflicts for up to two seconds, then it returns aggregate.ErrConflict.
func (s *Store) EndIntegrations(ctx context.Context, tenant string, why tenancy.IntegrationReason, at,
	now time.Time) (n int, err error) {
	err = whileConflict(ctx, func() error {
		rows, err := s.Integrations(ctx, tenant)
		if err != nil {
			return err
		}
		c, err := tenancy.EndBySlack(tenant, rows, why, at, s.newID(), now)
		n = len(c.Writes)
		return s.changeOnce(ctx, c, err)
	})
	return n, err
}

// Tenant reads a tenant, or returns aggregate.ErrNotFound.
func (s *Store) Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error) {
	return saved(ctx, s, tenant, tenancy.Tenant{ID: tenant})
}

// Bootstrap creates a tenant at first contact, by Tenant.Founded. An existing tenant is returned unchanged.
func (s *Store) Bootstrap(ctx context.Context, t tenancy.Tenant, now time.Time) (is tenancy.Tenant, err error) {
	err = whileConflict(ctx, func() error {
		if is, err = s.Tenant(ctx, t.ID); !errors.Is(err, aggregate.ErrNotFound) {
			return err
		}
		var c tenancy.Change
		is, c = t.Founded(now)
		return s.changeOnce(ctx, c, nil)
	})
	return is, err
}

// NoteBot commits t.Bot. It retries conflicts for up to two seconds.
func (s *Store) NoteBot(ctx context.Context, t tenancy.Tenant, user, bot string, now time.Time) error {
	return whileConflict(ctx, func() error { return s.changeOnce(ctx, t.Bot(user, bot, now), nil) })
}

// SaveTenant commits t.Save over revision t.Rev. It returns aggregate.ErrNotFound if there is no such tenant, and
// aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveTenant(ctx context.Context, t tenancy.Tenant, by aggregate.Actor, now time.Time) error {
	was, err := s.Tenant(ctx, t.ID)
	if err != nil {
		return err
	}
	c, err := t.Save(was, by, now)
	return s.change(ctx, c, err)
}

// SaveAgent commits t.UseAgent and returns the saved tenant. If another caller was faster, that tenant has the other
// caller's agent. It returns aggregate.ErrNotFound if there is no such tenant.
func (s *Store) SaveAgent(ctx context.Context, t tenancy.Tenant, agent, environment string,
	now time.Time) (tenancy.Tenant, error) {
	if err := s.change(ctx, t.UseAgent(agent, environment, now), nil); err != nil &&
		!errors.Is(err, aggregate.ErrConflict) {
		return t, err
	}
	return s.Tenant(ctx, t.ID)
}

// VendorClient returns a tenant's client at a vendor. It returns aggregate.ErrNotFound when it has none.
func (s *Store) VendorClient(ctx context.Context, tenant, provider string) (tenancy.VendorClient, error) {
	return saved(ctx, s, tenant, tenancy.VendorClient{TenantID: tenant, Provider: provider})
}

// VendorClients returns all of a tenant's clients at vendors, by provider.
func (s *Store) VendorClients(ctx context.Context, tenant string) ([]tenancy.VendorClient, error) {
	return owned(ctx, s, tenant, tenancy.VendorClient{TenantID: tenant}, tenancy.ClientPrefix)
}

// SaveVendorClient commits x.Save over the client of revision x.Rev, 0 for a new one. It returns aggregate.ErrConflict
// when somebody saved in between.
func (s *Store) SaveVendorClient(ctx context.Context, x tenancy.VendorClient, by aggregate.Actor,
	now time.Time) (is tenancy.VendorClient, err error) {
	var was tenancy.VendorClient
	if x.Rev != 0 {
		if was, err = s.VendorClient(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
	}
	x, c, err := x.Save(was, by, now)
	return x, s.change(ctx, c, err)
}

// change commits a tenant's change in one transaction, or returns err, the error of the decision that made it. An empty
// change writes nothing. Waiting cards that show the changed settings are redrawn, at most a hundred tasks.
//
// When a row is not as a write expected, it returns that write's error, or aggregate.ErrConflict if the write has none.
func (s *Store) change(ctx context.Context, c tenancy.Change, err error) error {
	return s.changeBy(ctx, s.t.TransactPast, c, nil, err)
}

// changeOnce is change without retries: whileConflict retries it.
func (s *Store) changeOnce(ctx context.Context, c tenancy.Change, err error) error {
	return s.changeBy(ctx, s.t.Transact, c, nil, err)
}

// Notice is an aggregate that tells somebody of a tenant's change. It is created in the same transaction.
type Notice struct {
	Ref    aggregate.Ref
	Change aggregate.Change
}

func (s *Store) changeBy(ctx context.Context,
	transact func(ctx context.Context, token string, items []types.TransactWriteItem) error, c tenancy.Change,
	told []Notice, err error) error {
	if err != nil || len(c.Writes) == 0 {
		return err
	}
	_, what, _ := c.Writes[0].Row.Place()
	failed := func(err error) error { return fmt.Errorf("save %s of %.40q: %w", what, c.Tenant, err) }
	if !table.KeyPart(c.Tenant) {
		return failed(aggregate.ErrNotFound)
	}
	var items []types.TransactWriteItem
	for _, w := range c.Writes {
		it, err := s.write(w)
		if err != nil {
			return failed(err)
		}
		items = append(items, it)
	}
	logged, err := s.logged(s.entries(c.Audit))
	if err != nil {
		return failed(err)
	}
	items = append(items, logged...)
	for _, n := range told {
		more, err := s.creating(n.Ref, s.numbered(n.Change))
		if err != nil {
			return failed(err)
		}
		items = append(items, more...)
	}
	if err := transact(ctx, s.newID(), items); err != nil {
		return failed(err)
	}
	if c.Redraw {
		s.redrawWaiting(ctx, c.Tenant, c.Owes)
	}
	return nil
}

func (s *Store) write(w tenancy.Write) (types.TransactWriteItem, error) {
	pk, sk, typ := w.Row.Place()
	if w.Set == nil && !w.Delete {
		it, err := table.Pack(typ, pk, sk, w.Row)
		if x, has := w.Row.(aggregate.Indexed); has && err == nil {
			for _, i := range x.Indexes(nil) {
				table.Index(it, i.N, i.PK, i.SK)
			}
		}
		return s.t.Put(it, w.Over), err
	}
	e := table.NewExpression()
	conditions := []string{e.Exists()}
	for _, name := range slices.Sorted(maps.Keys(w.If)) {
		if w.If[name] == nil {
			conditions = append(conditions, e.Lacks(name))
		} else {
			conditions = append(conditions, e.Is(name, "=", w.If[name]))
		}
	}
	if w.Delete {
		return types.TransactWriteItem{Delete: table.Filled(e, &types.Delete{
			TableName: &s.t.Name, Key: table.Key(pk, sk), ConditionExpression: table.All(conditions...),
		})}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.Set)) {
		e.Set(name, w.Set[name])
	}
	return s.t.Move(table.Key(pk, sk), e, conditions...), nil
}

// whileConflict repeats try for up to two seconds while it returns aggregate.ErrConflict.
func whileConflict(ctx context.Context, try func() error) error {
	return table.Repeat(ctx, try, func(err error) bool { return errors.Is(err, aggregate.ErrConflict) })
}

// saved returns the row with the keys of at. It returns aggregate.ErrNotFound when there is none.
func saved[R tenancy.Row](ctx context.Context, s *Store, tenant string, at R) (none R, err error) {
	pk, sk, _ := at.Place()
	if !table.KeyPart(tenant) {
		return none, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	if err := s.t.Get(ctx, pk, sk, &at); err != nil {
		return none, fmt.Errorf("read %s of %s: %w", sk, tenant, err)
	}
	return at, nil
}

// savedOr is saved, but returns the row as it is where the tenant has none.
func savedOr[R tenancy.Row](ctx context.Context, s *Store, tenant string, row R) (R, error) {
	is, err := saved(ctx, s, tenant, row)
	if errors.Is(err, aggregate.ErrNotFound) && table.KeyPart(tenant) {
		return row, nil
	}
	return is, err
}
