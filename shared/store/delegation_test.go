package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func setBy(user string, admin bool) tenancy.Setter {
	return tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: user},
		Person: circulation.Person{User: user}, Admin: admin}
}

// away returns that hand stands in for principal for ten days from a day on.
func away(owner, hand, principal string, from int) tenancy.Delegation {
	day := organisation.DateOf(at().In(tenancy.Zone())) + organisation.Date(from)
	return tenancy.Delegation{TenantID: owner, Hand: circulation.Person{User: hand},
		Principal: circulation.Person{User: principal}, From: day, Until: day + 9}
}

func testDelegations(t *testing.T, st *taskStore) {
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0AWAY"), at()))(t).ID
	var told []aggregate.Ref
	tell := func(d tenancy.Delegation) (out []Notice) {
		for _, user := range []string{d.Hand.User, d.Principal.User} {
			c, ref := task.TellStandIn(d, nil, "T0AWAY", user, "D"+user, at())
			out, told = append(out, Notice{ref, c}), append(told, ref)
		}
		return out
	}
	set := func(d tenancy.Delegation, by string) (tenancy.Delegation, error) {
		return st.SetDelegation(t.Context(), d, setBy(by, false), at(), tell)
	}
	first := expect.Value(set(away(owner, "U2", "U1", 0), "U1"))(t)
	for _, ref := range told {
		expect.NoError(t, second(st.Head(t.Context(), ref)))
	}
	expect.That(t, len(told) == 2 && told[0] != told[1] && len(auditOfTenant(t, st, owner)) == 1, "told %v", told)
	_, err := set(away(owner, "U2", "U1", 0), "U1")
	expect.That(t, err == nil && len(told) == 2, "the same again tells nobody: %v", err)
	expect.NoError(t, second(set(away(owner, "U2", "U3", 5), "U3")))
	expect.NoError(t, second(set(away(owner, "U22", "U1", 1), "U1"))) // an account that begins as another
	expect.NoError(t, second(st.SetDelegation(t.Context(), away("01OTHER", "U2", "U1", 0), setBy("U1", false), at(), nil)))

	by := expect.Value(st.StandIns(t.Context(), owner, "U2"))(t)
	expect.That(t, len(by) == 2 && by[0].Key == first.Key() && by[0].Rev == 1 && by[1].Principal.User == "U3", "%+v", by)
	person := away(owner, "U5", "U1", 2)
	person.Hand.Person, person.Principal.Person = "E5", "E1"
	expect.NoError(t, second(set(person, "U1")))
	for account, want := range map[string]string{"U2": first.Key(), "U5": person.Key()} {
		by := expect.Value(st.DelegationsBy(t.Context(), owner, account))(t)
		expect.That(t, len(by) > 0 && by[0].Key() == want, "by the account %s: %+v", account, by)
	}
	expect.Is(t, len(expect.Value(st.StandInsBy(t.Context(), owner, "E5"))(t)), 0, "by a key as an account")
	of := expect.Value(st.DelegationsOf(t.Context(), owner, "U1"))(t)
	expect.That(t, len(of) == 2 && of[0].Hand.User == "U2" && of[1].Hand.User == "U22", "%+v", of)
	expect.Is(t, len(expect.Value(st.Delegations(t.Context(), owner))(t)), 4, "all")
	for _, no := range []string{"", "U2#U1"} {
		expect.Fails(t, second(st.StandIns(t.Context(), owner, no)), aggregate.ErrNotFound, "the hand %q", no)
		expect.Fails(t, second(st.DelegationsOf(t.Context(), owner, no)), aggregate.ErrNotFound, "the principal %q", no)
	}

	absent := away(owner, "", "U8", 0)
	absent.Hand.Person = "8"
	expect.That(t, second(set(absent, "U8")) != nil, "who stands in has no account")
	absent.Hand, told = circulation.Person{}, nil
	absent = expect.Value(set(absent, "U8"))(t)
	of = expect.Value(st.DelegationsOf(t.Context(), owner, "U8"))(t)
	expect.That(t, len(of) == 1 && of[0].Absence() && of[0].Key() == absent.Key() && len(told) == 2, "an absence: %+v", of)
	_, err = st.EndDelegation(t.Context(), absent, setBy("U8", false), at().Add(time.Minute), nil)
	expect.NoError(t, err)

	told = nil
	ended, err := st.EndDelegation(t.Context(), first, setBy("U9", true), at().Add(time.Minute), tell)
	expect.That(t, err == nil && ended.Rev == 2 && ended.EndedBy == "U9" && len(told) == 2, "%+v, %v, %v", ended, told,
		err)
	_, err = st.EndDelegation(t.Context(), first, setBy("U1", false), at().Add(2*time.Minute), tell)
	expect.That(t, err == nil && len(told) == 2, "ended twice: %v", err)
	expect.Fails(t, second(st.EndDelegation(t.Context(), away(owner, "U7", "U1", 0), setBy("U1", false), at(), nil)),
		aggregate.ErrNotFound, "none")
	_, err = st.SetDelegation(t.Context(), away(owner, "U2", "U1", 0), setBy("U2", true), at(), tell)
	var bad aggregate.ErrField
	expect.That(t, errors.As(err, &bad) && len(told) == 2, "refused: %v", err)
	again, err := st.SetDelegation(t.Context(), away(owner, "U2", "U1", 0), setBy("U1", false), at().Add(3*time.Minute),
		tell)
	expect.That(t, err == nil && again.Rev == 3 && len(told) == 4, "set again the same day: %+v, %v, %v", again, told, err)
	by = expect.Value(st.StandIns(t.Context(), owner, "U2"))(t)
	expect.That(t, by[0].Rev == 3 && by[0].Counts(again.SetAt) && !by[0].Counts(at().Add(2*time.Minute)), "%+v", by[0])
	expect.NoError(t, second(st.EndDelegation(t.Context(), again, setBy("U1", false), at().Add(4*time.Minute), tell)))
	for _, ref := range told {
		expect.NoError(t, second(st.Head(t.Context(), ref)))
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
	expect.NoError(t, second(st.EndDelegation(t.Context(), d, setBy("U1", false), at(), nil)))
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
		c, of := task.TellStandIn(d, nil, "T0CRASH", "U1", "D1", at())
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

// A row of a later release hides none of those after it.
func testDelegationsOver(t *testing.T, st *taskStore) {
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0OVER"), at()))(t).ID
	d := away(owner, "U2", "U1", 0)
	d.Team, d.Channel = "T0OVER", "D1"
	d = expect.Value(st.SetDelegation(t.Context(), d, setBy("U1", false), at(), nil))(t)
	write(t, st, table.Item{
		"PK": table.Text(tenancy.DelegatePrefix + owner), "SK": table.Text("U3#U1#2026-01-01"),
		"type": table.Text("delegation"), "schema_version": table.Number(99), "rev": table.Number(1), "GSI2PK": table.Text(tenancy.DelegationsDue),
		"GSI2SK": table.Text(aggregate.TimeText(d.Ends.Add(-time.Hour)) + "#" + owner + "#U3#U1#2026-01-01"),
	})
	later, found := 0, false
	for over, err := range st.DueDelegations(t.Context(), d.Ends.Add(time.Second)) {
		if newer := (table.ErrNewerSchema{}); errors.As(err, &newer) {
			later++
		} else {
			expect.NoError(t, err)
		}
		found = found || over.TenantID == owner && over.Key() == d.Key()
	}
	expect.That(t, later == 1 && found, "%d of a later release, found %v", later, found)
}

// The settings of a further workspace always have the deployment's daily budget. The settings of the deployment's own
// workspace never have it.
func testFurther(t *testing.T, st *taskStore) {
	own := expect.Value(st.Bootstrap(t.Context(), workspace("T0OWN"), at()))(t)
	second := expect.Value(st.Bootstrap(t.Context(), workspace("T0SECOND"), at()))(t)
	bounds := func(tenant string, want float64) {
		t.Helper()
		if s := expect.Value(st.Settings(t.Context(), tenant))(t); s.FurtherDay != aggregate.USD(want) {
			t.Errorf("%s is bounded by %s", tenant, s.FurtherDay)
		}
		owner, further, err := st.Further(t.Context(), tenant)
		expect.That(t, err == nil && further == (want > 0) && (!further || tenant != second.ID ||
			owner.TeamID == "T0SECOND"), "%s is another: %v, %+v, %v", tenant, further, owner, err)
	}
	for _, usd := range []string{"", "0", "-1", "x", "NaN", "0.0000001"} {
		expect.That(t, st.CapFurther(usd) != nil, "%q is taken", usd)
	}
	expect.NoError(t, st.CapFurther("2.5"))
	bounds(own.ID, 0) // no row says which workspace is the deployment's own, so nothing is bounded
	bounds(second.ID, 0)
	expect.NoError(t, st.NoteDeployment(t.Context(), own.ID, at()))
	bounds(own.ID, 0)
	bounds(second.ID, 2.5)
	bounds(aggregate.TenantID("T0WITHOUTAROW"), 2.5)

	// A process without the parameter reads the budget from the row, and does not change the row.
	other := newcomer(st)
	expect.NoError(t, other.NoteDeployment(t.Context(), second.ID, at()))
	for tenant, want := range map[string]float64{own.ID: 2.5, second.ID: 0} {
		expect.Is(t, expect.Value(other.FurtherDay(t.Context(), tenant))(t), aggregate.USD(want), "%s may cost", tenant)
	}
	if bounds(own.ID, 0); t.Failed() { // the row is cached for a minute
		return
	}
	st.t.Now = func() time.Time { return at().Add(deploymentFor) }
	bounds(own.ID, 2.5)
	bounds(second.ID, 0)
}

// newcomer is a store over the same table with an empty cache and without the parameter.
func newcomer(st *taskStore) *taskStore {
	other := st.over(nil)
	other.known, other.furtherDay = &deployment{}, 0
	return other
}

// Enforcing the budget of further workspaces reads only the settings once the deployment's row is cached.
func testFurtherReads(t *testing.T, st *taskStore) {
	own := expect.Value(st.Bootstrap(t.Context(), workspace("T0OWN"), at()))(t)
	second := expect.Value(st.Bootstrap(t.Context(), workspace("T0SECOND"), at()))(t)
	expect.NoError(t, st.NoteDeployment(t.Context(), own.ID, at()))
	calls := &counter{}
	counted := st.over(calls)
	counted.known = &deployment{}
	expect.NoError(t, counted.CapFurther("2.5"))
	reads := func(want int32, what string) {
		t.Helper()
		expect.Is(t, calls.calls.Swap(0), want, "calls of %s", what)
	}
	for _, tenant := range []string{own.ID, second.ID} {
		expect.Value(counted.Settings(t.Context(), tenant))(t)
	}
	reads(3, "settings of two, and whose the deployment is")
	for range 5 {
		for _, tenant := range []string{own.ID, second.ID} {
			expect.Value(counted.Settings(t.Context(), tenant))(t)
		}
	}
	reads(10, "settings of two, five times")
	expect.NoError(t, counted.NoteDeployment(t.Context(), own.ID, at())) // together with the budget
	reads(1, "what was not noted yet")
	for range 5 {
		expect.NoError(t, counted.NoteDeployment(t.Context(), own.ID, at()))
	}
	reads(0, "what is noted")
}

// Workspaces are found by the organization that was noted last, and the bot's ids are noted with or without one.
func testOrganizations(t *testing.T, st *taskStore) {
	first := expect.Value(st.Bootstrap(t.Context(), workspace("T0FIRST"), at()))(t)
	second := expect.Value(st.Bootstrap(t.Context(), workspace("T0SECOND"), at()))(t)
	note := func(tenant, enterprise, bot string) {
		t.Helper()
		expect.NoError(t, st.NoteOrganization(t.Context(), expect.Value(st.Tenant(t.Context(), tenant))(t), enterprise, bot,
			"B"+bot, at()))
	}
	found := func(enterprise string, want ...string) {
		t.Helper()
		got := []string{}
		for x, err := range st.OfOrganization(t.Context(), enterprise) {
			expect.NoError(t, err)
			got = append(got, x.ID+" "+x.BotUserID)
		}
		slices.Sort(got)
		slices.Sort(want)
		expect.Same(t, append([]string{}, want...), got)
	}
	note(first.ID, "", "U0BOT")
	if is := expect.Value(st.Tenant(t.Context(), first.ID))(t); is.BotUserID != "U0BOT" || is.BotID != "BU0BOT" {
		t.Errorf("without an organization: %+v", is)
	}
	found("")
	note(first.ID, "E0ORG", "U0BOT")
	note(second.ID, "E0ORG", "U0OTHER")
	found("E0ORG", first.ID+" U0BOT", second.ID+" U0OTHER")
	note(second.ID, "E0ELSE", "U0OTHER") // it moved
	note(first.ID, "E0ORG", "U0NEW")     // installed anew
	found("E0ORG", first.ID+" U0NEW")
	found("E0ELSE", second.ID+" U0OTHER")
	note(first.ID, "", "U0NEW") // it left
	found("E0ORG")
	is := expect.Value(st.Tenant(t.Context(), first.ID))(t)
	expect.That(t, is.Name == first.Name && is.Rev == first.Rev, "%+v became %+v", first, is)
}
