package store

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// AuditFilter narrows the audit log; an empty field filters nothing.
type AuditFilter struct {
	From, To time.Time // from inclusive, to exclusive
	Action   aggregate.Action
	Resource string // an aggregate's id, or that of a resource outside of aggregates
}

// Audit lists a tenant's audit log, newest first. Without other filters it reads one monthly partition after another.
// It returns an aggregate.Problem if From is after To, and the same errors as Tasks.
func (s *Store) Audit(ctx context.Context, tenant string, f AuditFilter, cursor string,
	limit int) (table.Page[aggregate.AuditEntry], error) {
	if !f.To.IsZero() && f.From.After(f.To) {
		return table.Page[aggregate.AuditEntry]{}, aggregate.Problem{Field: "from", Code: "must not be after to"}
	}
	l := table.List{
		Name: "audit", Tenant: tenant, Prefixes: []string{"AUDIT#"}, Filter: []string{string(f.Action), f.Resource},
		From: aggregate.TimeText(f.From), Until: "9999", Sparse: f.Resource != "" && f.Action != "",
	}
	if !f.To.IsZero() {
		l.Until = aggregate.TimeText(f.To)
	}
	switch {
	case f.Resource != "":
		l.Index, l.Partitions = "GSI2", []string{table.AuditOf(tenant, "RESOURCE", f.Resource)}
	case f.Action != "":
		l.Index, l.Partitions = "GSI1", []string{table.AuditOf(tenant, "ACTION", string(f.Action))}
	default:
		l.Partitions = s.auditMonths(tenant, f)
	}
	return table.ReadPage(ctx, s.t, l, cursor, limit, func(it table.Item) (*aggregate.AuditEntry, error) {
		x := &aggregate.AuditEntry{}
		if err := table.Unpack(it, x); err != nil {
			return nil, err
		}
		if f.Action != "" && x.Action != f.Action {
			return nil, nil
		}
		return x, nil
	})
}

// auditMonths lists the monthly partitions between the filter's times, newest first.
func (s *Store) auditMonths(tenant string, f AuditFilter) []string {
	from, to := f.From.UTC(), f.To.UTC()
	if from.Before(table.AuditBegins()) {
		from = table.AuditBegins()
	}
	// An entry's time may be ahead of this machine's clock.
	if latest := s.t.Now().UTC().AddDate(0, 0, 1); f.To.IsZero() || to.After(latest) {
		to = latest
	}
	var out []string
	for m := time.Date(to.Year(), to.Month(), 1, 0, 0, 0, 0, time.UTC); !m.AddDate(0, 1, 0).Before(from) &&
		!m.Before(table.AuditBegins()); m = m.AddDate(0, -1, 0) {
		out = append(out, table.AuditMonth(tenant, m))
	}
	return out
}
