package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/task"
)

func testTools(t *testing.T, s *suite) {
	st := s.store(t)
	p, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	if err != nil || found || !p.Allowed || p.Rev != 0 {
		t.Fatalf("without a row: %+v, %v, %v; want allowed", p, found, err)
	}
	p.Allowed, p.Constraints = false, `{"users":["U1"]}`
	saved, err := st.SaveToolPermission(t.Context(), p, approver(), at())
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	if err != nil || !found {
		t.Fatalf("%v, %v", found, err)
	}
	if diff := cmp.Diff(saved, got); diff != "" {
		t.Error(diff)
	}
	if got.Allowed || got.Rev != 1 || got.Constraints != p.Constraints || !got.CreatedAt.Equal(at()) {
		t.Errorf("%+v", got)
	}
	if _, err := st.SaveToolPermission(t.Context(), p, approver(), at()); !errors.Is(err, task.ErrConflict) {
		t.Errorf("%v, want ErrConflict", err)
	}
	got.Allowed = true
	if _, err := st.SaveToolPermission(t.Context(), got, approver(), at().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	every, err := st.ToolPermissions(t.Context(), tenant)
	if err != nil || len(every) != 1 || !every[0].Allowed || !every[0].CreatedAt.Equal(at()) {
		t.Errorf("%+v, %v", every, err)
	}
	log := auditOfTenant(t, st, tenant)
	if len(log) != 2 || log[0].Action != task.ToolPermissionUpdated || log[0].Details != `{"allowed":false,"tool":"send_slack_dm"}` {
		t.Errorf("%+v", log)
	}
	for field, x := range map[string]task.ToolPermission{"tool_name": {TenantID: tenant}, "constraints": {TenantID: tenant, ToolName: "x", Constraints: "{"}} {
		var bad task.ErrField
		if _, err := st.SaveToolPermission(t.Context(), x, approver(), at()); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%v, want ErrField of %s", err, field)
		}
	}
}
