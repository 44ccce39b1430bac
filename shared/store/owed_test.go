package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

const owing = "U0OWES"

// owedGate returns the n-th gate, whose first stage asks owing, and whose second another.
func owedGate(n int) *task.Process {
	since := at().Add(time.Duration(n/4) * time.Second)
	desk := func(user string) circulation.Stage {
		return circulation.Stage{Name: user, Mode: circulation.ModePeople, Need: 1,
			People: []circulation.Person{{User: user}}}
	}
	return &task.Process{ID: fmt.Sprintf("P%04d", n), Version: 1, CreatedAt: since, Gate: aggregate.Gate{
		Status: aggregate.PendingApproval, AskedAt: &since, Asked: "hash",
		Terms: aggregate.Terms{ApprovalHours: 72, Rule: &circulation.Rule{ID: "r1", Name: "すべて", Revision: 1}},
		Route: &circulation.Route{Form: circulation.Form, Hands: 2, Stages: []circulation.Stage{desk(owing), desk("U0NEXT")}},
	}}
}

// owedRows returns the rows of a gate and of a copy that says that somebody owes its first stage a stamp.
func owedRows(t *testing.T, owner string, n int, user string, p *task.Process) []table.Item {
	t.Helper()
	ref := task.RefOf(owner, expect.Value(task.ID("T0TEAM", owner, request(n).MessageTS))(t))
	pk := "TASK#" + owner + "#" + ref.ID
	h := task.Head{Head: aggregate.Head{TenantID: owner, Rev: 2, Requester: requester}, TaskID: ref.ID}
	c := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: user, Stage: 1, OwedSince: p.AskedAt}
	it := expect.Value(table.Pack(c.Type(), pk, c.Key(), c))(t)
	table.Index(it, 2, aggregate.OwedBy(owner, user), aggregate.TimeText(*p.AskedAt))
	return []table.Item{expect.Value(packRow(taskKind(), &h, pk, p, 2))(t), it}
}

// writeOwed writes many gates of which some don't wait for the person any more, though their entries say so, and
// returns the ids of those that do.
func writeOwed(t *testing.T, st *taskStore, many int) (want []string) {
	t.Helper()
	var items []table.Item
	for n := range many {
		p := owedGate(n)
		switch who := (circulation.Person{User: owing}); n % 7 {
		case 1:
			p.Gate = expect.Value(p.Gate.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: who,
				Principal: who, At: at().Add(time.Hour), Stage: 1, Hash: "hash", Surface: "slack"}))(t)
		case 2:
			p.Status = aggregate.Cancelled
		case 3:
			p.Route.Form = circulation.Form + 1
		case 4: // its row is gone
			items = append(items, owedRows(t, tenant, n, owing, p)[1])
			continue
		default:
			want = append(want, p.ID)
		}
		items = append(items, owedRows(t, tenant, n, owing, p)...)
	}
	items = append(items, owedRows(t, "01OTHER", many, owing, owedGate(many))...)
	write(t, st, append(items, owedRows(t, tenant, many+1, "U0NEXT", owedGate(many+1))...)...)
	return want
}

func testOwed(t *testing.T, st *taskStore) {
	const many = 1100
	want := writeOwed(t, st, many)
	for _, limit := range []int{100, 37} {
		t.Run(fmt.Sprint("what is owed comes once each, the oldest first, in pages of ", limit), func(t *testing.T) {
			calls := &counter{}
			over, pages := st.over(calls), int32(0)
			var got []string
			for cursor := ""; ; {
				p := expect.Value(over.Owed(t.Context(), tenant, owing, cursor, limit))(t)
				pages++
				for i, x := range p.Items {
					expect.Must(t, i == 0 || !x.CreatedAt.Before(p.Items[i-1].CreatedAt), "%s is older than the one before it", x.ID)
					expect.Must(t, x.Ref.Tenant == tenant && x.Kind == task.CardProcess && x.Key == "PROCESS#0001", "%+v", x)
					got = append(got, x.ID)
				}
				expect.Must(t, len(p.Items) <= limit && p.Looked <= limit, "%d of %d", len(p.Items), p.Looked)
				if cursor = p.Next; cursor == "" {
					break
				}
			}
			expect.Same(t, len(want), len(got))
			expect.That(t, slices.Equal(slices.Sorted(slices.Values(got)), want), "%v", got)
			expect.That(t, calls.calls.Load() == 2*pages && pages == (many+int32(limit)-1)/int32(limit),
				"%d calls for %d pages", calls.calls.Load(), pages)
		})
	}
	t.Run("a page leads back", func(t *testing.T) {
		first := expect.Value(st.Owed(t.Context(), tenant, owing, "", 10))(t)
		second := expect.Value(st.Owed(t.Context(), tenant, owing, first.Next, 10))(t)
		back := expect.Value(st.Owed(t.Context(), tenant, owing, second.Prev, 10))(t)
		expect.Same(t, first.Items, back.Items)
	})
	t.Run("nobody else has any of it", func(t *testing.T) {
		calls := &counter{}
		p, err := st.over(calls).Owed(t.Context(), tenant, "U0NOBODY", "", 100)
		expect.That(t, err == nil && len(p.Items) == 0 && calls.calls.Load() == 1, "%v, %v", p, err)
		p, err = st.Owed(t.Context(), tenant, "U0NEXT", "", 100)
		expect.That(t, err == nil && len(p.Items) == 0, "a late entry of the first stage: %v, %v", p, err)
		_, err = st.Owed(t.Context(), tenant, "U#"+owing, "", 100)
		wantError(t, err, aggregate.ErrNotFound)
	})
	t.Run("a cursor is good for one person's list", func(t *testing.T) {
		p := expect.Value(st.Owed(t.Context(), tenant, owing, "", 10))(t)
		_, err := st.Owed(t.Context(), tenant, "U0NEXT", p.Next, 10)
		wantField(t, err, "cursor")
		_, err = st.Owed(t.Context(), "01OTHER", owing, p.Next, 10)
		wantField(t, err, "cursor")
		_, err = st.Waiting(t.Context(), tenant, p.Next, 10)
		wantField(t, err, "cursor")
	})
	t.Run("a limit is from 1 to a hundred", func(t *testing.T) {
		for _, limit := range []int{0, 101} {
			_, err := st.Owed(t.Context(), tenant, owing, "", limit)
			wantField(t, err, "limit")
		}
	})
}
