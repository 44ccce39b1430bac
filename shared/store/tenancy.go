package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

// CapFurther bounds, by the settings that are read from now on, what a further workspace may cost on a day. It returns an
// error for what is no amount of US dollars above 0.
func (s *Store) CapFurther(usd string) error {
	most, err := strconv.ParseFloat(usd, 64)
	if err != nil || !(aggregate.USD(most) > 0) {
		return fmt.Errorf("a further workspace's day must be bounded by US dollars above 0, got %q", usd)
	}
	s.furtherDay = aggregate.USD(most)
	return nil
}

// Settings returns a tenant's settings, the defaults when it has saved none; after CapFurther with what bounds a further
// workspace.
func (s *Store) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	row, err := s.settings(ctx, tenant)
	x := row.Settings()
	if err != nil || s.furtherDay == 0 {
		return x, err
	}
	if _, further, err := s.Further(ctx, tenant); err != nil {
		return x, err
	} else if further {
		x.FurtherDay = s.furtherDay
	}
	return x, nil
}

// Further reports whether a tenant is another workspace than the deployment's own, and reads it then. One that has no row yet
// is not: installing the app makes that of a further workspace, before anything of it is taken.
func (s *Store) Further(ctx context.Context, tenant string) (t tenancy.Tenant, further bool, err error) {
	t, err = s.Tenant(ctx, tenant)
	if errors.Is(err, aggregate.ErrNotFound) && keyPart(tenant) {
		return t, false, nil
	}
	return t, err == nil && !t.Own, err
}

// settings reads the row; what a release adds to the settings has its default in rows that are older.
func (s *Store) settings(ctx context.Context, tenant string) (tenancy.SettingsRow, error) {
	row := tenancy.SettingsRow{TenantID: tenant, Config: tenancy.DefaultSettings()}
	err := s.read(ctx, tenant, &row)
	if errors.Is(err, aggregate.ErrNotFound) && keyPart(tenant) {
		err = nil
	}
	return row, err
}

// SaveSettings commits Settings.Save of the settings and the tenant as they are. It returns aggregate.ErrConflict
// when somebody saved in between.
func (s *Store) SaveSettings(ctx context.Context, tenant string, x tenancy.Settings, by aggregate.Actor, now time.Time) (tenancy.Settings, error) {
	was, err := s.settings(ctx, tenant)
	if err != nil {
		return x, err
	}
	owner, err := s.Tenant(ctx, tenant)
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return x, err
	}
	x, c, err := x.Save(was, owner, s.newID(), by, now)
	return x, s.change(ctx, c, err)
}

// ToolPermission reads whether a tenant's tasks may call a tool. Without a row it is as tenancy.Standing has it, else a
// tool of Ringi's own is allowed and one of an MCP server is not: then found is false and the revision 0, which a claim
// relies on as well.
func (s *Store) ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error) {
	p = tenancy.ToolPermission{TenantID: tenant, ToolName: name}
	err = s.read(ctx, tenant, &p)
	switch {
	case !errors.Is(err, aggregate.ErrNotFound) || !keyPart(tenant):
		return p, err == nil, err
	case !tenancy.IsAdded(name):
		return tenancy.Unsaved(tenant, name), false, nil
	}
	rows, err := s.ToolPermissions(ctx, tenant)
	p = tenancy.Unsaved(tenant, name)
	for _, x := range tenancy.Standing(rows) {
		if x.ToolName == name { // a row only if it was saved since it was not there
			p = x
		}
	}
	if p.Rev == 0 {
		p.Beside = tenancy.BesideOf(name, rows)
	}
	return p, p.Rev > 0, err
}

// ToolPermissions returns all rows of a tenant, by name.
func (s *Store) ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error) {
	return owned(ctx, s, tenant, tenancy.ToolPermission{TenantID: tenant}, tenancy.ToolPrefix)
}

// SaveToolPermission commits x.Save. It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveToolPermission(ctx context.Context, x tenancy.ToolPermission, by aggregate.Actor, now time.Time, known ...tenancy.Constraint) (tenancy.ToolPermission, error) {
	x, c, err := x.Save(s.newID(), by, now, known)
	return x, s.change(ctx, c, err)
}

// NoteToolChanged commits x.NoteChanged, unless that is noted already or the permission was saved since x was read.
func (s *Store) NoteToolChanged(ctx context.Context, x tenancy.ToolPermission, now time.Time) error {
	if err := s.change(ctx, x.NoteChanged(now), nil); !errors.Is(err, aggregate.ErrConflict) {
		return err
	}
	return nil
}

