package main

import (
	"strings"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestTools(t *testing.T) {
	w := deciding(t)
	must := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(w.must(t, append([]string{"tool"}, args...)...))
	}
	out := must("list")
	expect.That(t, strings.Contains(out, "list_attendance: allowed (knows: departments, max_rows)\n") &&
		strings.Contains(out, "calculate_overtime: allowed (knows: none)"), "%s", out)
	for _, step := range []struct{ args, said string }{
		{"allow list_attendance departments=営業部,人事部 max_rows=100", "list_attendance: allowed departments=営業部,人事部 max_rows=100"},
		{"forbid list_attendance", "list_attendance: forbidden departments=営業部,人事部 max_rows=100"},
		{"allow list_attendance", "list_attendance: allowed departments=営業部,人事部 max_rows=100"},
		{"allow list_attendance departments=", "list_attendance: allowed max_rows=100"},
		{`allow list_attendance max_rows=0 departments=["営業部,第一"]`, `list_attendance: allowed departments=["営業部,第一"]`},
		{"allow send_slack_dm recipients=U0SATO,sato@example.com", "send_slack_dm: allowed recipients=U0SATO,sato@example.com"},
		{"allow write_rows_to_google_sheet spreadsheet_ids=1AbC", "write_rows_to_google_sheet: allowed spreadsheet_ids=1AbC"},
	} {
		expect.Is(t, must(strings.Fields(step.args)...), step.said, "%s", step.args)
		expect.Has(t, must("list"), step.said+" (knows:", "%s is not kept", step.args)
	}
	p, found, err := w.rows.ToolPermission(t.Context(), w.tenant, "send_slack_dm")
	expect.That(t, err == nil && found && p.Allowed && p.Constraints == `{"recipients":["U0SATO","sato@example.com"]}`,
		"%+v, %v", p, err)
	log := w.entries(t, tenancy.AuditToolPermissionUpdated)
	expect.That(t, len(log) == 7 && log[1].ActorID == "U0ADMIN" &&
		log[1].Details == `{"allowed":false,"constraints":{"departments":["営業部","人事部"],"max_rows":100},"tool":"list_attendance"}`,
		"%+v", log)
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
	n := len(w.entries(t, tenancy.AuditToolPermissionUpdated))
	expect.That(t, n == len(log), "%d entries after refusals, want %d", n, len(log))
}
