package tenancy

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// SettingsRow is the row with a tenant's settings.
type SettingsRow struct {
	ID        string    `json:"id"`
	TenantID  string    `json:"tenant_id"`
	Rev       int       `json:"rev"`
	Config    Settings  `json:"config"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
	RulesRev  int       `json:"rules_rev,omitempty"`
	Ruled     bool      `json:"ruled,omitempty"`
}

// Place is in the tenant's own partition.
func (r SettingsRow) Place() (partition, key, typ string) {
	return "TENANT#" + r.TenantID, SettingsKey, "settings"
}

// Settings returns the settings with their revision, who saved them when, and what else the row says.
func (r SettingsRow) Settings() Settings {
	r.Config.RulesRev, r.Config.Ruled = r.RulesRev, r.Ruled || r.RulesRev > 0
	r.Config.Rev, r.Config.UpdatedAt, r.Config.UpdatedBy = r.Rev, r.UpdatedAt, r.UpdatedBy
	return r.Config
}

// Save replaces was by x, with an audit entry that lists the differences; without a difference it writes nothing. A new
// slug also changes the slug rows and the tenant's row, of which owner is the version that was read (zero before the
// first message). id is for settings that have none yet.
//
// It returns ErrField for an invalid value, for a taken slug, and if by is not a person. It returns ErrConflict and the
// current settings if x has another revision than was.
func (x Settings) Save(was SettingsRow, owner Tenant, id string, by aggregate.Actor, now time.Time) (Settings, Change, error) {
	c := Change{Tenant: was.TenantID}
	if err := x.Validate(); err != nil {
		return x, c, err
	}
	if err := bySomebody(by); err != nil {
		return x, c, err
	}
	if was.Rev != x.Rev {
		return was.Settings(), c, fmt.Errorf("save settings of %s: %w", was.TenantID, aggregate.ErrConflict)
	}
	diff := Differences(was.Config, x)
	if diff == nil {
		return was.Settings(), c, nil
	}
	if was.ID != "" {
		id = was.ID
	}
	x.Rev, x.UpdatedAt, x.UpdatedBy = was.Rev+1, moment(now), by.ID
	x.RulesRev, x.Ruled = was.RulesRev, was.Ruled
	c.Writes = append(c.Writes, x.put(was.TenantID, id))
	if x.Slug != was.Config.Slug {
		if owner.ID == "" {
			return x, c, Problem{Field: "slug", Rule: RuleSlugLater}.Err()
		}
		c.Writes = append(c.Writes, owner.moveSlug(x.Slug, now)...)
	}
	c.Audit = append(c.Audit, entry(was.TenantID, AuditSettingsUpdated, "settings", id, detailsOf(diff), by, now))
	c.Redraw = slices.ContainsFunc(diff, func(d Difference) bool { return byName()[d.Field].OnCards })
	return x, c, nil
}

// put writes the settings with the revision that is already set in them.
func (x Settings) put(tenant, id string) Write {
	return Write{Over: x.Rev - 1, Row: SettingsRow{
		ID: id, TenantID: tenant, Rev: x.Rev, Config: x, UpdatedAt: x.UpdatedAt, UpdatedBy: x.UpdatedBy,
		RulesRev: x.RulesRev, Ruled: x.Ruled,
	}}
}
