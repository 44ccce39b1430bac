package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/seal"
	"ringi/shared/store/table"
)

var (
	march1  = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	march15 = march1.AddDate(0, 0, 14)
	may2    = time.Date(2026, 5, 2, 6, 0, 0, 0, time.UTC)
)

// auditEntry is the n-th entry: every third one is by Ringi itself, every second one is an approval.
func auditEntry(owner string, n int, when time.Time) aggregate.AuditEntry {
	x := aggregate.AuditEntry{ID: fmt.Sprintf("%026d", n), TenantID: owner, Timestamp: when,
		ActorType: aggregate.ActorUser, ActorID: fmt.Sprintf("U%d", n%3),
		Action: []aggregate.Action{task.AuditPromptApproved, task.AuditPromptRejected}[n%2], ResourceType: "prompt",
		ResourceID: fmt.Sprintf("p%d", n), AggregateID: fmt.Sprintf("t%d", n%7), Details: `{"version":1}`}
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
		{"until far ahead", AuditFilter{To: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)},
			func(aggregate.AuditEntry) bool { return true }},
		{"by action", AuditFilter{Action: task.AuditPromptRejected},
			func(x aggregate.AuditEntry) bool { return x.Action == task.AuditPromptRejected }},
		{"by task", AuditFilter{Resource: "t3"}, func(x aggregate.AuditEntry) bool { return x.AggregateID == "t3" }},
		{"by everything", AuditFilter{Action: task.AuditPromptApproved, Resource: "t3", From: march15,
			To: may2}, func(x aggregate.AuditEntry) bool {
			return x.Action == task.AuditPromptApproved && x.AggregateID == "t3" &&
				!x.Timestamp.Before(march15) && x.Timestamp.Before(may2)
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
	t.Run("an entry is never written over", func(t *testing.T) { testAuditNotWrittenOver(t, st, all) })
	t.Run("bounds are named", func(t *testing.T) { testAuditBounds(t, st) })
}

func testAuditOutsideTasks(t *testing.T, st *taskStore) {
	saved := expect.Value(st.SaveToolPermission(t.Context(),
		tenancy.ToolPermission{TenantID: tenant, ToolName: "send_slack_dm"}, approver(), at()))(t)
	p, err := st.Audit(t.Context(), tenant, AuditFilter{Resource: saved.ID}, "", 10)
	expect.That(t, err == nil && len(p.Items) == 1 && p.Items[0].Action == tenancy.AuditToolPermissionUpdated, "%+v, %v",
		p.Items, err)
}

func testAuditBounds(t *testing.T, st *taskStore) {
	wantField(t, expect.Err(st.Audit(t.Context(), tenant, AuditFilter{From: may2, To: march15}, "", 10)), "from")
	mine := expect.Value(st.Audit(t.Context(), tenant, AuditFilter{}, "", 5))(t)
	wantField(t, expect.Err(st.Audit(t.Context(), "01OTHER", AuditFilter{}, mine.Next, 5)), "cursor")
	wantField(t, expect.Err(st.Audit(t.Context(), tenant, AuditFilter{Action: task.AuditPromptApproved}, mine.Next, 5)),
		"cursor")
}

func testAuditNotWrittenOver(t *testing.T, st *taskStore, all []aggregate.AuditEntry) {
	x := all[0]
	x.Action = task.AuditTaskExpired
	a := loaded(t, st, created(t, st, 1))
	c := expect.Value(extract(a))(t)
	c.Audit = []aggregate.AuditEntry{x}
	again := st.over(nil)
	again.newID = func() string { return x.ID }
	wantError(t, expect.Err(again.Commit(t.Context(), a, c)), aggregate.ErrConflict)
	h, err := st.Head(t.Context(), a.Ref())
	expect.That(t, err == nil && h.Rev == 1, "the head is at rev %d without its entry, %v", h.Rev, err)
}

func testChain(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"of many who append at once one is next", testAppendRace},
		{"a link that is appended twice stands once", testAppendTwice},
		{"all chains are found, and what was done with them only moves forward", testChainNotes},
	})
}

var chainSalt = strings.Repeat("0a", 32)

func link(t *testing.T, st *taskStore, tenant string, rows ...chain.Row) chain.Link {
	t.Helper()
	is := expect.Value(st.Chain(t.Context(), tenant))(t)
	l := expect.Value(chain.Next(is.Head, chainSalt, rows, at()))(t)
	l.Signature = []byte("signed")
	return l
}

