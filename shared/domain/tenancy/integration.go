package tenancy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// IntegrationStatus says whether a provider can be used.
type IntegrationStatus string

const (
	Connected    IntegrationStatus = "connected"
	Disconnected IntegrationStatus = "disconnected"
	Broken       IntegrationStatus = "error"
)

// IntegrationReason says why an integration is not connected.
type IntegrationReason string

const (
	ByPerson          IntegrationReason = "by_person"
	CredentialRefused IntegrationReason = "refused"
	// CredentialLost: a one-time refresh token was used up, but the new token was lost.
	CredentialLost IntegrationReason = "refresh_lost"
	// CredentialElsewhere: the server's secret was entered for another address than the settings now name. It is
	// computed from the settings and never stored.
	CredentialElsewhere IntegrationReason = "other_address"
	// AppUninstalled: the Slack app was removed from the workspace, which ends all integrations.
	AppUninstalled IntegrationReason = "app_uninstalled"
	TokensRevoked  IntegrationReason = "tokens_revoked"
)

// SlackProvider is the integration with Slack. Events from Slack can end it.
const SlackProvider = "slack"

// GitHubProvider is the integration with GitHub, whose credential is a GitHub App's key.
const GitHubProvider = "github"

// Integration is a tenant's connection to a provider: freee, google, github, slack or mcp:<server>.
type Integration struct {
	aggregate.Meta
	ID           string            `json:"id"`
	TenantID     string            `json:"tenant_id"`
	Provider     string            `json:"provider"`
	Status       IntegrationStatus `json:"status"`
	StatusReason IntegrationReason `json:"status_reason,omitempty"`
	Credentials  string            `json:"credentials,omitempty"` // encrypted
	Metadata     aggregate.JSON    `json:"metadata"`
	Refreshing   *Refreshing       `json:"refreshing,omitempty"`
	ConnectedAt  *time.Time        `json:"connected_at,omitempty"`
	ConnectedBy  string            `json:"connected_by,omitempty"` // Slack user id; empty for the system
	UpdatedAt    time.Time         `json:"updated_at"`
}

// Refreshing is a call's claim to the refresh token. Only its holder may exchange the token before Until.
type Refreshing struct {
	By    string    `json:"by"`
	Until time.Time `json:"until"`
}

// Fresh returns the integration as connected with new credentials.
func (i Integration) Fresh(credentials string, metadata aggregate.JSON) Integration {
	i.Status, i.StatusReason, i.Credentials, i.Metadata, i.Refreshing = Connected, "", credentials, metadata, nil
	return i
}

// Ended returns the integration without its credentials.
func (i Integration) Ended(status IntegrationStatus, why IntegrationReason) Integration {
	i.Status, i.StatusReason, i.Credentials, i.Refreshing, i.ConnectedAt, i.ConnectedBy = status, why, "", nil, nil, ""
	return i
}

// PutAway reports whether an administrator disconnected it. Only an administrator may then connect it again.
func (i Integration) PutAway() bool {
	return i.Status == Disconnected && (i.StatusReason == ByPerson || i.StatusReason == "")
}

// IntegrationPrefix begins the sort keys of a tenant's integrations.
const IntegrationPrefix = "INTEGRATION#"

// Place is in a partition that holds only the tenant's integrations and clients, because the role that renews
// credentials may not write settings and permissions.
func (i Integration) Place() (partition, key, typ string) {
	return "INTEGRATIONS#" + i.TenantID, IntegrationPrefix + i.Provider, "integration"
}

// Save replaces was, whose revision is i.Rev, by i; was is zero for a new integration, which gets the id. The audit log
// records connecting, reconnecting with other credentials, disconnecting and failing. An integration that is not
// connected has no credentials.
func (i Integration) Save(was Integration, id string, by aggregate.Actor, now time.Time) (Integration, Change, error) {
	if was.Rev != 0 {
		i.ID = was.ID
	}
	var action aggregate.Action
	switch at := moment(now); {
	case i.Status != Connected:
		i = i.Ended(i.Status, i.StatusReason)
		if i.Status != was.Status {
			action = map[IntegrationStatus]aggregate.Action{Disconnected: AuditIntegrationDisconnected,
				Broken: AuditIntegrationFailed}[i.Status]
		}
	case was.Status != Connected || was.Credentials != i.Credentials:
		i.ConnectedAt, i.ConnectedBy, action = &at, by.ID, AuditIntegrationConnected
	}
	return i.next(action, id, by, now)
}

// Renew saves a refresh, that is the claim and the encrypted credentials, over revision i.Rev. It is not recorded in
// the audit log.
func (i Integration) Renew(id string, now time.Time) (Integration, Change, error) {
	return i.next("", id, aggregate.System(), now)
}

