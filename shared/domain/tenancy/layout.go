package tenancy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
)

// OrganisationLayoutKey is the sort key of the row that says how a tenant's files of its organisation are read.
const OrganisationLayoutKey = "ORG_LAYOUT"

// Limits of what is kept of files: names of columns, values of all columns, and positions.
const (
	MaxKeptColumns = 300
	MaxKeptValues  = 300
	MaxKeptRanks   = 2000
	MaxKeptText    = 200 // characters of each
)

// OrganisationLayout is what an administrator said of the files of a tenant's organisation. It decides nothing but how
// the next file is read, which is shown before it is saved.
type OrganisationLayout struct {
	TenantID string `json:"tenant_id"`
	Rev      int    `json:"rev"`
	organisation.Kept
	SavedAt time.Time `json:"saved_at"`
	SavedBy string    `json:"saved_by"`
}

// Place is in the tenant's own partition.
func (r OrganisationLayout) Place() (partition, key, typ string) {
	return "TENANT#" + r.TenantID, OrganisationLayoutKey, "organisation_layout"
}

// Keep keeps what was said of other files. Nothing is written if that is known already. It returns an ErrField for too
// much, or too long a text.
func (r OrganisationLayout) Keep(k organisation.Kept, by aggregate.Actor, now time.Time) (OrganisationLayout, Change,
	error) {
	c := Change{Tenant: r.TenantID}
	if err := cmp.Or(bySomebody(by), keepable(k)); err != nil || k.Equal(r.Kept) {
		return r, c, err
	}
	is := OrganisationLayout{r.TenantID, r.Rev + 1, k, moment(now), by.ID}
	c.Writes = []Write{{Row: is, Over: r.Rev}}
	return is, c, nil
}

// keepable returns an ErrField if something is more than a row keeps.
func keepable(k organisation.Kept) error {
	texts := slices.AppendSeq(slices.Collect(maps.Keys(k.Columns)), maps.Keys(k.Values))
	texts = slices.AppendSeq(texts, maps.Keys(k.Ranks))
	for _, x := range []struct {
		field   string
		n, most int
	}{{"columns", len(k.Columns), MaxKeptColumns}, {"values", len(k.Values), MaxKeptValues},
		{"ranks", len(k.Ranks), MaxKeptRanks}} {
		if x.n > x.most {
			return aggregate.ErrField{Field: x.field, Limit: fmt.Sprintf("must be at most %d", x.most)}
		}
	}
	for _, t := range texts {
		if utf8.RuneCountInString(t) > MaxKeptText {
			return aggregate.ErrField{Field: "values", Limit: fmt.Sprintf("must have at most %d characters each", MaxKeptText)}
		}
	}
	return nil
}
