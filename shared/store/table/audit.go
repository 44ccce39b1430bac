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
	Index(it, 3, AuditOf(x.TenantID, "ACTOR", x.FoundBy()), sk)
	return it, nil
}

func AuditMonth(tenant string, at time.Time) string {
	return "AUDIT#" + tenant + "#" + at.UTC().Format("2006-01")
}

func AuditOf(tenant, by, value string) string {
	return "AUDIT#" + tenant + "#" + by + "#" + value
}

// AuditBegins returns the first month of audit logs. A list without From ends there.
func AuditBegins() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }
