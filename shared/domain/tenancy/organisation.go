package tenancy

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// OrganisationKey is the sort key of the row that says which organisation stands for a tenant.
const OrganisationKey = "ORG"

// OrganisationRow says which organisation stands for a tenant. It stays when the organisation is removed, so that no
// revision ever comes back.
type OrganisationRow struct {
	TenantID string    `json:"tenant_id"`
	Rev      int       `json:"rev"`
	SHA256   string    `json:"sha256,omitempty"` // of the file; empty: none stands
	SavedAt  time.Time `json:"saved_at"`
	SavedBy  string    `json:"saved_by"`
}

// Place is in the tenant's own partition.
func (r OrganisationRow) Place() (partition, key, typ string) {
	return "TENANT#" + r.TenantID, OrganisationKey, "organisation"
}

// Stands reports whether an organisation stands.
func (r OrganisationRow) Stands() bool { return r.SHA256 != "" }

// OrganisationFile is the file of the organisation that stands, in a row of its own: commits rely on the other one, and
// a condition costs as much as its row is large.
type OrganisationFile struct {
	TenantID string `json:"tenant_id"`
	Rev      int    `json:"rev"`            // that of the row
	File     []byte `json:"file,omitempty"` // by gzip
}

// Place is beside the row.
func (f OrganisationFile) Place() (partition, key, typ string) {
	return "TENANT#" + f.TenantID, OrganisationKey + "#FILE", "organisation_file"
}

// OrganisationCounts are the numbers of an audit entry: what differs from the file before.
type OrganisationCounts struct {
	People, Added, Gone int
}

// Save has another file stand. Over is the revision that was shown. It returns ErrConflict if the row has another one.
func (r OrganisationRow) Save(over int, sum string, packed []byte, n OrganisationCounts, by aggregate.Actor,
	now time.Time) (Change, error) {
	details := map[string]any{"sha256": sum, "people": n.People, "people_added": n.Added, "people_gone": n.Gone}
	if r.Stands() {
		details["sha256_before"] = r.SHA256
	}
	return r.move(over, sum, packed, AuditOrganisationSaved, details, by, now)
}

// Remove has no organisation stand.
func (r OrganisationRow) Remove(over int, by aggregate.Actor, now time.Time) (Change, error) {
	if !r.Stands() {
		over = -1
	}
	return r.move(over, "", nil, AuditOrganisationRemoved, map[string]any{"sha256": r.SHA256}, by, now)
}

func (r OrganisationRow) move(over int, sum string, packed []byte, action aggregate.Action, details map[string]any,
	by aggregate.Actor, now time.Time) (Change, error) {
	c := Change{Tenant: r.TenantID}
	if err := bySomebody(by); err != nil {
		return c, err
	}
	if r.Rev != over {
		return c, fmt.Errorf("change the organisation of %s: %w", r.TenantID, aggregate.ErrConflict)
	}
	is := OrganisationRow{r.TenantID, r.Rev + 1, sum, moment(now), by.ID}
	c.Writes = []Write{{Row: is, Over: over}, {Row: OrganisationFile{r.TenantID, is.Rev, packed}, Over: over}}
	c.Audit = []aggregate.AuditEntry{
		entry(r.TenantID, action, "organisation", fmt.Sprint(OrganisationKey, is.Rev), details, by, now)}
	return c, nil
}
