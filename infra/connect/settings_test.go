package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// entries returns the audit entries of an action, oldest first.
func (w *workspace) entries(t *testing.T, action aggregate.Action) []aggregate.AuditEntry {
	t.Helper()
	log := expect.Value(w.rows.Audit(t.Context(), w.tenant, store.AuditFilter{Action: action}, "", 100))(t)
	slices.Reverse(log.Items)
	return log.Items
}

// get returns the settings that the command prints, one per line.
func (w *workspace) get(t *testing.T) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(w.must(t, "settings", "get")), "\n")
}

// wrong maps invalid arguments to their error messages.
var wrong = map[string]string{
	"name=": "name must be between 1 " +
		"and 80", "slug=A b": "slug must be 1 to 63", "prompt_approval_required=yes": "prompt_approval_required must be " +
		"true or false",
	"process_approval_required=": "must be true or false", "model=llama": "model must be " +
		"anthropic:", "l4_timeout_seconds=29": "must be between 30 and 86400",
	"auto_approve_tools=null": "must be true or false", "approvers.mode=all": "approvers.mode must be channel " +
		"or list", "approvers.users=@sato": "approvers.users[0] must be a Slack user id",
	"approvers.usergroups=S0HR,hr": "approvers.usergroups[1] " +
		"must be", "allow_self_approval=1": "must be true or false",
	"approval_timeout_hours=9000": "must be between 1 and 8736",
	"max_versions=51": "max_versions must be between 1 " +
		"and 50", "max_versions=2.5": "max_versions must be a whole " +
		"number", "max_versions=": "must be a whole number", "locale=fr": "locale must be ja or en",
	"executor=x": "executor must be", "approval_copies=all": "approval_copies " +
		"must be", "dm_default=x": "dm_default must be", "max_cost_usd=-1": "max_cost_usd must be between 0 and " +
		"1000000", "max_cost_usd=NaN": "max_cost_usd must be a number",
	"max_open_tasks.person=-1": "max_open_tasks.person must be between 0 and " +
		"100000", "max_open_tasks.tenant=x": "must be a whole number", "max_tasks_per_hour.person=100001": "must be between",
	"max_tasks_per_hour.tenant=1e3x": "must be a whole " +
		"number", "retain_results_days=0": "retain_results_days must be between 1 " +
		"and 3650", "mcp_servers=rooms": "mcp_servers must be " +
		"a list", `mcp_servers=[{"name":"a","url":"http://a.example"}]`: "must begin with https://",
	"draft_contest.enabled=yes": "must be true or false", "draft_contest.file=../x": "draft_contest.file must be a " +
		"path inside", "draft_contest.max_rounds=11": "must be between 1 " +
		"and 10", "draft_contest.budget_usd=-1": "must be between 0",
	"draft_contest.rejected=nobody": "must be team or contest", "draft_contest.seconds=9": "must be between 10 and 3600",
	"session_idle_days=0": "session_idle_days must be between 1 " +
		"and 365", "action_timeout_hours=9000": "action_timeout_hours must be between 1 " +
		"and 8736", "max_session_cost_usd=x": "max_session_cost_usd must be a number",
	"max_messages_per_hour=-1": "max_messages_per_hour must be between 0 and " +
		"100000", "ai_sessions.cache.enabled=yes": "ai_sessions.cache.enabled must be true " +
		"or false", "agents=docs": "agents must be a list", `agents=[{"id":"docs"}]`: "agents",
	"max_opne_tasks=1": "max_opne_tasks is no " +
		"setting", "rev=1": "rev is no setting", "locale": "locale needs a value", "": "needs a value",
}

