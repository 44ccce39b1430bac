package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/task"
)

func testIntegrations(t *testing.T, s *suite) {
	st := s.store(t)
	by := approver()
	x := task.Integration{TenantID: tenant, Provider: "freee", Status: task.Connected, Credentials: "sealed-1", Metadata: `{"company_id":1}`}

	if _, err := st.Integration(t.Context(), tenant, "freee"); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("before: %v, want ErrNotFound", err)
	}
	save := func(x task.Integration) task.Integration {
		t.Helper()
		out, err := st.SaveIntegration(t.Context(), x, by, at())
		if err != nil {
			t.Fatal(err)
		}
		got, err := st.Integration(t.Context(), tenant, x.Provider)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(out, got); diff != "" {
			t.Error(diff)
		}
		return got
	}
	x = save(x)
	if _, err := st.SaveIntegration(t.Context(), task.Integration{TenantID: tenant, Provider: "freee", Status: task.Connected}, by, at()); !errors.Is(err, task.ErrConflict) {
		t.Errorf("a second first one: %v, want ErrConflict", err)
	}
	x = save(x) // nothing new to record
	x.Credentials = "sealed-2"
	x = save(x)
	x.Status, x.StatusReason = task.Broken, task.CredentialRefused
	x = save(x)
	if x.Credentials != "" || x.ConnectedAt != nil {
		t.Errorf("credentials %q since %v stay after failing", x.Credentials, x.ConnectedAt)
	}
	x.Status, x.StatusReason = task.Disconnected, ""
	x = save(x)
	if x.Credentials != "" || x.ConnectedAt != nil {
		t.Errorf("credentials %q since %v stay after disconnecting", x.Credentials, x.ConnectedAt)
	}
	stale := x
	stale.Rev--
	if _, err := st.SaveIntegration(t.Context(), stale, by, at()); !errors.Is(err, task.ErrConflict) {
		t.Errorf("an older one: %v, want ErrConflict", err)
	}

	actions := map[task.Action]int{}
	want := map[task.Action]task.JSON{
		task.IntegrationConnected: `{"provider":"freee"}`, task.IntegrationDisconnected: `{"provider":"freee"}`,
		task.IntegrationFailed: `{"provider":"freee","reason":"refused"}`,
	}
	for _, e := range auditOfTenant(t, st, tenant) {
		actions[e.Action]++
		if e.ResourceID != x.ID || e.Details != want[e.Action] || e.ActorID != by.ID {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff(map[task.Action]int{task.IntegrationConnected: 2, task.IntegrationDisconnected: 1, task.IntegrationFailed: 1}, actions); diff != "" {
		t.Error(diff)
	}

	save(task.Integration{TenantID: tenant, Provider: "google", Status: task.Connected})
	every, err := st.Integrations(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	if len(every) != 2 || every[0].Provider != "freee" || every[1].Provider != "google" {
		t.Errorf("%+v", every)
	}
	if none, err := st.Integrations(t.Context(), "01OTHER"); err != nil || len(none) != 0 {
		t.Errorf("another tenant has %d, %v", len(none), err)
	}
	for field, x := range map[string]task.Integration{
		"provider": {TenantID: tenant, Status: task.Connected}, "status": {TenantID: tenant, Provider: "freee", Status: "maybe"},
	} {
		var bad task.ErrField
		if _, err := st.SaveIntegration(t.Context(), x, by, at()); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%v, want ErrField of %s", err, field)
		}
	}
}
