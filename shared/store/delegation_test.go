package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func setBy(user string, admin bool) tenancy.Setter {
	return tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: user}, Admin: admin}
}

// away returns that hand stands in for principal for ten days from a day on.
func away(owner, hand, principal string, from int) tenancy.Delegation {
	day := tenancy.DateOf(at().In(tenancy.Zone())) + tenancy.Date(from)
	return tenancy.Delegation{TenantID: owner, Hand: hand, Principal: principal, From: day, Until: day + 9}
}

func testDelegations(t *testing.T, st *taskStore) {
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0AWAY"), at()))(t).ID
	var told []aggregate.Ref
	tell := func(d tenancy.Delegation) (out []Notice) {
		for _, user := range []string{d.Hand, d.Principal} {
			c, ref := task.TellStandIn(d, "T0AWAY", user, "D"+user, at())
			out, told = append(out, Notice{ref, c}), append(told, ref)
		}
		return out
	}
	set := func(d tenancy.Delegation, by string) (tenancy.Delegation, error) {
		return st.SetDelegation(t.Context(), d, setBy(by, false), at(), tell)
	}
	first := expect.Value(set(away(owner, "U2", "U1", 0), "U1"))(t)
	for _, ref := range told {
		expect.Value(st.Head(t.Context(), ref))(t)
	}
	expect.That(t, len(told) == 2 && told[0] != told[1] && len(auditOfTenant(t, st, owner)) == 1, "told %v", told)
	_, err := set(away(owner, "U2", "U1", 0), "U1")
	expect.That(t, err == nil && len(told) == 2, "the same again tells nobody: %v", err)
	expect.Value(set(away(owner, "U2", "U3", 5), "U3"))(t)
	expect.NoError(t, expect.Err(set(away(owner, "U22", "U1", 1), "U1"))) // an account that begins as another
	expect.Value(st.SetDelegation(t.Context(), away("01OTHER", "U2", "U1", 0), setBy("U1", false), at(), nil))(t)

	by := expect.Value(st.StandIns(t.Context(), owner, "U2"))(t)
	expect.That(t, len(by) == 2 && by[0].Key == first.Key() && by[0].Rev == 1 && by[1].Principal.User == "U3", "%+v", by)
	of := expect.Value(st.DelegationsOf(t.Context(), owner, "U1"))(t)
	expect.That(t, len(of) == 2 && of[0].Hand == "U2" && of[1].Hand == "U22", "%+v", of)
	expect.Is(t, len(expect.Value(st.Delegations(t.Context(), owner))(t)), 3, "all")
	for _, no := range []string{"", "U2#U1"} {
		expect.Fails(t, expect.Err(st.StandIns(t.Context(), owner, no)), aggregate.ErrNotFound, "the hand %q", no)
		expect.Fails(t, expect.Err(st.DelegationsOf(t.Context(), owner, no)), aggregate.ErrNotFound, "the principal %q", no)
	}

	told = nil
	ended, err := st.EndDelegation(t.Context(), first, setBy("U9", true), at().Add(time.Minute), tell)
	expect.That(t, err == nil && ended.Rev == 2 && ended.EndedBy == "U9" && len(told) == 2, "%+v, %v, %v", ended, told,
		err)
	_, err = st.EndDelegation(t.Context(), first, setBy("U1", false), at().Add(2*time.Minute), tell)
	expect.That(t, err == nil && len(told) == 2, "ended twice: %v", err)
	expect.Fails(t, expect.Err(st.EndDelegation(t.Context(), away(owner, "U7", "U1", 0), setBy("U1", false), at(), nil)),
		aggregate.ErrNotFound, "none")
	_, err = st.SetDelegation(t.Context(), away(owner, "U2", "U1", 0), setBy("U2", true), at(), tell)
	var bad aggregate.Problem
	expect.That(t, errors.As(err, &bad) && len(told) == 2, "refused: %v", err)
	again, err := st.SetDelegation(t.Context(), away(owner, "U2", "U1", 0), setBy("U1", false), at().Add(3*time.Minute),
		tell)
	expect.That(t, err == nil && again.Rev == 3 && len(told) == 4, "set again the same day: %+v, %v, %v", again, told, err)
	by = expect.Value(st.StandIns(t.Context(), owner, "U2"))(t)
	expect.That(t, by[0].Rev == 3 && by[0].Counts(again.SetAt) && !by[0].Counts(at().Add(2*time.Minute)), "%+v", by[0])
	expect.Value(st.EndDelegation(t.Context(), again, setBy("U1", false), at().Add(4*time.Minute), tell))(t)
	for _, ref := range told {
		expect.Value(st.Head(t.Context(), ref))(t)
	}
	slices.SortFunc(told, func(a, b aggregate.Ref) int { return cmp.Compare(a.ID, b.ID) })
	expect.Is(t, len(slices.Compact(told)), 6, "told of two ends and of what was set between them")
}

