package store

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testIntegrations(t *testing.T, st *taskStore) {
	by := approver()
	x := tenancy.Integration{TenantID: tenant, Provider: "freee", Status: tenancy.Connected, Credentials: "sealed-1", Metadata: `{"company_id":1}`}

	if _, err := st.Integration(t.Context(), tenant, "freee"); !errors.Is(err, aggregate.ErrNotFound) {
		t.Errorf("before: %v, want ErrNotFound", err)
	}
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
	if _, err := st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: "freee", Status: tenancy.Connected}, by, at()); !errors.Is(err, aggregate.ErrConflict) {
		t.Errorf("a second first one: %v, want ErrConflict", err)
	}
	x = save(x) // nothing new to record
	x.Credentials = "sealed-2"
	x = save(x)
	x.Status, x.StatusReason = tenancy.Broken, tenancy.CredentialRefused
	x = save(x)
	stale := x
	stale.Rev--
	if _, err := st.SaveIntegration(t.Context(), stale, by, at()); !errors.Is(err, aggregate.ErrConflict) {
		t.Errorf("an older one: %v, want ErrConflict", err)
	}

	if log := auditOfTenant(t, st, tenant); len(log) != 3 || log[2].Details != `{"provider":"freee","reason":"refused"}` || log[0].ResourceID != x.ID || log[0].ActorID != by.ID {
		t.Errorf("%+v", log)
	}
	save(tenancy.Integration{TenantID: tenant, Provider: "google", Status: tenancy.Connected})
	every := expect.Value(st.Integrations(t.Context(), tenant))(t)
	expect.That(t, len(every) == 2 && every[0].Provider == "freee" && every[1].Provider == "google", "%+v", every)
	if none, err := st.Integrations(t.Context(), "01OTHER"); err != nil || len(none) != 0 {
		t.Errorf("another tenant has %d, %v", len(none), err)
	}
}

// Of several renewals of one revision only one succeeds, and renewals write no audit entry.
func testRenewedIntegrations(t *testing.T, st *taskStore) {
	x := expect.Value(st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: "freee", Status: tenancy.Connected, Credentials: "one"}, approver(), at()))(t)
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
	if err != nil || len(won) != 1 || is.Refreshing == nil || is.Refreshing.By != <-won || is.Rev != x.Rev+1 {
		t.Fatalf("%d hold it: %+v, %v", len(won)+1, is, err)
	}
	is.Credentials, is.Refreshing = "two", nil
	is = expect.Value(st.RenewIntegration(t.Context(), is, at()))(t)
	if got, err := st.Integration(t.Context(), tenant, "freee"); err != nil || got.Credentials != "two" || got.Refreshing != nil || !got.ConnectedAt.Equal(*since) {
		t.Errorf("%+v, %v", got, err)
	}
	log := auditOfTenant(t, st, tenant)
	expect.That(t, len(log) == 1, "%d entries", len(log))
}

func testEndedIntegrations(t *testing.T, st *taskStore) {
	first := at()
	for _, provider := range []string{"freee", "google", "mcp:rooms"} {
		expect.Value(st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: provider}.Fresh("sealed", "{}"), approver(), first))(t)
	}
	for want := range 2 { // the second time it is already done
		if n, err := st.EndIntegrations(t.Context(), tenant, tenancy.TokensRevoked, first.Add(time.Hour), first); err != nil || n != 1-want {
			t.Errorf("ended %d, %v", n, err)
		}
	}

	var everybody sync.WaitGroup
	for range 5 {
		everybody.Go(func() {
			if _, err := st.EndIntegrations(t.Context(), tenant, tenancy.AppUninstalled, first.Add(4*time.Hour), first.Add(4*time.Hour)); err != nil {
				t.Error(err)
			}
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
	if _, err := st.EndIntegrations(t.Context(), "a#b", tenancy.AppUninstalled, first, first); !errors.Is(err, aggregate.ErrNotFound) {
		t.Errorf("a tenant that reaches into another key: %v", err)
	}
}
