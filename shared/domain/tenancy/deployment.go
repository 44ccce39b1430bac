package tenancy

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Deployment is what the deployment knows of itself, in one row of the table.
type Deployment struct {
	aggregate.Meta
	TenantID string `json:"tenant_id"` // its own workspace, to which the token of the Slack secret belongs
	// FurtherDay is what a further workspace may cost on a day. Functions that hold the parameter hold to that; those
	// behind an alias can't hold it, and show this.
	FurtherDay aggregate.MicroUSD `json:"further_day_micro_usd,omitempty"`
	UpdatedAt  time.Time          `json:"updated_at"`
}

// DeploymentKey is the row's partition key and its sort key.
const DeploymentKey = "DEPLOYMENT"

// Place is a partition of its own.
func (Deployment) Place() (partition, key, typ string) {
	return DeploymentKey, DeploymentKey, "deployment"
}

// Further reports whether a tenant is another workspace than the deployment's own. While nobody has said which that is,
// none is: so the deployment's own never counts as another.
func (d Deployment) Further(tenant string) bool { return d.TenantID != "" && d.TenantID != tenant }

// Note writes which tenant is the deployment's own and, unless it is 0, what bounds the day of the others. It is empty
// when the row says so.
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
