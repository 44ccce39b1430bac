package tenancy

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// IntegrationStatus is whether a provider can be used.
type IntegrationStatus string

const (
	Connected    IntegrationStatus = "connected"
	Disconnected IntegrationStatus = "disconnected"
	Broken       IntegrationStatus = "error"
)

// IntegrationReason is why an integration is not connected any more. It is empty where a person disconnected it under
// an earlier release.
type IntegrationReason string

const (
	// ByPerson: an administrator disconnected it.
	ByPerson IntegrationReason = "by_person"
	// CredentialRefused: the vendor rejected the credentials.
	CredentialRefused IntegrationReason = "refused"
	// CredentialLost: a one-time refresh token was used, and the new token was lost.
	CredentialLost IntegrationReason = "refresh_lost"
	// CredentialElsewhere: the server's secret was given for another address than the settings
	// name. It is not stored: it follows from the settings.
	CredentialElsewhere IntegrationReason = "other_address"
	// AppUninstalled: the Slack app was removed from the workspace; ends all integrations.
	AppUninstalled IntegrationReason = "app_uninstalled"
	// TokensRevoked: the bot's token was revoked.
	TokensRevoked IntegrationReason = "tokens_revoked"
)

// SlackProvider is the integration that Slack itself ends.
const SlackProvider = "slack"

// Integration is a tenant's connection to a provider (freee, google, slack, mcp:<server>).
type Integration struct {
	aggregate.Meta
	ID           string            `json:"id"`
	TenantID     string            `json:"tenant_id"`
	Provider     string            `json:"provider"`
	Status       IntegrationStatus `json:"status"`
	StatusReason IntegrationReason `json:"status_reason,omitempty"`
	Credentials  string            `json:"credentials,omitempty"` // sealed; never in clear
	Metadata     aggregate.JSON    `json:"metadata"`
	Refreshing   *Refreshing       `json:"refreshing,omitempty"`
	ConnectedAt  *time.Time        `json:"connected_at,omitempty"`
	ConnectedBy  string            `json:"connected_by,omitempty"` // Slack user id; empty for the system
	UpdatedAt    time.Time         `json:"updated_at"`
}

// Refreshing is a claim to exchange the refresh token: by which call, and until when it
// holds. Only the claim's holder may exchange the token.
type Refreshing struct {
	By    string    `json:"by"`
	Until time.Time `json:"until"`
}

// Fresh is the integration as connected now, with new credentials.
func (i Integration) Fresh(credentials string, metadata aggregate.JSON) Integration {
	i.Status, i.StatusReason, i.Credentials, i.Metadata, i.Refreshing = Connected, "", credentials, metadata, nil
	return i
}

// Ended is the integration without its credentials.
func (i Integration) Ended(status IntegrationStatus, why IntegrationReason) Integration {
	i.Status, i.StatusReason, i.Credentials, i.Refreshing, i.ConnectedAt, i.ConnectedBy = status, why, "", nil, nil, ""
	return i
}

// PutAway reports whether an administrator disconnected it: only an administrator connects it again.
func (i Integration) PutAway() bool {
	return i.Status == Disconnected && (i.StatusReason == ByPerson || i.StatusReason == "")
}

// IntegrationPrefix begins the sort keys of a tenant's integrations.
const IntegrationPrefix = "INTEGRATION#"

// Place is in a partition of the tenant's integrations alone: who renews credentials writes there,
// and has no business with settings and permissions.
func (i Integration) Place() (partition, key, typ string) {
	return "INTEGRATIONS#" + i.TenantID, IntegrationPrefix + i.Provider, "integration"
}

// Save writes i over was, the integration of revision i.Rev, which is zero for a new one; id is for that. Connecting,
// reconnecting with other credentials, disconnecting and failing are recorded; an integration that is not
// connected keeps no credentials.
func (i Integration) Save(was Integration, id string, by aggregate.Actor, now time.Time) (Integration, Change, error) {
	if was.Rev != 0 {
		i.ID = was.ID
	}
	var action aggregate.Action
	switch at := moment(now); {
	case i.Status != Connected:
		i = i.Ended(i.Status, i.StatusReason)
		if i.Status != was.Status {
			action = map[IntegrationStatus]aggregate.Action{Disconnected: AuditIntegrationDisconnected, Broken: AuditIntegrationFailed}[i.Status]
		}
	case was.Status != Connected || was.Credentials != i.Credentials:
		i.ConnectedAt, i.ConnectedBy, action = &at, by.ID, AuditIntegrationConnected
	}
	return i.next(action, id, by, now)
}

// Renew writes what a refresh changes, the claim to it and the sealed credentials, over revision
// i.Rev. The audit log knows nothing of it.
func (i Integration) Renew(id string, now time.Time) (Integration, Change, error) {
	return i.next("", id, aggregate.System(), now)
}

// next writes i as its next revision, with the entry that records it unless action is empty.
func (i Integration) next(action aggregate.Action, id string, by aggregate.Actor, now time.Time) (Integration, Change, error) {
	if i.Provider == "" || len(i.Provider) > 100 {
		return i, Change{}, aggregate.ErrField{Field: "provider", Limit: "must have 1 to 100 bytes"}
	}
	if i.Status != Connected && i.Status != Disconnected && i.Status != Broken {
		return i, Change{}, aggregate.ErrField{Field: "status", Limit: "must be connected, disconnected or error"}
	}
	if i.ID == "" {
		i.ID = id
	}
	if i.Metadata == "" {
		i.Metadata = "{}"
	}
	i.UpdatedAt = moment(now)
	i.Rev++
	c := Change{Tenant: i.TenantID, Writes: []Write{{Row: i, Over: i.Rev - 1}}}
	if action != "" {
		about := map[string]any{"provider": i.Provider}
		if i.StatusReason != "" && i.StatusReason != ByPerson { // that is whose entry it is
			about["reason"] = i.StatusReason
		}
		c.Audit = append(c.Audit, entry(i.TenantID, action, "integration", i.ID, about, by, now))
	}
	return i, c, nil
}

// EndBySlack ends integrations after Slack reported, at a time, that the app was uninstalled
// (all end) or its tokens revoked (Slack's ends). An integration that was connected
// after that time stays, so a late repeated event ends nothing. If the tenant has no row for
// Slack, one is made, which id is for.
func EndBySlack(tenant string, rows []Integration, why IntegrationReason, at time.Time, id string, now time.Time) (Change, error) {
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

// HasOwnSlack reports whether a tenant with these integrations has connected Slack with a token of its own. A row for
// Slack is not enough: without a token it stands for the deployment's token, or for an app that was removed.
func HasOwnSlack(rows []Integration) bool {
	for _, x := range rows {
		if x.Provider == SlackProvider && x.Status == Connected && x.Credentials != "" {
			return true
		}
	}
	return false
}

// ErrNotConnected says that a provider cannot be used before a person connects it (again).
type ErrNotConnected struct {
	Provider string
	Status   IntegrationStatus
	Reason   IntegrationReason
}

func (e ErrNotConnected) Error() string {
	return fmt.Sprintf("integration %s is %s (%s)", e.Provider, e.Status, e.Reason)
}

// Unwrap lets errors.Is find aggregate.ErrNotFound, as for a provider that was never connected.
func (e ErrNotConnected) Unwrap() error { return aggregate.ErrNotFound }