func TestSettings(t *testing.T) {
	w := deciding(t)
	shown := w.get(t)
	w.must(t, append([]string{"settings", "set"}, shown...)...)
	again := w.get(t)
	expect.That(t, slices.Equal(again, shown) && len(w.entries(t, tenancy.AuditSettingsUpdated)) == 0,
		"set takes what get shows, and %v became %v", shown, again)
	t.Run("each setting is changed alone, by a person who is named", func(t *testing.T) { testEachSetting(t, w) })
	t.Run("what is wrong is named with its limit, and nothing is saved", func(t *testing.T) {
		before := w.get(t)
		for arg, want := range wrong {
			w.refused(t, want, "settings", "set", "max_versions=4", arg)
		}
		now := w.get(t)
		expect.That(t, slices.Equal(now, before), "%v became %v", before, now)
	})
	for _, args := range [][]string{{"settings"}, {"settings", "set"}, {"settings", "get", "model"},
		{"settings", "show"}} {
		w.refused(t, "settings takes one of", args...)
	}
	w.refused(t, "-by", "-by", "", "settings", "set", "max_versions=4")
	t.Run("several people at once keep each other's changes", func(t *testing.T) { testSettingsAtOnce(t, w) })
	expect.Has(t, w.must(t, "-team", "T0TYPO", "settings", "set", "locale=en"), "has not asked for anything yet",
		"of a workspace that never wrote")
}

func testEachSetting(t *testing.T, w *workspace) {
	is := storetest.Changed(t)
	is.Approvers.Users = append(is.Approvers.Users, "U0TANAKA")
	all := tenancy.Members(&is)
	for i, f := range all {
		name, line := f.Name, f.Name+"="+shown(f)
		before := w.get(t)
		out, err := w.command(t, "settings", "set", line)
		expect.That(t, err == nil && out == line+"\n", "%s: said %q, %v", line, out, err)
		for at, now := range w.get(t) {
			expect.That(t, now == before[at] || now == line, "%s changed %s into %s", line, before[at], now)
		}
		log := w.entries(t, tenancy.AuditSettingsUpdated)
		field, _, _ := strings.Cut(name, ".")
		expect.That(t, len(log) == i+1 && log[i].ActorID == "U0ADMIN" &&
			strings.HasSuffix(string(log[i].Details), `,"fields":["`+field+`"]}`) &&
			strings.Contains(string(log[i].Details), `"`+name+`":{"is":`), "%s: recorded %+v", line, log)
	}
	now := w.get(t)
	for _, f := range all {
		expect.That(t, slices.Contains(now, f.Name+"="+shown(f)), "%s is not kept: %v", f.Name, now)
	}
	for _, line := range []string{"approvers.users=U0SATO,U0SUZUKI,U0TANAKA", "auto_approve_tools=false",
		"name=HR AI Agent2", "max_cost_usd=1.5", "max_open_tasks.person=1",
		`mcp_servers=[{"name":"rooms","url":"https://rooms.example.com/mcp"}]`} {
		expect.That(t, slices.Contains(now, line), "%s is not shown: %v", line, now)
	}
}

func testSettingsAtOnce(t *testing.T, w *workspace) {
	before := len(w.entries(t, tenancy.AuditSettingsUpdated))
	lines := []string{"max_versions=7", "locale=ja", "max_cost_usd=9", "retain_results_days=99", "max_open_tasks.person=8"}
	var all sync.WaitGroup
	for _, line := range lines {
		all.Go(func() {
			_, err := w.command(t, "settings", "set", line)
			expect.That(t, err == nil, "%s: %v", line, err)
		})
	}
	all.Wait()
	for _, line := range lines {
		expect.That(t, slices.Contains(w.get(t), line), "%s is lost: %v", line, w.get(t))
	}
	n := len(w.entries(t, tenancy.AuditSettingsUpdated)) - before
	expect.That(t, n == len(lines), "%d entries for %d changes", n, len(lines))
}