// next saves i as its next revision, with an audit entry unless action is empty.
func (i Integration) next(
	action aggregate.Action, id string, by aggregate.Actor, now time.Time,
) (Integration, Change, error) {
	if i.Provider == "" || len(i.Provider) > 100 {
		return i, Change{}, aggregate.Problem{Field: "provider", Code: "must have 1 to 100 bytes"}
	}
	if i.Status != Connected && i.Status != Disconnected && i.Status != Broken {
		return i, Change{}, aggregate.Problem{Field: "status", Code: "must be connected, disconnected or error"}
	}
	i.ID = cmp.Or(i.ID, id)
	i.Metadata = cmp.Or(i.Metadata, "{}")
	i.UpdatedAt = moment(now)
	i.Rev++
	c := Change{Tenant: i.TenantID, Writes: []Write{{Row: i, Over: i.Rev - 1}}}
	if action != "" {
		about := map[string]any{"provider": i.Provider}
		if i.StatusReason != "" && i.StatusReason != ByPerson { // the entry's actor already says this
			about["reason"] = i.StatusReason
		}
		c.Audit = append(c.Audit, entry(i.TenantID, action, "integration", i.ID, about, by, now))
	}
	return i, c, nil
}

// EndBySlack ends integrations after Slack reported that the app was uninstalled, which ends all, or that its tokens
// were revoked, which ends Slack's. An integration connected after at is kept, so a late or repeated event does no
// harm. If the tenant has no row for Slack, one is created with this id.
func EndBySlack(tenant string, rows []Integration, why IntegrationReason, at time.Time, id string,
	now time.Time) (Change, error) {
	all := Change{Tenant: tenant}
	if !slices.ContainsFunc(rows, func(i Integration) bool { return i.Provider == SlackProvider }) {
		rows = append(slices.Clone(rows), Integration{TenantID: tenant, Provider: SlackProvider})
	}
	for _, i := range rows {
		since := i.ConnectedAt != nil && i.ConnectedAt.After(at)
		if i.Status == Disconnected || since || i.Provider != SlackProvider && why != AppUninstalled {
			continue
		}
		_, c, err := i.Ended(Disconnected, why).next(AuditIntegrationDisconnected, id, aggregate.System(), now)
		if err != nil {
			return all, err
		}
		all.Writes, all.Audit = append(all.Writes, c.Writes...), append(all.Audit, c.Audit...)
	}
	return all, nil
}

// ErrNotConnected says that a person must connect the provider first.
type ErrNotConnected struct {
	Provider string
	Status   IntegrationStatus
	Reason   IntegrationReason
}

func (e ErrNotConnected) Error() string {
	return fmt.Sprintf("integration %s is %s (%s)", e.Provider, e.Status, e.Reason)
}

// Unwrap makes this an aggregate.ErrNotFound too, the error for a provider that was never connected.
func (e ErrNotConnected) Unwrap() error { return aggregate.ErrNotFound }

// MCPServer is a server of tools that a tenant's settings name.
type MCPServer struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// MaxMCPServers is the maximum number of servers per tenant.
const MaxMCPServers = 10

// Pin is an MCP server's tool as the administrator saw it when allowing it.
type Pin struct {
	URL         string         `json:"url"` // the server's address
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Input       aggregate.JSON `json:"input_schema"`
	Output      aggregate.JSON `json:"output_schema,omitempty"`
	// Access was declared by the administrator; the server's own annotations are not trusted.
	Access aggregate.Access `json:"effect"`
	Hash   string           `json:"hash"` // hash of everything that the server said about the tool
}

// Version changes when the tool or its server's address changes. It is the full hash, because a server's author could
// find two schemas whose truncated hashes are equal.
func (p Pin) Version() string {
	b, err := json.Marshal(p)
	if err != nil { // invalid schemas must not equal any version
		return "invalid: " + err.Error()
	}
	return aggregate.HashOf(string(b))
}

// ServerTool splits the name `<server>.<tool>`. It returns false for Ringi's own tools.
func ServerTool(name string) (server, tool string, ok bool) { return strings.Cut(name, ".") }

// ServerProvider begins the provider name of every MCP server's integration.
const ServerProvider = "mcp:"

// Provider returns the name of the integration that holds the server's secret.
func (s MCPServer) Provider() string { return ServerProvider + s.Name }

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
		return c, Change{}, aggregate.Problem{Field: "client_id", Code: fmt.Sprintf("must have 1 to %d bytes", maxClientID)}
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
}

// Budget is the cost limit of one contest.
func (d DraftContest) Budget() aggregate.MicroUSD { return limitOf(d.BudgetUSD) }

// check reports what is wrong with these settings, such as a contest that is enabled without a budget.
func (d DraftContest) check(all *aggregate.Problems) {
	all.Unless(!d.Enabled || d.Budget() > 0, "draft_contest.budget_usd", "above")
	all.Unless(!strings.HasPrefix(d.File, "/") && !strings.Contains(d.File, "..") && strings.TrimSpace(d.File) == d.File,
		"draft_contest.file", "file")
}
