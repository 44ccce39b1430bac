package store

import (
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

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
		if owner, further, err := st.Further(t.Context(), tenant); err != nil || further != (want > 0) || further && tenant == second.ID && owner.TeamID != "T0SECOND" {
			t.Errorf("%s is another: %v, %+v, %v", tenant, further, owner, err)
		}
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
		expect.NoError(t, st.NoteOrganization(t.Context(), expect.Value(st.Tenant(t.Context(), tenant))(t), enterprise, bot, "B"+bot, at()))
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
	if is := expect.Value(st.Tenant(t.Context(), first.ID))(t); is.Name != first.Name || is.Rev != first.Rev {
		t.Errorf("%+v became %+v", first, is)
	}
}
