package consoletest

import (
	"context"
	"regexp"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/auditlog"
)

// Exporter records the exports it is asked for.
type Exporter struct {
	Begun  []string
	Broken error
}

func (e *Exporter) Begin(_ context.Context, tenant, export string) error {
	e.Begun = append(e.Begun, tenant+" "+export)
	return e.Broken
}

func (e *Exporter) Link(_ context.Context, x auditlog.Export) (string, error) {
	return "https://files.example/" + x.Key, nil
}

// Record commits audit entries without the changes they describe.
func (w *World) Record(entries ...aggregate.AuditEntry) {
	w.T.Helper()
	w.Ask()
	for part := range slices.Chunk(entries, 90) { // a transaction has at most 100 actions
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			head := a.Head
			return aggregate.Change{Head: &head, Now: w.Now(), Audit: part}, nil
		})
	}
}

var Dangerous = regexp.MustCompile(`(?i)<(script|img|svg|iframe|style|base|math|form action="https)|<meta http-equiv|(href|src)="\s*javascript:`)
