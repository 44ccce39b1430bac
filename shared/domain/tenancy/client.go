package tenancy

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// VendorClient is the OAuth app that a tenant registered with a vendor. It is kept when the vendor is disconnected.
type VendorClient struct {
	aggregate.Meta
	TenantID string `json:"tenant_id"`
	Provider string `json:"provider"`
	ClientID string `json:"client_id"`
	// Only for an MCP server's client. Issuer is its authorization server, empty for a pasted client that was not used
	// yet. Redirect is the redirect URI if Ringi registered the client itself.
	Issuer    string    `json:"issuer,omitempty"`
	Redirect  string    `json:"redirect,omitempty"`
	Sealed    string    `json:"sealed"` // id and secret, encrypted
	UpdatedBy string    `json:"updated_by"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ClientPrefix begins the sort keys of a tenant's clients.
const ClientPrefix = "CLIENT#"

// maxClientID is the maximum length of a client id in bytes.
const maxClientID = 512

// Place is in the partition of the tenant's integrations.
func (c VendorClient) Place() (partition, key, typ string) {
	return "INTEGRATIONS#" + c.TenantID, ClientPrefix + c.Provider, "vendor_client"
}

// Save replaces was, whose revision is c.Rev, by c; was is zero for a new client. The audit log gets the id but never
// the secret.
func (c VendorClient) Save(was VendorClient, by aggregate.Actor, now time.Time) (VendorClient, Change, error) {
	if n := len(c.ClientID); n < 1 || n > maxClientID {
		return c, Change{}, aggregate.ErrField{Field: "client_id", Limit: fmt.Sprintf("must have 1 to %d bytes", maxClientID)}
	}
	if err := bySomebody(by); err != nil {
		return c, Change{}, err
	}
	c.UpdatedBy, c.UpdatedAt = by.ID, moment(now)
	c.Rev++
	return c, Change{
		Tenant: c.TenantID, Writes: []Write{{Row: c, Over: c.Rev - 1}},
		Audit: []aggregate.AuditEntry{entry(c.TenantID, AuditSettingsUpdated, "integration", c.Provider, c.details(was), by,
			now)},
	}, nil
}

// details names the old and the new app's id. If the id is unchanged, it only says that the client was saved.
func (c VendorClient) details(was VendorClient) map[string]any {
	const field = "clients"
	diff := differences(map[string]any{field: map[string]string{c.Provider: was.ClientID}},
		map[string]any{field: map[string]string{c.Provider: c.ClientID}})
	if diff == nil {
		return map[string]any{"fields": []string{field + "." + c.Provider}}
	}
	return detailsOf(diff)
}

// DraftContest configures contests in which teams draft policies.
type DraftContest struct {
	Enabled   bool    `json:"enabled"`
	File      string  `json:"file"`       // path of the contest's file in the workspace of contests
	MaxRounds int     `json:"max_rounds"` // maximum for each team; the file may set a lower one
	BudgetUSD float64 `json:"budget_usd"` // for one contest, split equally among the teams
	Seconds   int     `json:"seconds"`    // time limit of one contest
	Rejected  string  `json:"rejected"`   // who makes a rejected draft anew: RejectedToTeam or RejectedToAll
}

// Values of DraftContest.Rejected.
const (
	RejectedToTeam = "team"    // the team whose draft it was
	RejectedToAll  = "contest" // a whole contest
)

// Budget is the cost limit of one contest.
func (d DraftContest) Budget() aggregate.MicroUSD { return limitOf(d.BudgetUSD) }

// problems returns the problems of these settings, such as a contest that is enabled without a budget.
func (d DraftContest) problems() (all []Problem) {
	if d.Enabled && d.Budget() == 0 {
		all = append(all, Problem{Field: "draft_contest.budget_usd", Rule: RuleAbove})
	}
	if strings.HasPrefix(d.File, "/") || strings.Contains(d.File, "..") || strings.TrimSpace(d.File) != d.File {
		all = append(all, Problem{Field: "draft_contest.file", Rule: RuleFile})
	}
	return all
}

// Deployment is one row of the table with facts about the deployment.
type Deployment struct {
	aggregate.Meta
	TenantID string `json:"tenant_id"` // the deployment's own workspace, which the Slack secret's bot token belongs to
	// FurtherDay is the daily cost limit of every other workspace. Functions that have the parameter enforce it;
	// functions behind an alias don't have it, and show this value.
	FurtherDay aggregate.MicroUSD `json:"further_day_micro_usd,omitempty"`
	UpdatedAt  time.Time          `json:"updated_at"`
}

// DeploymentKey is both the partition key and the sort key.
const DeploymentKey = "DEPLOYMENT"

// Place is in a partition of its own.
func (Deployment) Place() (partition, key, typ string) {
	return DeploymentKey, DeploymentKey, "deployment"
}

// Further reports whether the tenant is a workspace other than the deployment's own. It is false while the deployment's
// own workspace is unknown.
func (d Deployment) Further(tenant string) bool { return d.TenantID != "" && d.TenantID != tenant }

// Note saves which tenant is the deployment's own and, if it is above 0, the daily limit of the others. The Change is
// empty if the row already has these values.
func (d Deployment) Note(own string, furtherDay aggregate.MicroUSD, now time.Time) (Deployment, Change) {
	next := d
	if next.TenantID = own; furtherDay > 0 {
		next.FurtherDay = furtherDay
	}
	if next == d {
		return d, Change{}
	}
	next.Rev, next.UpdatedAt = d.Rev+1, moment(now)
	return next, Change{Tenant: own, Writes: []Write{{Row: next, Over: d.Rev}}}
}
