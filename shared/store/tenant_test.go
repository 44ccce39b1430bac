package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func workspace(team string) tenancy.Tenant {
	return tenancy.Tenant{ID: aggregate.TenantID(team), Name: "株式会社 " + team, Slug: "default", TeamID: team, Admins: []string{"U0ADMIN"}}
}

func testTenants(t *testing.T, st *taskStore) {
	first := expect.Value(st.Bootstrap(t.Context(), workspace("T0FIRST"), at()))(t)

	t.Run("the first contact makes tenant, slug and settings", func(t *testing.T) { testFirstContact(t, st, first) })
	t.Run("a tenant that is there is returned as it is", func(t *testing.T) {
		other := workspace("T0FIRST")
		other.Name, other.Admins = "別名", []string{"U0STRANGER"}
		expect.Same(t, first, expect.Value(st.Bootstrap(t.Context(), other, at().Add(time.Hour)))(t))
	})

	t.Run("another tenant's slug gets the team behind it", func(t *testing.T) {
		got := expect.Value(st.Bootstrap(t.Context(), workspace("T0SECOND"), at()))(t)
		expect.Is(t, got.Slug, "default-t0second", "slug")
		settings, err := st.Settings(t.Context(), got.ID)
		expect.That(t, err == nil && settings.Slug == got.Slug, "settings have slug %q, %v", settings.Slug, err)
	})

	st.parts(t, []part{
		{"eight at once make one tenant", testTenantAtOnce},
		{"settings saved before are kept", testSettingsOfBefore},
	})
	t.Run("name and administrators are saved with their entry, by a person, over what was read", func(t *testing.T) { testTenantSaved(t, st, first) })
	t.Run("a tenant that is not there", func(t *testing.T) {
		wantError(t, second(st.Tenant(t.Context(), "01NOBODY")), aggregate.ErrNotFound)
	})
}

func testTenantAtOnce(t *testing.T, st *taskStore) {
	var all sync.WaitGroup
	got := make([]tenancy.Tenant, 8)
	for i := range got {
		all.Go(func() {
			x := workspace("T0THIRD")
			x.Slug, x.Name = "third", fmt.Sprint(i)
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
	expect.Is(t, got[0].Slug, "third", "slug")
}

func testSettingsOfBefore(t *testing.T, st *taskStore) {
	x := workspace("T0EARLY")
	x.Slug = "early"
	settings := tenancy.DefaultSettings()
	settings.Locale = "en"
	expect.Value(st.SaveSettings(t.Context(), x.ID, settings, approver(), at()))(t)
	expect.Value(st.Bootstrap(t.Context(), x, at()))(t)
	got, err := st.Settings(t.Context(), x.ID)
	expect.That(t, err == nil && got.Locale == "en", "locale %q, %v", got.Locale, err)
}

func testFirstContact(t *testing.T, st *taskStore, first tenancy.Tenant) {
	want := workspace("T0FIRST")
	want.Rev, want.CreatedAt, want.UpdatedAt = 1, at(), at()
	expect.Same(t, want, first)
	expect.Same(t, want, expect.Value(st.Tenant(t.Context(), want.ID))(t))
	expect.Is(t, table.TextOf(raw(t, st, "SLUG#default", "SLUG"), "tenant_id"), want.ID, "the slug has the tenant")
	settings := expect.Value(st.Settings(t.Context(), want.ID))(t)
	if settings.Rev != 1 || settings.Slug != "default" {
		t.Errorf("settings at rev %d with slug %q", settings.Rev, settings.Slug)
	}
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
	if len(log) != 1 || log[0].Action != tenancy.AuditSettingsUpdated || log[0].ActorID != approver().ID || log[0].ResourceType != "tenant" || !strings.HasSuffix(string(log[0].Details), `,"fields":["admins","name"]}`) {
		t.Errorf("%+v", log)
	}
	expect.Fails(t, st.SaveTenant(t.Context(), before, approver(), at()), aggregate.ErrConflict, "over another's change")
	wantError(t, st.SaveTenant(t.Context(), tenancy.Tenant{ID: "01NOBODY", Name: "x"}, approver(), at()), aggregate.ErrNotFound)
}
