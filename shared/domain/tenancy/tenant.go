package tenancy

import (
	"cmp"
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
	Slug          string    `json:"slug"` // the workspace's id; Ringi doesn't use it
	TeamID        string    `json:"team_id"`
	BotUserID     string    `json:"bot_user_id,omitempty"` // our bot's user id there
	BotID         string    `json:"bot_id,omitempty"`      // its other id, by which some of Slack's clients mention it
	Admins        []string  `json:"admins"`                // Slack user ids
	AgentID       string    `json:"agent_id,omitempty"`    // Anthropic's id of the agent for managed sessions
	EnvironmentID string    `json:"environment_id,omitempty"`
	VaultID       string    `json:"vault_id,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

const (
	// MaxTenantName is the maximum length in characters. Slack publishes no limit for a workspace's name.
	MaxTenantName = 255
	maxAdmins     = 50
)

// Validate returns a Problem for the first invalid field that an administrator can set.
func (t Tenant) Validate() error {
	var all aggregate.Problems
	n := utf8.RuneCountInString(t.Name)
	all.Unless(n >= 1 && n <= MaxTenantName, "name", "length", 1, MaxTenantName)
	all.Unless(len(t.Admins) <= maxAdmins, "admins", "count", 0, maxAdmins)
	all.Each("admins", t.Admins, like(&aggregate.UserForm), "user_id")
	return all.Err()
}

// Zone is the time zone of a tenant's days, dates and times, wherever people or models read them: Japan's, which has no
// summer time. Days that are kept by their date are in it.
func Zone() *time.Location { return time.FixedZone("JST", 9*60*60) }

// Place is in the tenant's own partition.
func (t Tenant) Place() (partition, key, typ string) { return "TENANT#" + t.ID, "TENANT", "tenant" }

// Founded is the tenant and the Change that creates its row, at its first message. It has no settings until somebody
// saves some.
func (t Tenant) Founded(now time.Time) (Tenant, Change) {
	t.Slug = strings.ToLower(t.TeamID)
	t.Rev, t.CreatedAt, t.UpdatedAt = 1, moment(now), moment(now)
	return t, Change{Tenant: t.ID, Writes: []Write{{Row: t}}}
}

// Save writes the name and the administrators of t over those of was, with an audit entry that lists the differences;
// without a difference it writes nothing. It returns a Problem for an invalid value or if by is not a person, and
// ErrConflict if t has another revision than was.
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
		Row: t, Set: map[string]any{"admins": append([]string{}, t.Admins...), "name": t.Name, "updated_at": moment(now),
			"rev": t.Rev + 1},
		If: map[string]any{"rev": t.Rev},
	}}, Audit: []aggregate.AuditEntry{entry(t.ID, AuditSettingsUpdated, "tenant", t.ID, detailsOf(diff), by, now)}}, nil
}

// Bot saves the ids of Ringi's bot in the workspace; an empty id leaves the one that is saved. The Change is empty if
// nothing differs.
func (t Tenant) Bot(user, bot string, now time.Time) Change {
	user, bot = cmp.Or(user, t.BotUserID), cmp.Or(bot, t.BotID)
	if t.BotUserID == user && t.BotID == bot {
		return Change{}
	}
	return Change{Tenant: t.ID, Writes: []Write{{Row: t, If: map[string]any{"team_id": t.TeamID},
		Set: map[string]any{"bot_user_id": user, "bot_id": bot, "updated_at": moment(now)}}}}
}

// UseAgent replaces the tenant's agent and its environment, if the agent is still the one in t.
func (t Tenant) UseAgent(agent, environment string, now time.Time) Change {
	w := Write{Row: t, Set: map[string]any{"agent_id": agent, "environment_id": environment, "updated_at": moment(now)},
		If: map[string]any{"agent_id": nil}}
	if t.AgentID != "" {
		w.If["agent_id"] = t.AgentID
	}
	return Change{Tenant: t.ID, Writes: []Write{w}}
}
