package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func workspace(team string) tenancy.Tenant {
	return tenancy.Tenant{ID: aggregate.TenantID(team), Name: "株式会社 " + team, TeamID: team, Admins: []string{"U0ADMIN"}}
}

func testTenants(t *testing.T, st *taskStore) {
	first := expect.Value(st.Bootstrap(t.Context(), workspace("T0FIRST"), at()))(t)

	t.Run("the first contact makes tenant and settings", func(t *testing.T) { testFirstContact(t, st, first) })
	t.Run("a tenant that is there is returned as it is", func(t *testing.T) {
		other := workspace("T0FIRST")
		other.Name, other.Admins = "別名", []string{"U0STRANGER"}
		expect.Same(t, first, expect.Value(st.Bootstrap(t.Context(), other, at().Add(time.Hour)))(t))
	})

	st.parts(t, []part{
		{"eight at once make one tenant", testTenantAtOnce},
		{"settings saved before are kept", testSettingsOfBefore},
	})
	t.Run("name and administrators are saved with their entry, by a person, over what was read",
		func(t *testing.T) { testTenantSaved(t, st, first) })
	t.Run("a tenant that is not there", func(t *testing.T) {
		wantError(t, expect.Err(st.Tenant(t.Context(), "01NOBODY")), aggregate.ErrNotFound)
	})
}

func testTenantAtOnce(t *testing.T, st *taskStore) {
	var all sync.WaitGroup
	got := make([]tenancy.Tenant, 8)
	for i := range got {
		all.Go(func() {
			x := workspace("T0THIRD")
			x.Name = fmt.Sprint(i)
			var err error
			if got[i], err = st.Bootstrap(t.Context(), x, at()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, x := range got[1:] {
		expect.Same(t, got[0], x)
	}
}

func testSettingsOfBefore(t *testing.T, st *taskStore) {
	x := workspace("T0EARLY")
	settings := tenancy.DefaultSettings()
	settings.Locale = "en"
	expect.Value(st.SaveSettings(t.Context(), x.ID, settings, approver(), at()))(t)
	expect.Value(st.Bootstrap(t.Context(), x, at()))(t)
	got, err := st.Settings(t.Context(), x.ID)
	expect.That(t, err == nil && got.Locale == "en", "locale %q, %v", got.Locale, err)
}

func testFirstContact(t *testing.T, st *taskStore, first tenancy.Tenant) {
	want := workspace("T0FIRST")
	want.Rev, want.CreatedAt, want.UpdatedAt, want.Slug = 1, at(), at(), "t0first"
	expect.Same(t, want, first)
	expect.Same(t, want, expect.Value(st.Tenant(t.Context(), want.ID))(t))
}

func testTenantSaved(t *testing.T, st *taskStore, first tenancy.Tenant) {
	x := expect.Value(st.Tenant(t.Context(), first.ID))(t)
	x = expect.Value(st.SaveAgent(t.Context(), x, "agent", "environment", at()))(t)
	before := x
	x.Name, x.Admins = "人事部", []string{"U0ADMIN", "U0SATO"}
	for range 2 { // the second time nothing is left to write
		expect.NoError(t, st.SaveTenant(t.Context(), x, approver(), at().Add(time.Hour)))
		x.Rev, x.UpdatedAt = before.Rev+1, at().Add(time.Hour)
		expect.Same(t, x, expect.Value(st.Tenant(t.Context(), x.ID))(t))
	}
	log := auditOfTenant(t, st, x.ID)
	expect.That(t, len(log) == 1 && log[0].Action == tenancy.AuditSettingsUpdated && log[0].ActorID == approver().ID &&
		log[0].ResourceType == "tenant" && strings.HasSuffix(string(log[0].Details),
		`,"fields":["admins","name"]}`), "%+v", log)
	expect.Fails(t, st.SaveTenant(t.Context(), before, approver(), at()), aggregate.ErrConflict, "over another's change")
	wantError(t, st.SaveTenant(t.Context(), tenancy.Tenant{ID: "01NOBODY", Name: "x"}, approver(), at()),
		aggregate.ErrNotFound)
}

func testIntegrations(t *testing.T, st *taskStore) {
	by := approver()
	x := tenancy.Integration{TenantID: tenant, Provider: "freee", Status: tenancy.Connected, Credentials: "sealed-1",
		Metadata: `{"company_id":1}`}

	expect.Fails(t, expect.Err(st.Integration(t.Context(), tenant, "freee")), aggregate.ErrNotFound, "before")
	save := func(x tenancy.Integration) tenancy.Integration {
		t.Helper()
		out := expect.Value(st.SaveIntegration(t.Context(), x, by, at()))(t)
		got := expect.Value(st.Integration(t.Context(), tenant, x.Provider))(t)
		expect.Same(t, out, got)
		stored := table.TextOf(raw(t, st, "INTEGRATIONS#"+tenant, "INTEGRATION#"+x.Provider), "credentials")
		want := map[bool]string{true: "{}", false: got.Credentials}[got.Credentials == ""]
		expect.Is(t, stored, want, "credentials %q, and the column holds", got.Credentials)
		return got
	}
	x = save(x)
	_, err := st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: "freee",
		Status: tenancy.Connected}, by, at())
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "a second first one: %v, want ErrConflict", err)
	x = save(x) // nothing new to record
	x.Credentials = "sealed-2"
	x = save(x)
	x.Status, x.StatusReason = tenancy.Broken, tenancy.CredentialRefused
	x = save(x)
	stale := x
	stale.Rev--
	expect.Fails(t, expect.Err(st.SaveIntegration(t.Context(), stale, by, at())), aggregate.ErrConflict, "an older one")

	log := auditOfTenant(t, st, tenant)
	expect.That(t, len(log) == 3 && log[2].Details == `{"provider":"freee","reason":"refused"}` &&
		log[0].ResourceID == x.ID && log[0].ActorID == by.ID, "%+v", log)
	save(tenancy.Integration{TenantID: tenant, Provider: "google", Status: tenancy.Connected})
	every := expect.Value(st.Integrations(t.Context(), tenant))(t)
	expect.That(t, len(every) == 2 && every[0].Provider == "freee" && every[1].Provider == "google", "%+v", every)
	none, err := st.Integrations(t.Context(), "01OTHER")
	expect.That(t, err == nil && len(none) == 0, "another tenant has %d, %v", len(none), err)
}

// Of several renewals of one revision only one succeeds, and renewals write no audit entry.
func testRenewedIntegrations(t *testing.T, st *taskStore) {
	x := expect.Value(st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: "freee",
		Status: tenancy.Connected, Credentials: "one"}, approver(), at()))(t)
	since := x.ConnectedAt
	won := make(chan string, 32)
	var everybody sync.WaitGroup
	for i := range cap(won) {
		everybody.Go(func() {
			mine := x
			mine.Refreshing = &tenancy.Refreshing{By: strconv.Itoa(i), Until: at()}
			switch _, err := st.RenewIntegration(t.Context(), mine, at()); {
			case err == nil:
				won <- mine.Refreshing.By
			case !errors.Is(err, aggregate.ErrConflict):
				t.Error(err)
			}
		})
	}
	everybody.Wait()
	is, err := st.Integration(t.Context(), tenant, "freee")
	expect.Must(t, err == nil && len(won) == 1 && is.Refreshing != nil && is.Refreshing.By == <-won &&
		is.Rev == x.Rev+1, "%d hold it: %+v, %v", len(won)+1, is, err)
	is.Credentials, is.Refreshing = "two", nil
	is = expect.Value(st.RenewIntegration(t.Context(), is, at()))(t)
	got, err := st.Integration(t.Context(), tenant, "freee")
	expect.That(t, err == nil && got.Credentials == "two" && got.Refreshing == nil && got.ConnectedAt.Equal(*since),
		"%+v, %v", got, err)
	log := auditOfTenant(t, st, tenant)
	expect.That(t, len(log) == 1, "%d entries", len(log))
}

