package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

var (
	march1  = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	march15 = march1.AddDate(0, 0, 14)
	may2    = time.Date(2026, 5, 2, 6, 0, 0, 0, time.UTC)
)

// auditEntry is the n-th entry: every third one is by Ringi itself, every second one is an approval.
func auditEntry(owner string, n int, when time.Time) aggregate.AuditEntry {
	x := aggregate.AuditEntry{
		ID: fmt.Sprintf("%026d", n), TenantID: owner, Timestamp: when, ActorType: aggregate.ActorUser, ActorID: fmt.Sprintf("U%d", n%3),
		Action: []aggregate.Action{task.AuditPromptApproved, task.AuditPromptRejected}[n%2], ResourceType: "prompt", ResourceID: fmt.Sprintf("p%d", n),
		AggregateID: fmt.Sprintf("t%d", n%7), Details: `{"version":1}`,
	}
	if n%3 == 0 {
		x.ActorType, x.ActorID = aggregate.ActorSystem, ""
	}
	return x
}

// writeAudit writes an entry every twelve hours over four months, the last two with the same time, and one entry of
// another tenant.
func writeAudit(t *testing.T, st *taskStore) (all []aggregate.AuditEntry) {
	t.Helper()
	const entries = 240
	items := []table.Item{expect.Value(table.PackAudit(auditEntry("01OTHER", 1, march1)))(t)}
	for n := range entries + 1 {
		x := auditEntry(tenant, n, march1.Add(time.Duration(min(n, entries-1))*12*time.Hour))
		items, all = append(items, expect.Value(table.PackAudit(x))(t)), append(all, x)
	}
	write(t, st, items...)
	return all
}

func testAudit(t *testing.T, st *taskStore) {
	st.t.Now = func() time.Time { return time.Date(2026, 7, 2, 0, 0, 0, 0, time.UTC) }
	all := writeAudit(t, st)
	for _, c := range []struct {
		name   string
		filter AuditFilter
		keep   func(aggregate.AuditEntry) bool
	}{
		{"all", AuditFilter{}, func(aggregate.AuditEntry) bool { return true }},
		{"from a time", AuditFilter{From: may2}, func(x aggregate.AuditEntry) bool { return !x.Timestamp.Before(may2) }},
		{"until a time", AuditFilter{To: may2}, func(x aggregate.AuditEntry) bool { return x.Timestamp.Before(may2) }},
		{"between times, across months", AuditFilter{From: march15, To: may2}, func(x aggregate.AuditEntry) bool {
			return !x.Timestamp.Before(march15) && x.Timestamp.Before(may2)
		}},
		{"until far ahead", AuditFilter{To: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)}, func(aggregate.AuditEntry) bool { return true }},
		{"by action", AuditFilter{Action: task.AuditPromptRejected}, func(x aggregate.AuditEntry) bool { return x.Action == task.AuditPromptRejected }},
		{"by task", AuditFilter{Resource: "t3"}, func(x aggregate.AuditEntry) bool { return x.AggregateID == "t3" }},
		{"by person", AuditFilter{Actor: "U2"}, func(x aggregate.AuditEntry) bool { return x.ActorID == "U2" }},
		{"by Ringi itself", AuditFilter{Actor: "system"}, func(x aggregate.AuditEntry) bool { return x.ActorType == aggregate.ActorSystem }},
		{"by everything", AuditFilter{Actor: "U1", Action: task.AuditPromptApproved, Resource: "t3", From: march15, To: may2}, func(x aggregate.AuditEntry) bool {
			return x.ActorID == "U1" && x.Action == task.AuditPromptApproved && x.AggregateID == "t3" && !x.Timestamp.Before(march15) && x.Timestamp.Before(may2)
		}},
		{"of a time without any", AuditFilter{To: march1}, func(aggregate.AuditEntry) bool { return false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []aggregate.AuditEntry
			for i := len(all) - 1; i >= 0; i-- {
				if c.keep(all[i]) {
					want = append(want, all[i])
				}
			}
			for _, limit := range []int{30, 100} {
				got := walk(t, limit, func(cursor string) (table.Page[aggregate.AuditEntry], error) {
					return st.Audit(t.Context(), tenant, c.filter, cursor, limit)
				})
				diff := cmp.Diff(want, got)
				expect.That(t, diff == "", "in pages of %d: %s", limit, diff)
			}
		})
	}

	t.Run("entries outside of tasks are found by their own resource", func(t *testing.T) { testAuditOutsideTasks(t, st) })
	t.Run("what Ringi did is found by who asked for it", func(t *testing.T) { testAuditAskedFor(t, st, all) })
	t.Run("an entry is never written over", func(t *testing.T) { testAuditNotWrittenOver(t, st, all) })
	t.Run("bounds are named", func(t *testing.T) { testAuditBounds(t, st) })
}