// Integration reads a tenant's connection to a provider. It returns
// aggregate.ErrNotFound when there never was one.
func (s *Store) Integration(ctx context.Context, tenant, provider string) (tenancy.Integration, error) {
	x := tenancy.Integration{TenantID: tenant, Provider: provider}
	if err := s.read(ctx, tenant, &x); err != nil {
		return tenancy.Integration{}, err
	}
	return x, nil
}

// Integrations returns all of a tenant's, by provider.
func (s *Store) Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error) {
	return owned(ctx, s, tenant, tenancy.Integration{TenantID: tenant}, tenancy.IntegrationPrefix)
}

// SaveIntegration commits x.Save over the integration of revision x.Rev, 0 for a new one.
// It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveIntegration(ctx context.Context, x tenancy.Integration, by aggregate.Actor, now time.Time) (was tenancy.Integration, err error) {
	if x.Rev != 0 {
		if was, err = s.Integration(ctx, x.TenantID, x.Provider); err != nil {
			return x, err
		}
	}
	x, c, err := x.Save(was, s.newID(), by, now)
	return x, s.change(ctx, c, err)
}

// RenewIntegration commits x.Renew. It returns aggregate.ErrConflict when somebody saved in between.
func (s *Store) RenewIntegration(ctx context.Context, x tenancy.Integration, now time.Time) (tenancy.Integration, error) {
	x, c, err := x.Renew(s.newID(), now)
	return x, s.change(ctx, c, err)
}

// EndIntegrations commits tenancy.EndBySlack, and returns how many ended: none when it is known already. It tries
// again for up to two seconds while others write; then it returns aggregate.ErrConflict.
func (s *Store) EndIntegrations(ctx context.Context, tenant string, why tenancy.IntegrationReason, at, now time.Time) (n int, err error) {
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
	t := tenancy.Tenant{ID: tenant}
	if err := s.read(ctx, tenant, &t); err != nil {
		return tenancy.Tenant{}, err
	}
	return t, nil
}

// Bootstrap makes a tenant at first contact, as tenancy.Founding says. A tenant that is there is returned as it is.
func (s *Store) Bootstrap(ctx context.Context, t tenancy.Tenant, now time.Time) (is tenancy.Tenant, err error) {
	next := tenancy.Founding{Tenant: t}
	err = whileConflict(ctx, func() error {
		if is, err = s.Tenant(ctx, t.ID); !errors.Is(err, aggregate.ErrNotFound) {
			return err
		}
		var c tenancy.Change
		is, c, err = next.Change(s.newID(), now)
		err = s.changeOnce(ctx, c, err)
		next = next.After(err)
		return err
	})
	return is, err
}

// NameTenant commits t.Rename. It returns aggregate.ErrNotFound without a tenant, and does
// nothing when somebody was faster. While others write it tries again, for two seconds at most.
func (s *Store) NameTenant(ctx context.Context, t tenancy.Tenant, name string, now time.Time) error {
	return whileConflict(ctx, func() error {
		err := s.changeOnce(ctx, t.Rename(name, now), nil)
		if errors.Is(err, aggregate.ErrConflict) {
			if is, gone := s.Tenant(ctx, t.ID); gone != nil || is.Name != t.Name {
				return gone
			}
		}
		return err
	})
}

// MarkOwn commits t.MarkOwn. While others write it tries again, for two seconds at most.
func (s *Store) MarkOwn(ctx context.Context, t tenancy.Tenant, own bool, now time.Time) error {
	return whileConflict(ctx, func() error { return s.changeOnce(ctx, t.MarkOwn(own, now), nil) })
}

// SaveTenant commits t.Save over the tenant of revision t.Rev. It returns aggregate.ErrNotFound without a tenant,
// aggregate.ErrConflict when somebody saved in between.
func (s *Store) SaveTenant(ctx context.Context, t tenancy.Tenant, by aggregate.Actor, now time.Time) error {
	was, err := s.Tenant(ctx, t.ID)
	if err != nil {
		return err
	}
	c, err := t.Save(was, by, now)
	return s.change(ctx, c, err)
}

// SaveAgent commits t.UseAgent. It returns the tenant as it then is: with another's agent,
// when somebody was faster. It returns aggregate.ErrNotFound without a tenant.
func (s *Store) SaveAgent(ctx context.Context, t tenancy.Tenant, agent, environment string, now time.Time) (tenancy.Tenant, error) {
	if err := s.change(ctx, t.UseAgent(agent, environment, now), nil); err != nil && !errors.Is(err, aggregate.ErrConflict) {
		return t, err
	}
	return s.Tenant(ctx, t.ID)
}