func testEndedIntegrations(t *testing.T, st *taskStore) {
	first := at()
	for _, provider := range []string{"freee", "google", "mcp:rooms"} {
		expect.Value(st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant,
			Provider: provider}.Fresh("sealed", "{}"), approver(), first))(t)
	}
	for want := range 2 { // the second time it is already done
		n, err := st.EndIntegrations(t.Context(), tenant, tenancy.TokensRevoked, first.Add(time.Hour), first)
		expect.That(t, err == nil && n == 1-want, "ended %d, %v", n, err)
	}

	var everybody sync.WaitGroup
	for range 5 {
		everybody.Go(func() {
			_, err := st.EndIntegrations(t.Context(), tenant, tenancy.AppUninstalled, first.Add(4*time.Hour),
				first.Add(4*time.Hour))
			expect.That(t, err == nil, "%v", err)
		})
	}
	everybody.Wait()
	ended := map[string]int{}
	for _, e := range auditOfTenant(t, st, tenant) {
		if e.Action == tenancy.AuditIntegrationDisconnected {
			ended[string(e.Details)]++
			expect.That(t, e.ActorType == aggregate.System().Type, "%+v", e)
		}
	}
	if diff := cmp.Diff(map[string]int{
		`{"provider":"slack","reason":"tokens_revoked"}`: 1, `{"provider":"freee","reason":"app_uninstalled"}`: 1,
		`{"provider":"mcp:rooms","reason":"app_uninstalled"}`: 1, `{"provider":"google","reason":"app_uninstalled"}`: 1,
	}, ended); diff != "" {
		t.Error(diff)
	}
	_, err := st.EndIntegrations(t.Context(), "a#b", tenancy.AppUninstalled, first, first)
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "a tenant that reaches into another key: %v", err)
}

