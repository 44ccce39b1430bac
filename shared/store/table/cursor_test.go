package table

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// FuzzCursor checks that any text is either refused as a cursor or leads into its own list.
func FuzzCursor(f *testing.F) {
	lists := []List{
		{Name: "tasks", Tenant: "t", Prefixes: []string{"TASK#"}, Index: "GSI1", Partitions: []string{task.AllOf("t")}},
		{Name: "audit", Tenant: "t", Prefixes: []string{"AUDIT#"}, Partitions: []string{"AUDIT#t#2026-04", "AUDIT#t#2026-03"}},
	}
	f.Add("")
	f.Add(lists[0].behind(Item{"PK": Text("TASK#t#1"), "SK": Text("TASK"), "GSI1PK": Text(task.AllOf("t")), "GSI1SK": Text("x")}).text())
	f.Add(lists[1].behind(Item{"PK": Text("AUDIT#t#2026-03"), "SK": Text("x")}).text())
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, l := range lists {
			p, err := l.readCursor(cursor)
			var bad aggregate.ErrField
			if err != nil {
				expect.That(t, errors.As(err, &bad) && bad.Field == "cursor", "%v, want ErrField of cursor", err)
				continue
			}
			at, start := l.resume(p)
			if at < 0 || at >= len(l.Partitions) || !strings.HasPrefix(TextOf(start, "PK"), l.owners()[0]) {
				t.Errorf("it leads to partition %d and key %v", at, start)
			}
		}
	})
}
