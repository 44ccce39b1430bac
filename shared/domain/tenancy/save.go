// Package tenancy holds what a tenant owns apart from its aggregates: its settings, its administrators, its connections
// to vendors, and the permissions of tools.
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
func (x Settings) Save(
	was SettingsRow, owner Tenant, id string, by aggregate.Actor, now time.Time,
) (Settings, Change, error) {
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

// Audit actions for changes to a tenant's settings, permissions, integrations and organisation.
const (
	AuditSettingsUpdated         aggregate.Action = "settings.updated"
	AuditRulesUpdated            aggregate.Action = "rules.updated"
	AuditIntegrationConnected    aggregate.Action = "integration.connected"
	AuditIntegrationDisconnected aggregate.Action = "integration.disconnected"
	AuditIntegrationFailed       aggregate.Action = "integration.failed"
	AuditDelegationSet           aggregate.Action = "delegation.set"
	AuditDelegationEnded         aggregate.Action = "delegation.ended"
	AuditToolPermissionUpdated   aggregate.Action = "tool_permission.updated"
	AuditOrganisationSaved       aggregate.Action = "organisation.saved"
	AuditOrganisationRemoved     aggregate.Action = "organisation.removed"
)

// Change is one transaction on rows that a tenant owns. Unlike an aggregate.Change it has no head, its rows are in
// several partitions, and some writes set single attributes. It changes nothing if it has no writes.
type Change struct {
	Tenant string
	Writes []Write
	Audit  []aggregate.AuditEntry // the store sets their ids
	Redraw bool                   // redraw the cards that wait for a decision
}

// Row is an item that belongs to a tenant.
type Row interface {
	// Place returns the partition key, the sort key and the attribute "type". The tenant in the keys is not checked.
	Place() (partition, key, typ string)
}

// Write replaces a row whose revision is Over; 0 means that the row must be absent. With Set it writes only these
// attributes, and with Delete it removes the row. These two need an existing row with the attributes of If, where nil
// means that the attribute must be absent.
type Write struct {
	Row    Row
	Over   int
	Set    map[string]any
	Delete bool
	If     map[string]any
	Err    error // returned if the condition fails; nil means ErrConflict
}

// entry returns an audit entry.
func entry(tenant string, action aggregate.Action, typ, id string, details map[string]any, by aggregate.Actor,
	now time.Time) aggregate.AuditEntry {
	return aggregate.AuditEntry{
		TenantID: tenant, Timestamp: moment(now), ActorType: by.Type, ActorID: by.ID,
		Action: action, ResourceType: typ, ResourceID: id, Details: aggregate.Details(details),
	}
}

// bySomebody returns ErrField unless by is a person.
func bySomebody(by aggregate.Actor) error {
	if by.Type != aggregate.ActorUser || by.ID == "" {
		return aggregate.ErrField{Field: "updated_by", Limit: "must be a person"}
	}
	return nil
}

// moment truncates a time to the table's precision.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Policy returns who may decide under these settings. Members of the listed user groups are not included.
func (s Settings) Policy(team string) aggregate.Policy {
	return aggregate.Policy{Team: team, Mode: s.Approvers.Mode, Approvers: slices.Clone(s.Approvers.Users),
		AllowSelf: s.AllowSelfApproval, Rev: s.Rev}
}

// Nobody returns aggregate.ErrNotAllowed if it is certain, without asking Slack, that nobody may approve a joint
// request of askers: RuleSelf in a direct message with only the requester, RuleNobody if the list has nobody else.
// people.Requesters does the full check with Slack.
func (s Settings) Nobody(o aggregate.Origin, askers ...string) error {
	p := s.Policy(o.Team)
	switch {
	case p.Mode != aggregate.ApproversList && o.ChannelType == "im":
		return p.ApproveAll(aggregate.Actor{Type: aggregate.ActorUser, ID: o.User, Team: o.Team, Member: true}, askers)
	case p.Mode != aggregate.ApproversList, len(s.Approvers.Usergroups) > 0:
		return nil
	}
	for _, id := range s.Approvers.Users {
		if p.ApproveAll(aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: o.Team}, askers) == nil {
			return nil
		}
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNobody}
}
