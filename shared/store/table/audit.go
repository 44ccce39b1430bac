package table

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// PackAudit makes an audit entry's item. Each month of a tenant is a partition.
func PackAudit(x aggregate.AuditEntry) (Item, error) {
	if !KeyPart(x.TenantID) {
		return nil, fmt.Errorf("audit entry of tenant %.40q: %w", x.TenantID, aggregate.ErrNotFound)
	}
	at := aggregate.TimeText(x.Timestamp)
	sk := at + "#" + x.ID
	it, err := Pack("audit", AuditMonth(x.TenantID, x.Timestamp), sk, x)
	if err != nil {
		return nil, err
	}
	Index(it, 1, AuditOf(x.TenantID, "ACTION", string(x.Action)), sk)
	resource := x.AggregateID
	if resource == "" {
		resource = x.ResourceID
	}
	Index(it, 2, AuditOf(x.TenantID, "RESOURCE", resource), sk)
	Index(it, 3, AuditOf(x.TenantID, "ACTOR", ActorOf(x)), sk)
	return it, nil
}

func AuditMonth(tenant string, at time.Time) string {
	return "AUDIT#" + tenant + "#" + at.UTC().Format("2006-01")
}

func AuditOf(tenant, by, value string) string {
	return "AUDIT#" + tenant + "#" + by + "#" + value
}

// ActorOf returns the actor's user id, or its type ("system") if it has none.
func ActorOf(x aggregate.AuditEntry) string {
	if x.ActorID != "" {
		return x.ActorID
	}
	return string(x.ActorType)
}

// AuditBegins returns the first month of audit logs. A list without From ends there.
func AuditBegins() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }
