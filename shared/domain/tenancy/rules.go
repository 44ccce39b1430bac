package tenancy

import (
	"encoding/json"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
)

// RulesKey is the sort key of the row with a tenant's rules.
const RulesKey = "RULES"

// RulesRow holds a tenant's rules. Without rules each gate asks whom the settings say.
type RulesRow struct {
	aggregate.Meta
	TenantID  string       `json:"tenant_id"`
	Rules     *rules.Rules `json:"rules,omitempty"` // nil: none
	UpdatedAt time.Time    `json:"updated_at"`
	UpdatedBy string       `json:"updated_by"`
}

// Place is in the tenant's own partition.
func (r RulesRow) Place() (partition, key, typ string) {
	return "TENANT#" + r.TenantID, RulesKey, "rules"
}

// Config returns the rules with their revision, or nil.
func (r RulesRow) Config() *rules.Rules {
	if r.Rules == nil {
		return nil
	}
	x := *r.Rules
	x.Rev = r.Rev
	return &x
}

// Save replaces the row's rules of revision rev by x, or without any ends them. The settings note the new revision, so
// that gates which open meanwhile conflict. known are the tools that requests may call, id is for settings that have
// none yet. The same rules change nothing.
//
// It returns a Problem for an invalid value, and if by is not a person. It returns ErrConflict if the row has another
// revision.
func (r RulesRow) Save(x *rules.Rules, rev int, over SettingsRow, known []rules.Known, id string, by aggregate.Actor,
	now time.Time) (RulesRow, Change, error) {
	c := Change{Tenant: r.TenantID}
	if err := bySomebody(by); err != nil {
		return r, c, err
	}
	if x != nil && len(x.Rules) == 0 {
		x = nil
	}
	if x != nil {
		if err := x.Problems(known).Err(); err != nil {
			return r, c, err
		}
		bare := *x
		bare.Rev, x = 0, &bare // the row has it
	}
	if rev != r.Rev {
		return r, c, fmt.Errorf("save rules of %s: %w", r.TenantID, aggregate.ErrConflict)
	}
	if encoded(x) == encoded(r.Rules) {
		return r, c, nil
	}
	is := RulesRow{TenantID: r.TenantID, Rules: x, UpdatedAt: moment(now), UpdatedBy: by.ID}
	is.Rev = rev + 1
	c.Writes = []Write{{Row: is, Over: rev}, over.noting(is, id)}
	details := ruleDifferences(r.Rules, x)
	details["revision"] = is.Rev
	if x != nil {
		details["hash"] = aggregate.HashOf(encoded(x))
	}
	c.Audit = []aggregate.AuditEntry{entry(r.TenantID, AuditRulesUpdated, "rules", fmt.Sprintf("RULES#%06d", is.Rev),
		details, by, now)}
	return is, c, nil
}

// noting returns the write by which the settings note a revision of the rules, and nothing else.
func (r SettingsRow) noting(is RulesRow, id string) Write {
	over := r.Rev
	r.Rev, r.RulesRev, r.Ruled = over+1, is.Rev, true
	if is.Rules == nil {
		r.RulesRev = 0
	}
	if r.ID == "" {
		r.ID, r.UpdatedAt, r.UpdatedBy = id, is.UpdatedAt, is.UpdatedBy
	}
	return Write{Over: over, Row: r}
}

// ruleDifferences returns the names of the rules in their order, and of those that differ.
func ruleDifferences(was, is *rules.Rules) map[string]any {
	out, before := map[string]any{}, byID(was)
	note := func(what, name string) {
		names, _ := out[what].([]string)
		out[what] = append(names, name)
	}
	after := byID(is)
	for _, rule := range listed(is) {
		old, there := before[rule.ID]
		if note("rules", rule.Name); !there {
			note("added_rules", rule.Name)
		} else if encoded(old) != encoded(rule) {
			note("changed", rule.Name)
		}
	}
	for _, rule := range listed(was) {
		if _, there := after[rule.ID]; !there {
			note("removed", rule.Name)
		}
	}
	return out
}

func listed(x *rules.Rules) []rules.Rule {
	if x == nil {
		return nil
	}
	return x.Rules
}

func byID(x *rules.Rules) map[string]rules.Rule {
	all := map[string]rules.Rule{}
	for _, rule := range listed(x) {
		all[rule.ID] = rule
	}
	return all
}

// encoded returns what is compared and hashed.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode rules: %v", err)) // they hold only strings, numbers, booleans and lists of these
	}
	return string(text)
}

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

// Save has another file stand. Over is the revision that was shown. It returns ErrConflict if the row has another one.
func (r OrganisationRow) Save(over int, sum string, packed []byte, people int, by aggregate.Actor,
	now time.Time) (Change, error) {
	details := map[string]any{"sha256": sum, "people": people}
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