func TestTenantIsNamedAndItsAdministratorsToo(t *testing.T) {
	w := deciding(t)
	for range 2 {
		out := w.must(t, "tenant", "set", "admins=U0SATO,U0SUZUKI", "name=株式会社りんぎ")
		expect.Must(t, strings.Contains(out, "admins=U0SATO,U0SUZUKI\n"), "%q", out)
	}
	x, err := w.rows.Tenant(t.Context(), w.tenant)
	expect.That(t, err == nil && x.Name == "株式会社りんぎ" && slices.Equal(x.Admins, []string{"U0SATO", "U0SUZUKI"}) &&
		x.Slug == "default", "%+v, %v", x, err)
	out := w.must(t, "tenant", "get")
	expect.That(t, strings.Contains(out, "team_id=T0RINGI\n") && strings.Contains(out, "name=株式会社りんぎ\n"), "%q", out)
	log := w.entries(t, tenancy.AuditSettingsUpdated)
	expect.That(t, len(log) == 1 && log[0].ActorID == "U0ADMIN" && log[0].ResourceType == "tenant" &&
		strings.HasSuffix(string(log[0].Details), `,"fields":["admins","name"]}`), "%+v", log)
	w.refused(t, "admins[1] must be a Slack user id", "tenant", "set", "admins=U0SATO,@suzuki")
	w.refused(t, "name must be between 1 and 255", "tenant", "set", "name=")
	w.refused(t, "slug is not set here", "tenant", "set", "slug=x")
	w.refused(t, "tenant takes one of", "tenant")
	w.refused(t, "T0TYPO has not asked for anything yet", "-team", "T0TYPO", "tenant", "set", "admins=U0SATO")
}

// The commands in the READMEs and the runbook work as written.
func TestCommandsThatAreWrittenDownWork(t *testing.T) {
	w := deciding(t)
	n := 0
	for _, name := range []string{"../../README.md", "README.md", "../runbook.md"} {
		b := expect.Value(os.ReadFile(name))(t)
		for line := range strings.Lines(string(b)) {
			command, _, _ := strings.Cut(line, " #")
			args := strings.Fields(command)
			if len(args) < 3 || args[0] != "connect" || decisions[args[1]] == nil {
				continue
			}
			n++
			_, err := w.command(t, args[1:]...)
			expect.That(t, err == nil, "%s: %s: %v", name, strings.TrimSpace(line), err)
		}
	}
	expect.That(t, n >= 8, "%d commands are written down; there were eight", n)
	x, err := w.rows.Tenant(t.Context(), w.tenant)
	expect.That(t, err == nil && len(x.Admins) == 1, "%+v, %v", x, err)
}

func TestServers(t *testing.T) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	t.Setenv("OUTBOUND_ALLOW", s.Listener.Addr().String())
	w := sealing(t, "T0RINGI")
	w.refused(t, "must begin with https://", "mcp", "add", "rooms", "http://example.com")
	w.refused(t, "mcp takes one of", "mcp")
	w.refused(t, "mcp takes one of", "mcp", "tools")
	w.refused(t, "none that the settings name", "mcp", "tools", "rooms")
	w.refused(t, "first `mcp add rooms", "mcp:rooms")
	w.must(t, "mcp", "add", "rooms", s.URL+vendors.RoomsPath)
	w.refused(t, "rooms (MCP) isn't connected", "mcp", "tools", "rooms")
	expect.Value(w.given(t, v.RoomsToken()+"\n", "mcp:rooms"))(t)
	shown := w.must(t, "mcp", "tools", "rooms")
	expect.That(t, strings.Contains(shown, "rooms.book_room (off)") && !strings.Contains(shown, v.RoomsToken()),
		"shown %s", shown)
	testPinned(t, w, v, shown)
	testAddress(t, w, s)
	w.must(t, "-disconnect", "mcp:rooms")
	w.refused(t, "rooms (MCP) isn't connected", "mcp", "tools", "rooms")
	w.must(t, "mcp", "remove", "rooms")
	x, err := w.rows.Settings(t.Context(), w.tenant)
	expect.That(t, err == nil && len(x.MCPServers) == 0 && x.UpdatedBy == "U0ADMIN", "%+v, %v", x, err)
}

