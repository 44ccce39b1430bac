package tenancy

import (
	"time"

	"ringi/shared/domain/aggregate"
)

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
