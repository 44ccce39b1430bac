package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
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

	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]bool{}
	for range 32 { // at once
		all.Go(func() {
			a, err := o.ask(t, 0)
			mu.Lock()
			defer mu.Unlock()
			if expect.That(t, err == nil, "%v", err); err != nil {
				return
			}
			ids[a.Head.CallID] = true
		})
	}
	all.Wait()
	expect.Is(t, len(ids), 1)
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
