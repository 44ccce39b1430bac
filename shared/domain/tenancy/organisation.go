package tenancy

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// OrganisationKey is the sort key of the row that says which version of a tenant's organisation stands.
const OrganisationKey = "ORG"

// OrganisationRow says which version of its organisation stands for a tenant. It stays when the organisation is
// removed, so that no revision ever comes back.
type OrganisationRow struct {
	TenantID string `json:"tenant_id"`
	Rev      int    `json:"rev"`
	OrganisationVersion
	SavedAt time.Time `json:"saved_at"`
	SavedBy string    `json:"saved_by"`
}

// OrganisationVersion names a version of an organisation with the accounts of its people. The rows of a version never
// change.
type OrganisationVersion struct {
	Version        string `json:"version,omitempty"` // empty: none stands
	SHA256         string `json:"sha256,omitempty"`
	AccountsSHA256 string `json:"accounts_sha256,omitempty"`
}

// Place is in the tenant's own partition.
func (r OrganisationRow) Place() (partition, key, typ string) {
	return "TENANT#" + r.TenantID, OrganisationKey, "organisation"
}

// Stands reports whether an organisation stands.
func (r OrganisationRow) Stands() bool { return r.Version != "" }

// OrganisationCounts are the numbers of an audit entry: what differs from the version before.
type OrganisationCounts struct {
	People, Added, Gone, Accounts int
}

// Move has another version stand, which was written before and is listed as w. Over is the revision of the row that
// was shown. It returns ErrConflict if the row has another one by now.
func (r OrganisationRow) Move(over int, w OrganisationWriting, n OrganisationCounts, by aggregate.Actor,
	now time.Time) (OrganisationRow, Change, error) {
	c := Change{Tenant: r.TenantID}
	if r.Rev != over {
		return r, c, fmt.Errorf("save the organisation of %s: %w", r.TenantID, aggregate.ErrConflict)
	}
	if err := bySomebody(by); err != nil {
		return r, c, err
	}
	is := OrganisationRow{r.TenantID, r.Rev + 1, w.OrganisationVersion, moment(now), by.ID}
	details := map[string]any{"version": w.Version, "sha256": w.SHA256, "people": n.People, "people_added": n.Added,
		"people_gone": n.Gone, "accounts": n.Accounts}
	if r.Stands() {
		details["sha256_before"] = r.SHA256
	}
	w.Written, w.Rev = true, w.Rev+1
	c.Writes = []Write{{Row: is, Over: r.Rev}, {Row: w, Over: w.Rev - 1}}
	c.Audit = []aggregate.AuditEntry{
		entry(r.TenantID, AuditOrganisationSaved, "organisation", w.Version, details, by, now)}
	return is, c, nil
}

// Says reports whether the row has the same organisation and the same accounts as a version.
func (r OrganisationRow) Says(v OrganisationVersion) bool {
	return r.Stands() && r.SHA256 == v.SHA256 && r.AccountsSHA256 == v.AccountsSHA256
}

// Remove has no organisation stand. The rows of its version stay, since gates may name it.
func (r OrganisationRow) Remove(over int, by aggregate.Actor, now time.Time) (OrganisationRow, Change, error) {
	c := Change{Tenant: r.TenantID}
	if err := bySomebody(by); err != nil {
		return r, c, err
	}
	if r.Rev != over || !r.Stands() {
		return r, c, fmt.Errorf("remove the organisation of %s: %w", r.TenantID, aggregate.ErrConflict)
	}
	is := OrganisationRow{TenantID: r.TenantID, Rev: r.Rev + 1, SavedAt: moment(now), SavedBy: by.ID}
	details := map[string]any{"version": r.Version, "sha256": r.SHA256}
	c.Writes = []Write{{Row: is, Over: r.Rev}}
	c.Audit = []aggregate.AuditEntry{
		entry(r.TenantID, AuditOrganisationRemoved, "organisation", r.Version, details, by, now)}
	return is, c, nil
}

// OrganisationWriting lists a version in the tenant's list of versions, from before its rows are written. It never
// stood while Written is not set: whoever wrote it died, or lost to somebody else.
type OrganisationWriting struct {
	TenantID string `json:"tenant_id"`
	Rev      int    `json:"rev"`
	OrganisationVersion
	Written   bool      `json:"written,omitempty"` // it stood at some time
	BegunAt   time.Time `json:"begun_at"`
	Abandoned bool      `json:"abandoned,omitempty"` // its rows are being deleted; it can't stand any more
}

// Place is in the list of the tenant's versions.
func (w OrganisationWriting) Place() (partition, key, typ string) {
	return "ORG#" + w.TenantID, w.Version, "organisation_version"
}

// OrganisationPartition is where the rows of a version are.
func OrganisationPartition(tenant, version string) string { return "ORG#" + tenant + "#" + version }

// BeginOrganisation lists a version before its rows are written.
func BeginOrganisation(tenant string, v OrganisationVersion, now time.Time) (OrganisationWriting, Change) {
	w := OrganisationWriting{TenantID: tenant, Rev: 1, OrganisationVersion: v, BegunAt: moment(now)}
	return w, Change{Tenant: tenant, Writes: []Write{{Row: w}}}
}

// organisationWrites is how long somebody may take to write a version: far longer than any function runs.
const organisationWrites = time.Hour

// Leftover reports whether a version never stood and nobody writes it any more.
func (w OrganisationWriting) Leftover(now time.Time) bool {
	return !w.Written && now.Sub(w.BegunAt) > organisationWrites
}

// Abandon marks a version that never stood, so that it can't stand any more and its rows may be deleted.
func (w OrganisationWriting) Abandon() (OrganisationWriting, Change) {
	w.Abandoned, w.Rev = true, w.Rev+1
	return w, Change{Tenant: w.TenantID, Writes: []Write{{Row: w, Over: w.Rev - 1}}}
}

// Drop takes an abandoned version whose rows are gone out of the list.
func (w OrganisationWriting) Drop() Change {
	return Change{Tenant: w.TenantID, Writes: []Write{{Row: w, Delete: true, If: map[string]any{"rev": w.Rev}}}}
}
