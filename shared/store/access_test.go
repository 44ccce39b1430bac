package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// outside asks for calls by a key, of which n tells one from another.
type outside struct {
	CallStore
	key tenancy.Key
}

func (o outside) ask(t *testing.T, n int) (*call.Aggregate, error) {
	t.Helper()
	members := map[string]any{"n": fmt.Sprint(n)}
	x := call.Proposal{Key: o.key, Content: call.Content{Key: o.key.ID, Answers: o.key.Answers, Tool: o.key.Tools[0]}}
	x.Content.Arguments, x.Effect, _ = call.Digest(members, nil)
	x.Terms = aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}
	c := expect.Value(x.Ask(at()))(t)
	return o.Ask(t.Context(), &x, c)
}

func testCalls(t *testing.T, st *taskStore) {
	rows := New(st.t.DB, st.t.Name, call.Kind)
	key := aKey("01CALLS")
	key.ID, key.QuotaDay = "k1", call.MaxOpen+2
	o := outside{CallsOf(rows), key}

	ids := make([]string, 32)
	atOnce(t, len(ids), func(i int) error {
		a, err := o.ask(t, 0)
		if err == nil {
			ids[i] = a.Head.CallID
		}
		return err
	}, errors.ErrUnsupported)
	expect.Is(t, len(slices.Compact(ids)), 1)
	open := func() int { return counted(t, rows.t, "01CALLS", "CALLS#k1") }
	expect.Is(t, open(), 1)

	for n := range call.MaxOpen - 1 {
		_, err := o.ask(t, n+1)
		expect.That(t, err == nil && open() == n+2, "%d: %v", n, err)
	}
	full := func(n int, why aggregate.Reason) {
		t.Helper()
		_, err := o.ask(t, n)
		is, ok := errors.AsType[aggregate.ErrFull](err)
		expect.That(t, ok && is.Reason == why, "%v", err)
	}
	full(call.MaxOpen, call.ReasonOpen)
	again, err := o.ask(t, 3)
	expect.Must(t, err == nil && open() == call.MaxOpen, "the same call is refused because there are so many: %v", err)

	for range 2 {
		_, err = o.Decide(t.Context(), again.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
			return a.Cancel("k1", at())
		})
		expect.NoError(t, err)
	}
	expect.Is(t, open(), call.MaxOpen-1)
	is, err := o.ask(t, 3)
	expect.That(t, err == nil && is.Head.CallID == again.Head.CallID && is.Call.Over(),
		"a cancelled call is asked for anew: %v", err)
	for n := range 2 {
		a, err := o.ask(t, call.MaxOpen+n)
		expect.Must(t, err == nil, "%v", err)
		expect.NoError(t, expect.Err(o.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
			return a.Cancel("k1", at())
		})))
	}
	full(call.MaxOpen+2, call.ReasonDay)

	other := key
	other.ID = "k2"
	for _, k := range []tenancy.Key{other, {ID: "k1", TenantID: "01OTHER"}} {
		_, err = o.Joined(t.Context(), k, again.Head.CallID)
		expect.Fails(t, err, aggregate.ErrNotFound)
	}
	o.threads(t, other)
	every := func(call.Call) bool { return true }
	page := expect.Value(o.Listed(t.Context(), "01CALLS", "", 100, 1000, every))(t)
	waiting := expect.Value(rows.Waiting(t.Context(), "01CALLS", "", 100))(t)
	expect.That(t, len(page.Items) == call.MaxOpen+2 && len(waiting.Items) == call.MaxOpen-1, "%d calls, %d wait",
		len(page.Items),
		len(waiting.Items))
}

// threads: a key's calls of a day stand in the thread of the first, unless it asks for another channel.
func (o outside) threads(t *testing.T, other tenancy.Key) {
	t.Helper()
	elsewhere := o.key
	elsewhere.Channel = "C0OTHER"
	page := expect.Value(o.Listed(t.Context(), o.key.TenantID, "", 1, 1, func(call.Call) bool { return true }))(t)
	pk := expect.Value(o.partition(call.RefOf(o.key.TenantID, page.Items[0].CallID)))(t)
	thread := func(k tenancy.Key, day time.Time) string { return expect.Value(o.Thread(t.Context(), k, day))(t) }
	expect.Is(t, thread(o.key, at()), "", "nothing is posted")
	for _, x := range [][2]string{{"CARD#" + string(call.Card), "message_ts"}, {call.Key, "thread_ts"}} {
		e := table.NewExpression()
		e.Set(x[1], x[1])
		expect.Value(o.Table().Update(t.Context(), table.Key(pk, x[0]), e, nil))(t)
		expect.Is(t, thread(o.key, at()), x[1])
		expect.Is(t, thread(elsewhere, at())+thread(other, at())+thread(o.key, at().AddDate(0, 0, 1)), "",
			"another channel's or key's call, or of another day")
	}
}

