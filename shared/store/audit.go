package store

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// packAudit makes an entry's item: one partition for each month of a tenant.
func packAudit(x aggregate.AuditEntry) (item, error) {
	if !keyPart(x.TenantID) {
		return nil, fmt.Errorf("audit entry of tenant %.40q: %w", x.TenantID, aggregate.ErrNotFound)
	}
	at := aggregate.TimeText(x.Timestamp)
	sk := at + "#" + x.ID
	it, err := pack("audit", auditMonth(x.TenantID, x.Timestamp), sk, x)
	if err != nil {
		return nil, err
	}
	index(it, 1, auditOf(x.TenantID, "ACTION", string(x.Action)), sk)
	resource := x.AggregateID
	if resource == "" {
		resource = x.ResourceID
	}
	index(it, 2, auditOf(x.TenantID, "RESOURCE", resource), sk)
	index(it, 3, auditOf(x.TenantID, "ACTOR", actorOf(x)), sk)
	return it, nil
}

func auditMonth(tenant string, at time.Time) string {
	return "AUDIT#" + tenant + "#" + at.UTC().Format("2006-01")
}

func auditOf(tenant, by, value string) string {
	return "AUDIT#" + tenant + "#" + by + "#" + value
}

// actorOf is a person's id; whoever has none is found by type ("system").
func actorOf(x aggregate.AuditEntry) string {
	if x.ActorID != "" {
		return x.ActorID
	}
	return string(x.ActorType)
}

// entries are audit entries with their ids, which keep their order: their shared timestamp does not.
func (s *Store) entries(all []aggregate.AuditEntry) []aggregate.AuditEntry {
	all = slices.Clone(all)
	ids := make([]string, len(all))
	for i := range ids {
		ids[i] = s.newID()
	}
	slices.Sort(ids)
	for i := range ids {
		all[i].ID = ids[i]
	}
	return all
}
