package store

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// factsLast is how long it is known which facts were counted; the sums of their days are kept for ever.
const factsLast = 400 * 24 * time.Hour

// Counter keeps its counts in the table.
type Counter struct {
	t     *table.Table
	kinds aggregate.Kinds
}

// Of returns a counter in a table of rows of these kinds.
func CounterOf(t *table.Table, kinds aggregate.Kinds) *Counter {
	return &Counter{t: t, kinds: kinds}
}

func factsOf(tenant, day string) string { return "FACT#" + tenant + "#" + day }

// FactOf makes a fact of a row of the audit log or of a usage. ok is false for other rows.
func (s *Counter) FactOf(it table.Item) (f tenancy.DailyFact, ok bool, err error) {
	if ref, known := s.kinds.Ref(table.TextOf(it, "PK")); known {
		var u aggregate.Use
		if table.TextOf(it, "type") != u.Type() {
			return f, false, nil
		}
		if err := table.Unpack(it, &u); err != nil {
			return f, false, err
		}
		f, ok = tenancy.FactOfUse(ref, u), u.ChargedTo == ""
	} else {
		var x aggregate.AuditEntry
		if err := table.Unpack(it, &x); err != nil {
			return f, false, err
		}
		f, ok = tenancy.FactOfEntry(x)
	}
	if ok && (!table.KeyPart(f.Tenant) || !table.KeyPart(f.Task)) {
		return f, false, fmt.Errorf("fact of task %.40q: %w", f.Task, aggregate.ErrNotFound)
	}
	return f, ok, nil
}

// Sums returns the sum of each of the days, which must come from daily.Days.
func (s *Counter) Sums(ctx context.Context, tenant string, days []string) ([]tenancy.DailySum, error) {
	if !table.KeyPart(tenant) || len(days) == 0 {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	known, err := s.countedSumsOf(ctx, tenant, days[0], days[len(days)-1])
	if err != nil {
		return nil, fmt.Errorf("read the counts of days: %w", err)
	}
	var out []tenancy.DailySum
	for _, d := range days {
		x, ok := known[d]
		if !ok { // nothing happened on that day
			x = tenancy.FoldFacts(tenant, d, nil)
		}
		out = append(out, x)
	}
	return out, nil
}

func begins(day string) time.Time {
	t, _ := tenancy.DayBegins(day)
	return t
}
