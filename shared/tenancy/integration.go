package tenancy

import (
	"fmt"
	"time"

	"ringi/shared/aggregate"
)

// IntegrationStatus is whether a provider can be used.
type IntegrationStatus string

const (
	Connected    IntegrationStatus = "connected"
	Disconnected IntegrationStatus = "disconnected"
	Broken       IntegrationStatus = "error"
)

// IntegrationReason is why an integration is not connected any more; empty when a
// person disconnected it.
type IntegrationReason string

const (
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
	i.Status, i.StatusReason, i.Credentials, i.Refreshing, i.ConnectedAt = status, why, "", nil, nil
	return i
}

// EndedBySlack are the changed rows after Slack reported, at a time, that the app was uninstalled
// (all integrations end) or its tokens revoked (Slack's ends). An integration that was connected
// after that time stays, so a late repeated event ends nothing. If the tenant has no row for
// Slack, one is made.
func EndedBySlack(tenant string, rows []Integration, why IntegrationReason, at time.Time) []Integration {
	var ended []Integration
	known := false
	for _, i := range rows {
		known = known || i.Provider == SlackProvider
		since := i.ConnectedAt != nil && i.ConnectedAt.After(at)
		if i.Status == Disconnected || since || i.Provider != SlackProvider && why != AppUninstalled {
			continue
		}
		ended = append(ended, i.Ended(Disconnected, why))
	}
	if !known {
		i := Integration{TenantID: tenant, Provider: SlackProvider}
		ended = append(ended, i.Ended(Disconnected, why))
	}
	return ended
}

// HasOwnSlack reports whether a tenant with these integrations has connected Slack with a token of its own. A row for Slack
// is not enough: without a token it stands for the deployment's token, or for an app that was removed.
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

// Unwrap makes it aggregate.ErrNotFound, as of a provider that was never connected.
func (e ErrNotConnected) Unwrap() error { return aggregate.ErrNotFound }
