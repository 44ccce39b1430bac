package tenancy

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
)

// Tenant is one Slack workspace.
type Tenant struct {
	aggregate.Meta
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	Slug          string    `json:"slug"`
	TeamID        string    `json:"team_id"`
	EnterpriseID  string    `json:"enterprise_id,omitempty"` // the organization (Enterprise Grid) that it is one of, empty without one
	BotUserID     string    `json:"bot_user_id,omitempty"`   // our bot's there, noted with the organization
	Admins        []string  `json:"admins"`                  // Slack user ids
	AgentID       string    `json:"agent_id,omitempty"`      // at Anthropic, for managed sessions; likewise the environment
	EnvironmentID string    `json:"environment_id,omitempty"`
	VaultID       string    `json:"vault_id,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

const (
	// MaxTenantName is how long a tenant's name may be, in characters. Slack publishes no limit for a workspace's.
	MaxTenantName = 255
	maxAdmins     = 50
	maxSlug       = 63
)

// Validate returns ErrField for the first of what an administrator sets that is out of bounds.
func (t Tenant) Validate() error {
	if n := utf8.RuneCountInString(t.Name); n < 1 || n > MaxTenantName {
		return aggregate.ErrField{Field: "name", Limit: fmt.Sprintf("must be between 1 and %d", MaxTenantName)}
	}
	if len(t.Admins) > maxAdmins {
		return aggregate.ErrField{Field: "admins", Limit: fmt.Sprintf("must be between 0 and %d", maxAdmins)}
	}
	for _, p := range idProblems("admins", t.Admins, like(userForm), RuleUserID) {
		return p.Err()
	}
	return nil
}

// Place is among what the tenant owns.
func (t Tenant) Place() (partition, key, typ string) { return "TENANT#" + t.ID, "TENANT", "tenant" }

// slugRow makes a slug one tenant's.
type slugRow struct {
	Slug     string `json:"slug"`
	TenantID string `json:"tenant_id"`
}

func (r slugRow) Place() (partition, key, typ string) { return "SLUG#" + r.Slug, "SLUG", "slug" }

// Founding is a tenant at first contact, as it is tried next.
type Founding struct {
	Tenant
	Configured bool // its settings were saved before it was known
}

var (
	errSlugTaken  = fmt.Errorf("the slug is another workspace's: %w", aggregate.ErrConflict)
	errConfigured = fmt.Errorf("there are settings: %w", aggregate.ErrConflict)
)

// Change makes the tenant's row, its slug and, unless there are some, its settings, which id is for.
// It returns ErrField for a slug that is none.
func (f Founding) Change(id string, now time.Time) (Tenant, Change, error) {
	t, settings := f.Tenant, DefaultSettings()
	settings.Slug = t.Slug
	if err := settings.Validate(); err != nil {
		return t, Change{}, err
	}
	t.Rev, t.CreatedAt, t.UpdatedAt = 1, moment(now), moment(now)
	c := Change{Tenant: t.ID, Writes: []Write{{Row: t}, {Row: slugRow{t.Slug, t.ID}, Err: errSlugTaken}}}
	if !f.Configured {
		settings.Rev, settings.UpdatedAt = 1, moment(now)
		w := settings.put(t.ID, id)
		w.Err = errConfigured
		c.Writes = append(c.Writes, w)
	}
	return t, c, nil
}

// After is how it is tried next when its Change was refused with err: a slug that another tenant
// has gets the team's id behind it.
func (f Founding) After(err error) Founding {
	switch {
	case errors.Is(err, errSlugTaken) && f.Slug != f.longSlug():
		f.Slug = f.longSlug()
	case errors.Is(err, errConfigured):
		f.Configured = true
	}
	return f
}

// longSlug is the slug with the team's id behind it, which no other tenant has.
func (t Tenant) longSlug() string {
	tail := "-" + strings.ToLower(t.TeamID)
	head := strings.TrimSuffix(t.Slug, tail)
	return head[:min(len(head), max(0, maxSlug-len(tail)))] + tail
}

// moveSlug makes slug the tenant's instead of its old one. Of the tenant's row it writes nothing
// else: its name and agent are written without a new revision.
func (t Tenant) moveSlug(slug string, now time.Time) []Write {
	return []Write{
		{Row: slugRow{slug, t.ID}, Err: Problem{Field: "slug", Rule: RuleSlugTaken}.Err()},
		{Row: t, Set: map[string]any{"slug": slug, "updated_at": moment(now), "rev": t.Rev + 1}, If: map[string]any{"rev": t.Rev}},
		{Row: slugRow{t.Slug, t.ID}, Delete: true, If: map[string]any{"tenant_id": t.ID}},
	}
}

// Save writes the name and the administrators of t over those of was, with the audit entry that
// says what they were and are; if none did, it writes nothing. It returns ErrField for a value out
// of bounds or nobody who saves, ErrConflict when t is of another revision than was.
func (t Tenant) Save(was Tenant, by aggregate.Actor, now time.Time) (Change, error) {
	if err := t.Validate(); err != nil {
		return Change{}, err
	}
	if err := bySomebody(by); err != nil {
		return Change{}, err
	}
	if was.Rev != t.Rev {
		return Change{}, fmt.Errorf("save tenant %s: %w", t.ID, aggregate.ErrConflict)
	}
	diff := differences(
		map[string]any{"admins": append([]string{}, was.Admins...), "name": was.Name},
		map[string]any{"admins": append([]string{}, t.Admins...), "name": t.Name},
	)
	if diff == nil {
		return Change{}, nil
	}
	return Change{Tenant: t.ID, Writes: []Write{{
		Row: t, Set: map[string]any{"admins": append([]string{}, t.Admins...), "name": t.Name, "updated_at": moment(now), "rev": t.Rev + 1},
		// Rename writes the name without a new revision, so that the name is compared, too.
		If: map[string]any{"rev": t.Rev, "name": was.Name},
	}}, Audit: []aggregate.AuditEntry{entry(t.ID, AuditSettingsUpdated, "tenant", t.ID, detailsOf(diff), by, now)}}, nil
}

// Rename gives a tenant that was read as t another name.
func (t Tenant) Rename(name string, now time.Time) Change {
	return Change{Tenant: t.ID, Writes: []Write{{
		Row: t, Set: map[string]any{"name": name, "updated_at": moment(now)}, If: map[string]any{"name": t.Name},
	}}}
}

// EnterprisePrefix begins the partitions of GSI1 in which the workspaces of an organization stand.
const EnterprisePrefix = "ENTERPRISE#"

// Belong notes the organization that a workspace belongs to, and the user id of Ringi's bot there. The Change is empty
// if the row already says so, and for a workspace that never belonged to an organization. A workspace that has left its
// organization is not found by later events of that organization.
func (t Tenant) Belong(enterprise, bot string, now time.Time) Change {
	if t.EnterpriseID == enterprise && (enterprise == "" || t.BotUserID == bot) {
		return Change{}
	}
	return Change{Tenant: t.ID, Writes: []Write{{
		Row: t, If: map[string]any{"team_id": t.TeamID},
		Set: map[string]any{"enterprise_id": enterprise, "bot_user_id": bot, "GSI1PK": EnterprisePrefix + enterprise, "GSI1SK": t.ID, "updated_at": moment(now)},
	}}}
}

// UseAgent makes an agent and its environment the tenant's, in the place of those that t was read with.
func (t Tenant) UseAgent(agent, environment string, now time.Time) Change {
	w := Write{Row: t, Set: map[string]any{"agent_id": agent, "environment_id": environment, "updated_at": moment(now)}, If: map[string]any{"agent_id": nil}}
	if t.AgentID != "" {
		w.If["agent_id"] = t.AgentID
	}
	return Change{Tenant: t.ID, Writes: []Write{w}}
}