func testAuditAskedFor(t *testing.T, st *taskStore, others []aggregate.AuditEntry) {
	entry := func(n int) aggregate.AuditEntry {
		return aggregate.AuditEntry{
			ID: fmt.Sprintf("%026d", 9000+n), TenantID: tenant, Timestamp: may2.Add(time.Duration(n) * time.Second), ActorType: aggregate.ActorSystem,
			Action: task.AuditTaskCreated, ResourceType: "task", ResourceID: "asked", AggregateID: "asked", Details: `{"requester":"U9"}`,
		}
	}
	now := entry(2)
	write(t, st, expect.Value(table.PackAudit(now))(t))
	system := 1
	for _, x := range others {
		if x.ActorType == aggregate.ActorSystem {
			system++
		}
	}
	ids := func(f AuditFilter) (out []string) {
		for _, x := range walk(t, 30, func(cursor string) (table.Page[aggregate.AuditEntry], error) {
			return st.Audit(t.Context(), tenant, f, cursor, 30)
		}) {
			out = append(out, x.ID)
		}
		return out
	}
	expect.Same(t, []string{now.ID}, ids(AuditFilter{Actor: "U9"}))
	expect.Same(t, []string{now.ID}, ids(AuditFilter{Actor: "U9", Action: task.AuditTaskCreated}))
	expect.Same(t, []string{now.ID}, ids(AuditFilter{Actor: "U9", Resource: "asked"}))
	expect.Same(t, []string{now.ID}, ids(AuditFilter{Actor: "system", Resource: "asked"}))
	expect.Same(t, []string{now.ID}, ids(AuditFilter{Actor: "system", Action: task.AuditTaskCreated}))
	expect.Is(t, len(ids(AuditFilter{Actor: "system"})), system, "entries by Ringi itself")
}

func testAuditOutsideTasks(t *testing.T, st *taskStore) {
	saved := expect.Value(st.SaveToolPermission(t.Context(), tenancy.ToolPermission{TenantID: tenant, ToolName: "send_slack_dm"}, approver(), at()))(t)
	p, err := st.Audit(t.Context(), tenant, AuditFilter{Resource: saved.ID}, "", 10)
	if err != nil || len(p.Items) != 1 || p.Items[0].Action != tenancy.AuditToolPermissionUpdated {
		t.Errorf("%+v, %v", p.Items, err)
	}
}

func testAuditBounds(t *testing.T, st *taskStore) {
	wantField(t, second(st.Audit(t.Context(), tenant, AuditFilter{From: may2, To: march15}, "", 10)), "from")
	mine := expect.Value(st.Audit(t.Context(), tenant, AuditFilter{}, "", 5))(t)
	wantField(t, second(st.Audit(t.Context(), "01OTHER", AuditFilter{}, mine.Next, 5)), "cursor")
	wantField(t, second(st.Audit(t.Context(), tenant, AuditFilter{Action: task.AuditPromptApproved}, mine.Next, 5)), "cursor")
}

func testAuditNotWrittenOver(t *testing.T, st *taskStore, all []aggregate.AuditEntry) {
	x := all[0]
	x.Action = task.AuditTaskExpired
	a := loaded(t, st, created(t, st, 1))
	c := expect.Value(extract(a))(t)
	c.Audit = []aggregate.AuditEntry{x}
	again := st.over(nil)
	again.newID = func() string { return x.ID }
	wantError(t, second(again.Commit(t.Context(), a, c)), aggregate.ErrConflict)
	h, err := st.Head(t.Context(), a.Ref())
	expect.That(t, err == nil && h.Rev == 1, "the head is at rev %d without its entry, %v", h.Rev, err)
}
