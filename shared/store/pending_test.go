package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func waiting(t *testing.T, st *taskStore) []WaitingItem {
	t.Helper()
	return walk(t, 2, func(cursor string) (table.Page[WaitingItem], error) {
		return st.Waiting(t.Context(), tenant, cursor, 2)
	})
}

// waitingPrompts makes tasks whose prompts wait for a decision.
func waitingPrompts(t *testing.T, st *taskStore) (refs []aggregate.Ref) {
	t.Helper()
	for n := range 5 {
		refs = append(refs, waitingPrompt(t, st, n))
	}
	return refs
}

func testPending(t *testing.T, st *taskStore) {
	refs := waitingPrompts(t, st)
	t.Run("prompts that wait are listed, the oldest first", func(t *testing.T) { testPromptsWait(t, st, refs) })
	t.Run("what is decided, cancelled or asks nobody is not", func(t *testing.T) { testDecidedWaitsNot(t, st, refs) })
	t.Run("processes and step gates are listed as what they are", func(t *testing.T) { testKindsWait(t, st, refs) })
	t.Run("another tenant has none of them", func(t *testing.T) {
		p, err := st.Waiting(t.Context(), "01OTHER", "", 10)
		expect.That(t, err == nil && len(p.Items) == 0, "%d items, %v", len(p.Items), err)
	})
	t.Run("when the settings say otherwise who decides, cards that wait are drawn anew",
		func(t *testing.T) { testRedrawnWithSettings(t, st) })
}

func testRedrawnWithSettings(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	refs := waitingPrompts(t, st)
	x := expect.Value(st.Settings(t.Context(), tenant))(t)
	shown := func() (n int) {
		for _, r := range refs {
			if headOf(t, st, r).ShownRev != 0 {
				n++
			}
		}
		return n
	}
	for _, r := range refs {
		expect.NoError(t, st.Shown(t.Context(), r, aggregate.Head{Rev: 1}))
	}
	x.MaxVersions++
	x = expect.Value(st.SaveSettings(t.Context(), tenant, x, approver(), at()))(t)
	expect.Must(t, shown() == len(refs), "%d of %d tasks stay as they are", shown(), len(refs))
	x.AllowSelfApproval = !x.AllowSelfApproval
	expect.Value(st.SaveSettings(t.Context(), tenant, x, approver(), at()))(t)
	expect.Must(t, shown() == 0, "%d of %d tasks still show who could decide before", shown(), len(refs))
}

func testPromptsWait(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	var got []string
	for _, x := range waiting(t, st) {
		got = append(got, x.Ref.ID)
		expect.That(t, x.Kind == task.CardPrompt && x.Key == "PROMPT#0001" && x.Version == 1 && x.ID != "" &&
			x.DecideBy != nil && !x.CreatedAt.IsZero(), "%+v", x)
	}
	var want []string
	for _, r := range refs {
		want = append(want, r.ID)
	}
	expect.Same(t, want, got)
}

func testDecidedWaitsNot(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	decided(t, st, refs[0], approvePrompt)
	decided(t, st, refs[1], rejectPrompt)
	decided(t, st, refs[2], cancel)
	unasked := created(t, st, 10)
	decided(t, st, unasked, extract, beginPrompt, func(a *task.Aggregate) (aggregate.Change, error) {
		settings := tenancy.DefaultSettings()
		settings.PromptApprovalRequired = false
		return a.FinishPrompt(a.Head.Run, "方針", settings, at())
	})
	var got []string
	for _, x := range waiting(t, st) {
		got = append(got, x.Ref.ID)
	}
	expect.Same(t, []string{refs[3].ID, refs[4].ID}, got)
}

func testKindsWait(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	decided(t, st, refs[0], beginProcess, finishProcess(2))
	decided(t, st, refs[3], approvePrompt, beginProcess, finishProcess(1), approveProcess, start,
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: "{}"}, aggregate.HashOf("{}"), nil, at())
		})
	kinds := map[string]WaitingItem{}
	for _, x := range waiting(t, st) {
		kinds[x.Ref.ID] = x
	}
	if got := kinds[refs[0].ID]; got.Kind != task.CardProcess || got.Version != 1 {
		t.Errorf("%+v, want a process", got)
	}
	got := kinds[refs[3].ID]
	expect.That(t, got.Kind == task.CardStep && got.StepID == "step-1", "%+v, want a step", got)
}

const owing = "U0OWES"

// owedGate returns the n-th gate, whose first stage asks owing, and whose second another.
func owedGate(n int) *task.Process {
	since := at().Add(time.Duration(n/4) * time.Second)
	desk := func(user string) circulation.Stage {
		return circulation.Stage{Name: user, Mode: circulation.ModePeople, Need: 1,
			People: []circulation.Person{{User: user}}}
	}
	return &task.Process{ID: fmt.Sprintf("P%04d", n), Version: 1, CreatedAt: since, Gate: aggregate.Gate{
		Status: aggregate.PendingApproval, AskedAt: &since, AskedSum: "hash",
		Terms: aggregate.Terms{ApprovalHours: 72, Rule: &circulation.Rule{ID: "r1", Name: "すべて", Revision: 1}},
		Route: &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{desk(owing), desk("U0NEXT")}},
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
	const many = 500
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
