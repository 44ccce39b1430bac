package main

import (
	"strings"
	"testing"

	"ringi/shared/domain/tenancy"
)

func TestTools(t *testing.T) {
	w := deciding(t)
	must := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(w.must(t, append([]string{"tool"}, args...)...))
	}
	if out := must("list"); !strings.Contains(out, "list_attendance: allowed (knows: departments, max_rows)\n") || !strings.Contains(out, "calculate_overtime: allowed (knows: none)") {
		t.Errorf("%s", out)
	}
	for _, step := range []struct{ args, said string }{
		{"allow list_attendance departments=営業部,人事部 max_rows=100", "list_attendance: allowed departments=営業部,人事部 max_rows=100"},
		{"forbid list_attendance", "list_attendance: forbidden departments=営業部,人事部 max_rows=100"},
		{"allow list_attendance", "list_attendance: allowed departments=営業部,人事部 max_rows=100"},
		{"allow list_attendance departments=", "list_attendance: allowed max_rows=100"},
		{`allow list_attendance max_rows=0 departments=["営業部,第一"]`, `list_attendance: allowed departments=["営業部,第一"]`},
		{"allow send_slack_dm recipients=U0SATO,sato@example.com", "send_slack_dm: allowed recipients=U0SATO,sato@example.com"},
		{"allow write_rows_to_google_sheet spreadsheet_ids=1AbC", "write_rows_to_google_sheet: allowed spreadsheet_ids=1AbC"},
	} {
		if out := must(strings.Fields(step.args)...); out != step.said {
			t.Errorf("%s: said %q, want %q", step.args, out, step.said)
		}
		if !strings.Contains(must("list"), step.said+" (knows:") {
			t.Errorf("%s is not kept: %s", step.args, must("list"))
		}
	}
	p, found, err := w.rows.ToolPermission(t.Context(), w.tenant, "send_slack_dm")
	if err != nil || !found || !p.Allowed || p.Constraints != `{"recipients":["U0SATO","sato@example.com"]}` {
		t.Errorf("%+v, %v", p, err)
	}
	log := w.entries(t, tenancy.AuditToolPermissionUpdated)
	if len(log) != 7 || log[1].ActorID != "U0ADMIN" || log[1].Details != `{"allowed":false,"constraints":{"departments":["営業部","人事部"],"max_rows":100},"tool":"list_attendance"}` {
		t.Errorf("%+v", log)
	}
	for args, want := range map[string]string{
		"allow list_attendance max_rows=-1":        "constraints.max_rows must be a whole number from 1",
		"allow list_attendance max_rows=many":      "max_rows must be a whole number",
		"allow list_attendance recipients=U0SATO":  "constraints.recipients is no constraint of list_attendance; it knows departments, max_rows",
		"allow list_attendance rows=1":             "rows is no constraint; those of list_attendance are: departments, max_rows",
		"allow send_slack_dm recipients=sato":      "constraints.recipients[0] must be a Slack user id or an e-mail address",
		"allow calculate_overtime departments=人事部": "constraints.departments is no constraint of calculate_overtime; it knows none",
		"allow delete_employees":                   "delete_employees is no tool",
		"allow rooms.book_room":                    "`mcp allow` is for those",
		"forbid rooms.book_room":                   "`mcp forbid` is for those",
		"forbid list_attendance max_rows=1":        "tool takes one of",
		"":                                         "tool takes one of",
		"allow":                                    "tool takes one of",
	} {
		w.refused(t, want, append([]string{"tool"}, strings.Fields(args)...)...)
	}
	if n := len(w.entries(t, tenancy.AuditToolPermissionUpdated)); n != len(log) {
		t.Errorf("%d entries after refusals, want %d", n, len(log))
	}
}

// What a later release wrote binds a tool in a way that this one can't read.
func TestConstraintsThatCannotBeReadStay(t *testing.T) {
	w := deciding(t)
	const unread = `{"departments":["営業部"],"from_a_later_release":1}`
	w.must(t, "tool", "allow", "list_attendance", "departments=営業部")
	w.constrain(t, "list_attendance", unread)
	for _, args := range []string{"forbid list_attendance", "allow list_attendance", "allow list_attendance max_rows=5"} {
		w.refused(t, "nothing calls list_attendance", append([]string{"tool"}, strings.Fields(args)...)...)
		if p, _, err := w.rows.ToolPermission(t.Context(), w.tenant, "list_attendance"); err != nil || string(p.Constraints) != unread {
			t.Fatalf("%s: %s, %v", args, p.Constraints, err)
		}
	}
	if out := w.must(t, "tool", "allow", "list_attendance", "departments=人事部", "max_rows=0"); !strings.Contains(out, "list_attendance: allowed departments=人事部") {
		t.Error(out)
	}
}