func testAppendRace(t *testing.T, st *taskStore) {
	for n := range 3 {
		var links []chain.Link
		for i := range 8 {
			links = append(links, link(t, st, "01RACE", chain.Row{Key: fmt.Sprint("AUDIT#", i)}))
		}
		won, lost := atOnce(t, 8, func(i int) error { return st.AppendLink(t.Context(), links[i]) }, aggregate.ErrConflict)
		expect.That(t, won == 1 && lost == 7, "%d are link %d, %d came too late", won, n+1, lost)
	}
	previous := ""
	n := 0
	for l, err := range st.Links(t.Context(), "01RACE", 0) {
		expect.NoError(t, err)
		if n++; l.Seq != n || l.Previous != previous {
			t.Errorf("link %d: %+v", n, l)
		}
		previous = l.ID()
	}
	expect.That(t, n == 3, "%d links", n)
}

func testAppendTwice(t *testing.T, st *taskStore) {
	l := link(t, st, "01TWICE", chain.Row{Key: "AUDIT#1"})
	expect.NoError(t, st.AppendLink(t.Context(), l))
	expect.NoError(t, st.AppendLink(t.Context(), l))
	is := expect.Value(st.Chain(t.Context(), "01TWICE"))(t)
	expect.That(t, is.Seq == 1 && is.Link == l.ID(), "%+v", is)
}

func testChainNotes(t *testing.T, st *taskStore) {
	expect.NoError(t, st.AppendLink(t.Context(), link(t, st, "01NOTES")))
	for _, seq := range []int{1, 7, 3, 7} {
		expect.NoError(t, st.HeadKept(t.Context(), "01NOTES", seq, at().Add(time.Duration(seq)*time.Hour)))
	}
	for _, hours := range []time.Duration{2, 1} {
		expect.NoError(t, st.ChainChecked(t.Context(), "01NOTES", at().Add(hours*time.Hour)))
	}
	found := false
	for is, err := range st.Chains(t.Context()) {
		expect.NoError(t, err)
		if is.Tenant == "01NOTES" {
			found = is.Kept == 7 && is.KeptAt.Equal(at().Add(7*time.Hour)) && is.Checked.Equal(at().Add(2*time.Hour)) &&
				is.Seq == 1
		}
	}
	expect.That(t, found, "the chain is not found with its notes")
	gone(t, "a note on no chain", st.HeadKept(t.Context(), "01NOBODY", 1, at()))
	_, err := st.Chain(t.Context(), "a#b")
	gone(t, "a tenant that is none", err)
}

// An item's sealed text must not depend on how the item was read, and different items must have different texts.
func TestItemsThatDifferAreSealedDifferently(t *testing.T) {
	seen := []string{}
	for _, v := range []types.AttributeValue{
		table.Text("1"), table.Number(1), &types.AttributeValueMemberBOOL{Value: true}, table.Text("true"),
		&types.AttributeValueMemberNULL{Value: true},
		&types.AttributeValueMemberL{Value: []types.AttributeValue{table.Text("1")}},
		&types.AttributeValueMemberSS{Value: []string{"1"}}, &types.AttributeValueMemberNS{Value: []string{"1"}},
		&types.AttributeValueMemberM{Value: table.Item{"a": table.Text("1")}},
		&types.AttributeValueMemberM{Value: table.Item{"a": table.Number(1)}},
		&types.AttributeValueMemberB{Value: []byte("1")}, &types.AttributeValueMemberN{Value: "1.0"},
	} {
		r := expect.Value(seal.SealedRow(table.Item{"PK": table.Text("AUDIT#T#2026-04"),
			"SK": table.Text("2026-04-18T14:30:00.000Z#1"), "v": v}))(t)
		expect.That(t, !slices.Contains(seen, string(r.Content)) && r.At.Equal(at()), "%T %v: %s at %v", v, v, r.Content,
			r.At)
		seen = append(seen, string(r.Content))
	}
	for _, sk := range []string{"2026-03-18T14:30:00.000Z#1", "yesterday", ""} {
		r := expect.Value(seal.SealedRow(table.Item{"PK": table.Text("AUDIT#T#2026-04"), "SK": table.Text(sk)}))(t)
		expect.That(t, r.At.IsZero(), "%q in April is of %v", sk, r.At)
	}
}