// A tool is allowed as it was shown, by the whole hash of that.
func testPinned(t *testing.T, w *workspace, v *vendors.Vendors, shown string) {
	hash := regexp.MustCompile(`rooms.book_room \(off\)\n  hash: ([0-9a-f]{64})`).FindStringSubmatch(shown)[1]
	w.refused(t, "reads or writes", "mcp", "allow", "rooms.book_room", hash, "both")
	for _, part := range []string{hash[:12], hash[:63], hash + "0"} {
		w.refused(t, "copy all of them", "mcp", "allow", "rooms.book_room", part, "write")
	}
	w.refused(t, "has not the hash", "mcp", "allow", "rooms.book_room", strings.Repeat("0", 64), "write")
	w.must(t, "mcp", "allow", "rooms.book_room", hash, "write")
	p, found, err := w.rows.ToolPermission(t.Context(), w.tenant, "rooms.book_room")
	expect.That(t, err == nil && found && p.Allowed && p.Pin.Access == aggregate.Write && p.Pin.Hash == hash,
		"%+v, %v", p, err)
	w.refused(t, "as one that writes", "mcp", "contests", "rooms.book_room", hash)
	v.Rooms().Describe("Books \x1b[31m a room.")
	shown = w.must(t, "mcp", "tools", "rooms")
	expect.That(t, strings.Contains(shown, "rooms.book_room (changed, write)") && !strings.Contains(shown, "\x1b"),
		"shown %q", shown)
	w.refused(t, "has not the hash", "mcp", "allow", "rooms.book_room", hash, "write")
	w.must(t, "mcp", "forbid", "rooms.book_room")
	p, _, err = w.rows.ToolPermission(t.Context(), w.tenant, "rooms.book_room")
	expect.That(t, err == nil && !p.Allowed, "%+v, %v", p, err)
}

// A token is sent to no other address than the one that it was given for.
func testAddress(t *testing.T, w *workspace, s *httptest.Server) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another address is asked, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	t.Setenv("OUTBOUND_ALLOW", s.Listener.Addr().String()+","+other.Listener.Addr().String())
	w.must(t, "mcp", "add", "rooms", other.URL+"/mcp")
	w.refused(t, "another address", "mcp", "tools", "rooms")
	w.must(t, "mcp", "add", "rooms", s.URL+vendors.RoomsPath)
	w.must(t, "mcp", "tools", "rooms")
}

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
		{"allow list_attendance departments=営業部,人事部 " +
			"max_rows=100", "list_attendance: allowed departments=営業部,人事部 max_rows=100"},
		{"forbid list_attendance", "list_attendance: forbidden departments=営業部,人事部 max_rows=100"},
		{"allow list_attendance", "list_attendance: allowed departments=営業部,人事部 max_rows=100"},
		{"allow list_attendance departments=", "list_attendance: allowed max_rows=100"},
		{`allow list_attendance max_rows=0 departments=["営業部,第一"]`, `list_attendance: allowed departments=["営業部,第一"]`},
		{"allow send_slack_dm recipients=U0SATO," +
			"sato@example.com", "send_slack_dm: allowed recipients=U0SATO,sato@example.com"},
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
		log[1].Details == `{"allowed":false,"constraints":{"departments":["営業部","人事部"],"max_rows":100},`+
			`"tool":"list_attendance"}`,
		"%+v", log)
	for args, want := range map[string]string{
		"allow list_attendance max_rows=-1":   "constraints.max_rows must be a whole number from 1",
		"allow list_attendance max_rows=many": "max_rows must be a whole number",
		"allow list_attendance " +
			"recipients=U0SATO": "constraints.recipients is no constraint of list_attendance; it knows departments, max_rows",
		"allow list_attendance " +
			"rows=1": "rows is no constraint; those of list_attendance are: departments, max_rows",
		"allow send_slack_dm recipients=sato": "constraints.recipients[0] must be a Slack user id or an e-mail address",
		"allow calculate_overtime " +
			"departments=人事部": "constraints.departments is no constraint of calculate_overtime; it knows none",
		"allow delete_employees":            "delete_employees is no tool",
		"allow rooms.book_room":             "`mcp allow` is for those",
		"forbid rooms.book_room":            "`mcp forbid` is for those",
		"forbid list_attendance max_rows=1": "tool takes one of",
		"":                                  "tool takes one of",
		"allow":                             "tool takes one of",
	} {
		w.refused(t, want, append([]string{"tool"}, strings.Fields(args)...)...)
	}
	n := len(w.entries(t, tenancy.AuditToolPermissionUpdated))
	expect.That(t, n == len(log), "%d entries after refusals, want %d", n, len(log))
}