// aKey is a key that fits.
func aKey(tenant string) tenancy.Key {
	return tenancy.Key{TenantID: tenant, Team: "T0KEYS", Name: "経理のエージェント", Answers: "U1",
		Tools: []string{"send_slack_dm"}, Channel: "C1", QuotaDay: 100, ExpiresAt: at().AddDate(0, 3, 0)}
}

func testKeys(t *testing.T, st *taskStore) {
	admin := setBy("U9", true).Actor
	k, secret, err := st.CreateKey(t.Context(), aKey("01KEYS"), admin, at())
	expect.NoError(t, err)
	expect.That(t, strings.HasPrefix(secret, "rk_") && len(secret) == 46, "%q", secret)

	kept := fmt.Sprint(rows(t, st, "KEY#"+k.ID), auditOfTenant(t, st, "01KEYS"))
	expect.That(t, !strings.Contains(kept, secret) && !strings.Contains(kept, secret[3:]), "the secret is kept")

	expect.Same(t, k, expect.Value(st.KeyBySecret(t.Context(), secret, at()))(t))
	for _, other := range []string{"", "rk_", secret + "x", secret[:45], strings.TrimPrefix(secret, "rk_"), k.Hash,
		"rk_" + strings.Repeat("a", 4000)} {
		expect.Fails(t, expect.Err(st.KeyBySecret(t.Context(), other, at())), tenancy.ErrKey{Why: tenancy.KeyUnknown})
	}
	write(t, st, table.Item{"PK": table.Text("KEY#" + strings.Repeat("0", 32)), "SK": table.Text("KEY")})
	_, err = st.KeyBySecret(t.Context(), secret, k.ExpiresAt)
	expect.Fails(t, err, tenancy.ErrKey{Why: tenancy.KeyExpired})

	expect.Fails(t, expect.Err(st.Key(t.Context(), "01OTHERS", k.ID)), aggregate.ErrNotFound)
	expect.Same(t, []tenancy.Key{k}, expect.Value(st.Keys(t.Context(), "01KEYS"))(t))
	expect.Is(t, len(expect.Value(st.Keys(t.Context(), "01OTHERS"))(t)), 0)

	for _, noted := range []bool{true, false} { // of two at once, one
		expect.Is(t, expect.Value(st.UseKey(t.Context(), k, at()))(t), noted)
	}
	k = expect.Value(st.Key(t.Context(), "01KEYS", k.ID))(t)
	expect.That(t, k.LastUsedAt.Equal(at()) && k.Rev == 1, "%+v", k)

	k.Name = "別の締め"
	is := expect.Value(st.SaveKey(t.Context(), k, admin, at()))(t)
	expect.Fails(t, expect.Err(st.SaveKey(t.Context(), k, admin, at())), aggregate.ErrConflict)
	expect.Is(t, is.Rev, 2)

	expect.Fails(t, st.RevokeKey(t.Context(), "01OTHERS", k.ID, admin, at()), aggregate.ErrNotFound)
	stays := aKey("01KEYS")
	stays.Answers = "U0TANAKA"
	stays, _, err = st.CreateKey(t.Context(), stays, admin, at())
	expect.NoError(t, err)
	for _, n := range []int{1, 0} { // repeated
		expect.Is(t, expect.Value(st.RevokeKeysOf(t.Context(), "01KEYS", k.Answers, at().Add(time.Hour)))(t), n)
	}
	expect.NoError(t, expect.Value(st.Key(t.Context(), "01KEYS", stays.ID))(t).Stands(at()))
	for range 2 {
		expect.NoError(t, st.RevokeKey(t.Context(), "01KEYS", k.ID, aggregate.System(), at().Add(time.Hour)))
	}
	expect.Fails(t, expect.Err(st.KeyBySecret(t.Context(), secret, at())), tenancy.ErrKey{Why: tenancy.KeyRevoked})
	var did []string
	for _, x := range auditOfTenant(t, st, "01KEYS") {
		did = append(did, string(x.Action))
	}
	expect.Same(t, []string{"key.created", "key.updated", "key.created", "key.revoked"}, did)
}

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
	expect.That(t, errors.As(err, new(aggregate.Problem)) && len(told) == 2, "refused: %v", err)
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
		st.over(unreachable(), oneTry), st.over(dropping("TransactWriteItems", 100), oneTry), st,
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