// An act that a delegation lets somebody make is not committed if the delegation ended, changed or never was.
func testDelegationBeside(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	owner := ref.Tenant
	d := expect.Value(st.SetDelegation(t.Context(), away(owner, "U2", "U1", 0), setBy("U1", false), at(), nil))(t)
	move := func(o aggregate.Owned) error {
		is := loaded(t, st, ref)
		head := is.Head
		c := aggregate.Change{Head: &head, Now: at(), Owned: []aggregate.Owned{o}}
		_, err := st.Store.Commit(t.Context(), is, c)
		return err
	}
	on := aggregate.Owned{Partition: tenancy.DelegatePrefix, Key: d.Key(), Rev: d.Rev}
	expect.NoError(t, move(on))
	ended := errors.New("ended")
	for name, o := range map[string]aggregate.Owned{
		"of the tenant's own partition": {Key: d.Key(), Rev: d.Rev},
		"of another key":                {Partition: tenancy.DelegatePrefix, Key: "U2#U3#" + d.From.String(), Rev: 1},
		"of a later revision":           {Partition: tenancy.DelegatePrefix, Key: d.Key(), Rev: 2},
	} {
		expect.Fails(t, move(o), aggregate.ErrConflict, "%s", name)
		o.Err = ended
		expect.Fails(t, move(o), ended, "%s", name)
	}
	expect.Value(st.EndDelegation(t.Context(), d, setBy("U1", false), at(), nil))(t)
	expect.Fails(t, move(on), aggregate.ErrConflict, "ended beside it")
	d = expect.Value(st.SetDelegation(t.Context(), d, setBy("U1", false), at().Add(time.Minute), nil))(t)
	expect.Fails(t, move(on), aggregate.ErrConflict, "set again beside it")
	on.Rev = d.Rev
	expect.NoError(t, move(on))
}

// A delegation is set with its entry and its notices, or not at all, wherever the process dies.
func testDelegationCrash(t *testing.T, st *taskStore) {
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0CRASH"), at()))(t).ID
	var ref aggregate.Ref
	tell := func(d tenancy.Delegation) []Notice {
		c, of := task.TellStandIn(d, "T0CRASH", "U1", "D1", at())
		ref = of
		return []Notice{{of, c}}
	}
	d := away(owner, "U2", "U1", 0)
	for i, over := range []*taskStore{
		st.over(unreachable{}, oneTry), st.over(dropping("TransactWriteItems", 100), oneTry), st,
	} {
		_, err := over.SetDelegation(t.Context(), d, setBy("U1", false), at(), tell)
		_, gone := st.Delegation(t.Context(), d)
		_, untold := st.Head(t.Context(), ref)
		entries := len(auditOfTenant(t, st, owner))
		want := []string{"false false 0", "true true 1", "true true 1"}[i]
		expect.Is(t, fmt.Sprint(gone == nil, untold == nil, entries), want, "%d: %v", i, err)
		expect.That(t, (err == nil) == (i == 2), "%d: %v", i, err)
	}
}

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
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, settings, at())
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
	got := kinds[refs[0].ID]
	expect.That(t, got.Kind == task.CardProcess && got.Version == 1, "%+v, want a process", got)
	got = kinds[refs[3].ID]
	expect.That(t, got.Kind == task.CardStep && got.StepID == "step-1", "%+v, want a step", got)
}
