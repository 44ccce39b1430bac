package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func testTools(t *testing.T, st *taskStore) {
	p, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	if err != nil || found || !p.Allowed || p.Rev != 0 {
		t.Fatalf("without a row: %+v, %v, %v; want allowed", p, found, err)
	}
	p.Allowed, p.Constraints = false, `{"recipients":["U123"]}`
	saved := expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at(), tenancy.OnlyRecipients))(t)
	got, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	expect.Must(t, err == nil && found, "%v, %v", found, err)
	expect.Same(t, saved, got)
	if got.Allowed || got.Rev != 1 || got.Constraints != p.Constraints || !got.CreatedAt.Equal(at()) {
		t.Errorf("%+v", got)
	}
	wantError(t, second(st.SaveToolPermission(t.Context(), p, approver(), at(), tenancy.OnlyRecipients)), aggregate.ErrConflict)
	got.Allowed = true
	expect.Value(st.SaveToolPermission(t.Context(), got, approver(), at().Add(time.Hour), tenancy.OnlyRecipients))(t)
	every, err := st.ToolPermissions(t.Context(), tenant)
	if err != nil || len(every) != 1 || !every[0].Allowed || !every[0].CreatedAt.Equal(at()) {
		t.Errorf("%+v, %v", every, err)
	}
	log := auditOfTenant(t, st, tenant)
	if len(log) != 2 || log[0].Action != tenancy.AuditToolPermissionUpdated || log[0].Details != `{"allowed":false,"constraints":{"recipients":["U123"]},"tool":"send_slack_dm"}` {
		t.Errorf("%+v", log)
	}
	testServerTool(t, st)
}

func testUnsavedTool(t *testing.T, st *taskStore) {
	p, found, err := st.ToolPermission(t.Context(), tenant, "list_departments")
	if err != nil || found || !p.Allowed || p.Rev != 0 || p.TenantID != tenant || p.Constraints != "{}" {
		t.Errorf("%+v, %v, %v; want allowed without a row", p, found, err)
	}
	p.Allowed = false
	expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at()))(t)
	if p, found, err := st.ToolPermission(t.Context(), tenant, "list_departments"); err != nil || !found || p.Allowed {
		t.Errorf("once it is forbidden: %+v, %v, %v", p, found, err)
	}
}

func testServerTool(t *testing.T, st *taskStore) {
	t.Helper()
	p, found, err := st.ToolPermission(t.Context(), tenant, "rooms.book")
	expect.Must(t, err == nil && !found && !p.Allowed, "without a row: %+v, %v, %v; want it off", p, found, err)
	p.Allowed = true
	p.Pin = &tenancy.Pin{URL: "https://example.com", Title: "予約", Description: "Books.", Input: `{"type":"object"}`, Output: `{"maximum":9007199254740993}`, Access: aggregate.Write, Hash: "h"}
	saved := expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at().Add(2*time.Hour)))(t)
	got, found, err := st.ToolPermission(t.Context(), tenant, "rooms.book")
	if diff := cmp.Diff(saved, got); diff != "" || err != nil || !found || got.Pin.Version() != p.Pin.Version() {
		t.Error(diff, err, found)
	}
	if log := auditOfTenant(t, st, tenant); log[len(log)-1].Details != `{"allowed":true,"effect":"write","hash":"h","tool":"rooms.book","url":"https://example.com"}` {
		t.Errorf("%s", log[len(log)-1].Details)
	}
	for range 2 { // the second time it is already recorded
		expect.NoError(t, st.NoteToolChanged(t.Context(), got, at().Add(3*time.Hour)))
	}
	noted, _, err := st.ToolPermission(t.Context(), tenant, "rooms.book")
	if err != nil || noted.ChangedAt == nil || !noted.ChangedAt.Equal(at().Add(3*time.Hour)) || !noted.UpdatedAt.Equal(*noted.ChangedAt) || noted.Rev != got.Rev {
		t.Errorf("%+v, %v", noted, err)
	}
	log := auditOfTenant(t, st, tenant)
	if len(log) != 4 || log[3].ActorType != aggregate.ActorSystem || log[3].Details != `{"allowed":false,"changed":true,"tool":"rooms.book"}` {
		t.Errorf("%+v", log)
	}
	noted.ChangedAt = nil
	noted = expect.Value(st.SaveToolPermission(t.Context(), noted, approver(), at().Add(4*time.Hour)))(t)
	if err := st.NoteToolChanged(t.Context(), got, at().Add(5*time.Hour)); err != nil { // found in the earlier version
		t.Fatal(err)
	}
	again, _, _ := st.ToolPermission(t.Context(), tenant, "rooms.book")
	expect.That(t, again.ChangedAt == nil, "what an administrator has just allowed was switched off")
	if _, err := st.SaveToolPermission(t.Context(), tenancy.ToolPermission{TenantID: tenant, ToolName: "send_email", Allowed: true, Pin: got.Pin}, approver(), at()); err == nil {
		t.Error("a tool of Ringi's own was pinned")
	}
}