func testAgents(t *testing.T, st *taskStore) {
	_, err := st.SaveAgent(t.Context(), workspace("T0NOBODY"), "agent_1", "env_1", at())
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "%v for a tenant that is not there", err)
	made := expect.Value(st.Bootstrap(t.Context(), workspace("T0AGENT"), at()))(t)
	for i, try := range []struct {
		name         string
		as           tenancy.Tenant
		agent, wants string
	}{
		{"the first one's stands", made, "agent_1", "agent_1"},
		{"who comes later gets it", made, "agent_2", "agent_1"},
		{"it can be replaced", tenancy.Tenant{ID: made.ID, AgentID: "agent_1"}, "agent_3", "agent_3"},
		{"once", tenancy.Tenant{ID: made.ID, AgentID: "agent_1"}, "agent_4", "agent_3"},
	} {
		got := expect.Value(st.SaveAgent(t.Context(), try.as, try.agent, "env of "+try.agent,
			at().Add(time.Duration(i+1)*time.Hour)))(t)
		expect.That(t, got.AgentID == try.wants && got.EnvironmentID == "env of "+try.wants && got.Name == made.Name,
			"%s: %+v", try.name, got)
		expect.That(t, (try.agent == try.wants) == got.UpdatedAt.Equal(at().Add(time.Duration(i+1)*time.Hour)),
			"%s: the row says that it was written at %v", try.name, got.UpdatedAt)
	}
}

func testUsage(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	load := func() *task.Aggregate {
		t.Helper()
		return loaded(t, st, ref)
	}
	pay := func(u aggregate.Usage, decide func(a *task.Aggregate) (aggregate.Change, error)) {
		t.Helper()
		after := expect.Value(st.Decide(t.Context(), ref, task.Charge(u, at(), decide)))(t)
		diff := cmp.Diff(load(), after, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".DueAt" },
			cmp.Ignore()))
		expect.That(t, diff == "", "what was loaded is not what was committed: %v", diff)
	}
	used := func(id string) aggregate.Usage {
		return aggregate.Usage{ID: id, Provider: "anthropic", Model: "claude-sonnet-4-6", Prompt: "extract.ja.1",
			RequestID: "req_1", Calls: 1,
			Sent:  &aggregate.Blob{Bytes: 9000, S3Key: "prompts/01TENANT/01TASK/" + aggregate.HashOf(id) + ".json"},
			Input: 1 << 40, Output: 2, Cached: 3, Written: 4, MS: 5, Cost: 3_500_000, Unpriced: 1}
	}
	nothing := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }

	pay(used("1"), nothing)
	pay(used("2"), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: "t", Description: "d", Priority: task.Low, TaskType: task.TypeStandard},
			at())
	})
	pay(used("2"), nothing)
	a := load()
	want := used("2")
	expect.Same(t, &want, a.Task.Usage)
	sum := aggregate.Usage{Calls: 2, Input: 2 << 40, Output: 4, Cached: 6, MS: 10, Cost: 7_000_000, Unpriced: 2}
	diff := cmp.Diff(&sum, a.Used())
	expect.That(t, diff == "" && len(a.Uses) == 2 && a.Uses[1].Made == "TASK", "%s in %d rows", diff, len(a.Uses))
	expect.Same(t, a.Uses, expect.Value(st.Uses(t.Context(), ref))(t))
	testSpent(t, st, ref, used("2"))
	none := expect.Value(st.Uses(t.Context(), task.RefOf(ref.Tenant, aggregate.NewID())))(t)
	expect.Is(t, len(none), 0, "of a task that is not there")
}

// testSpent needs two usages of 3.50 dollars each, one of which was charged three times.
func testSpent(t *testing.T, st *taskStore, ref aggregate.Ref, u aggregate.Usage) {
	t.Helper()
	spent := func(now time.Time, day, month float64) {
		t.Helper()
		got := expect.Value(st.Spent(t.Context(), ref.Tenant, now))(t)
		expect.That(t, got == (tenancy.Sums{Day: aggregate.USD(day), Month: aggregate.USD(month)}),
			"spent at %s: %+v, want %v and %v", now, got, day, month)
	}
	spent(at(), 7, 7)
	spent(at().AddDate(0, 0, 1), 0, 7)
	spent(at().AddDate(0, 1, 0), 0, 0)
	// Failed calls cost as much as others and are charged once each, even if the whole run was superseded.
	superseded := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, aggregate.ErrSuperseded }
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			x := u
			x.ID = fmt.Sprintf("nothing-%d", i/2)
			_, err := st.Decide(t.Context(), ref, task.Charge(x, at().AddDate(0, 0, 2), superseded))
			expect.That(t, err == nil || errors.Is(err, aggregate.ErrSuperseded), "%v", err)
		})
	}
	wg.Wait()
	spent(at().AddDate(0, 0, 2), 5*3.5, 7+5*3.5)
	expect.Is(t, expect.Value(st.Spent(t.Context(), aggregate.NewID(), at()))(t), tenancy.Sums{}, "of another tenant")
}
