package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/settingsyaml"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/domain/tenancy/tenancytest"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// Names of the inputs of servers, one of each for a row.
const serverName, serverURL = "mcp_servers.name", "mcp_servers.url"

// settingsNow are the workspace's.
func (w *world) settingsNow() tenancy.Settings {
	w.T.Helper()
	return expect.Value(w.Store.Settings(w.T.Context(), w.tenant.ID))(w.T)
}

// opened is the form of the page as somebody gets it, with changes of theirs.
func (w *world) opened(change ...string) url.Values {
	w.T.Helper()
	s := w.settingsNow()
	f := formOf(s)
	f.Set("base", f.Encode())
	f.Set("rev", fmt.Sprint(s.Rev))
	f.Set("act", "save")
	for i := 0; i+1 < len(change); i += 2 {
		f[change[i]] = strings.Split(change[i+1], "|")
	}
	return f
}

func settingsChanges(w *world) []aggregate.AuditEntry {
	w.T.Helper()
	return expect.Value(w.Store.Audit(w.T.Context(), w.tenant.ID, store.AuditFilter{Action: tenancy.AuditSettingsUpdated}, "", 50))(w.T).Items
}

// ja are the texts of settings in Japanese.
var ja = settingsTexts{web.TextsOf("settings", "ja")}

// A setting is a field and a row of the table: the page asks for it and takes it back, a file has it, and its change is told.
func TestARowOfTheTableIsASetting(t *testing.T) {
	was, is := tenancy.DefaultSettings(), tenancytest.Changed(t)
	got, problems := typed(formOf(is), was)
	file, faults := settingsyaml.Read(expect.Value(settingsyaml.Write(is, "", func(string) string { return "" }))(t), was)
	if problems != nil || faults != nil {
		t.Fatalf("%+v %+v", problems, faults)
	}
	unasked, own := tenancy.Differences(got, is), tenancy.Differences(file.Settings, is)
	for _, locale := range language.All {
		texts := settingsTexts{web.TextsOf("settings", locale)}
		asked := map[string]int{}
		for _, section := range texts.sheetOf(settingsPage{now: is, form: formOf(is)}).Sections {
			for _, in := range section.Inputs {
				if asked[in.Name]++; section.Title == "" || in.Label == "" || in.Label != texts.label(in.Name) || (in.Hint != "") != (in.Kind == tenancy.KindRows) {
					t.Errorf("%s lacks words: %+v", locale, in)
				}
				for _, box := range in.Boxes {
					if box.Text == "" {
						t.Errorf("%s has no words for %s=%s", locale, in.Name, box.Value)
					}
				}
			}
		}
		for _, f := range is.Fields() {
			named := func(d tenancy.Difference) bool { return d.Field == f.Name }
			if n := asked[f.Name]; f.Asked() != (n == 1) || f.Asked() == slices.ContainsFunc(unasked, named) || f.Own != slices.ContainsFunc(own, named) {
				t.Errorf("%s: asked for %d times; of the form stays %v, of the file %v", f.Name, n, unasked, own)
			}
			changed := slices.DeleteFunc(tenancy.Differences(was, is), func(d tenancy.Difference) bool { return !named(d) })
			if told := texts.differences(nil, changed); len(changed) != 1 || f.Asked() != (len(told) == 1 && told[0].Label != f.Name && told[0].Was != told[0].Is) {
				t.Errorf("%s: the change of %s is told as %v", locale, f.Name, told)
			}
			if auditlog.WordsIn(locale).Field(f.Name) == f.Name {
				t.Errorf("%s: the audit log has no name for %s", locale, f.Name)
			}
		}
	}
}

func TestEveryRuleAndColumnHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		texts := web.TextsOf("settings", locale)
		for rule := range agent.Limits {
			if texts.In("rules", rule) == "" {
				t.Errorf("%s has no words for %s", locale, rule)
			}
		}
		for list, columns := range rowsLists {
			for _, c := range columns {
				if texts.In("columns", list+"."+c.key) == "" {
					t.Errorf("%s has no words for %s.%s", locale, list, c.key)
				}
			}
		}
	}
}

func TestSettings(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"settings are saved from the page":                       testSettingsAreSavedFromThePage,
		"agents are set on the page":                             testAgentsAreSetOnThePage,
		"each bound is said in the readers language":             testEachBoundIsSaidInTheReadersLanguage,
		"all problems of a form are said at once":                testAllProblemsOfAFormAreSaidAtOnce,
		"somebody elses change is kept and shown":                testSomebodyElsesChangeIsKeptAndShown,
		"approvers are picked by name":                           testApproversArePickedByName,
		"without slack nobody new is taken and the page says so": testWithoutSlackNobodyNewIsTakenAndThePageSaysSo,
		"settings are for administrators":                        testSettingsAreForAdministrators,
		"no setting becomes markup":                              testNoSettingBecomesMarkup,
		"the first administrator is asked about self approval":   testTheFirstAdministratorIsAskedAboutSelfApproval,
		"what was spent is said, and home asks":                  testHomeAndBudgets, "administrators are changed": testAdmins, "settings travel as a file": testSettingsTravelAsAFile,
		"a files mistakes are named with their lines": testAFilesMistakesAreNamedWithTheirLines,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func testSettingsAreSavedFromThePage(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	for _, locale := range language.All {
		b.locale = locale
		if a := b.get("/console/settings"); a.status != http.StatusOK || !strings.Contains(a.text(), settingsTexts{web.TextsOf("settings", locale)}.label("approvers.users")) {
			t.Errorf("%s: %d %s", locale, a.status, a.text())
		}
	}
	a := b.post("/console/settings", w.opened("max_versions", "　７ ", "max_cost_usd", "$1,000.5", "allow_self_approval", "false", "approvers.users", "|"+workspace.Sato+"|"+workspace.Tanaka,
		"approvers.usergroups", "|"+workspace.Approvers, "approvers.mode", "list", serverName, "rooms|", serverURL, "https://rooms.example.com/mcp|"))
	if a.status != http.StatusSeeOther || a.to != "/console/settings?done=saved" {
		t.Fatalf("%d %s %s", a.status, a.to, a.text())
	}
	s := w.settingsNow()
	if s.MaxVersions != 7 || s.MaxCostUSD != 1000.5 || s.AllowSelfApproval || !s.SelfApprovalChosen || len(s.Approvers.Users) != 2 || s.Approvers.Usergroups[0] != workspace.Approvers || len(s.MCPServers) != 1 {
		t.Errorf("%+v", s)
	}
	page := b.get("/console/settings").text()
	for _, want := range []string{"佐藤 花子, 田中 恵", "鈴木 一郎", "Maximum", "5", "7"} {
		if want != "Maximum" && !strings.Contains(page, want) {
			t.Errorf("the history does not say %q: %s", want, page)
		}
	}
	log := settingsChanges(w)
	if len(log) != 1 || log[0].ActorID != workspace.Suzuki || !strings.Contains(string(log[0].Details), `"max_versions":{"is":7,"was":5}`) {
		t.Errorf("%+v", log)
	}
}

func testAgentsAreSetOnThePage(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	row := func(change ...string) url.Values {
		return w.opened(append([]string{"agents.id", "|doc-bot|", "agents.label", "|書類|", "agents.provider", "openai|http|local", "agents.model", "||", "agents.endpoint", "|https://bot.example.com/v1|",
			"agents.capabilities", "|Code、test|", "agents.auth_ref", "|docs|", "agents.is_default", "false|true|false", "auto_actions.argv", `go test "./a b/*"|`, "auto_actions.workspace", "main|",
			"ai_sessions.cache.enabled", "true", "session_idle_days", "３", "dm_default", "agent"}, change...)...)
	}
	if a := b.post("/console/settings", row()); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.text())
	}
	s := w.settingsNow()
	expect.Same(t, []agent.Definition{{ID: "doc-bot", Provider: agent.HTTP, Endpoint: "https://bot.example.com/v1", Capabilities: []agent.Capability{agent.Code, agent.Test}, IsDefault: true, AuthRef: "docs",
		Metadata: map[string]string{"label": "書類"}}}, s.Agents)
	expect.Same(t, []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "./a b/*"}, Workspace: "main"}}, s.AutoActions)
	if !s.AISessions.Cache.Enabled || s.SessionIdleDays != 3 || s.DMDefault != "agent" {
		t.Errorf("%+v", s)
	}
	page := b.get("/console/settings")
	for _, want := range []string{`value="doc-bot"`, `value="go test &#34;./a b/*&#34;"`, `value="code, test"`, `<option value="http" selected>`, "doc-bot 書類 http"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	s.Agents[0].Metadata["owner"] = "人事"
	expect.Value(w.Store.SaveSettings(t.Context(), w.tenant.ID, s, aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki}, w.Now()))(t)
	if a := b.post("/console/settings", row("agents.label", "||")); a.status != http.StatusSeeOther || len(w.settingsNow().Agents[0].Metadata) != 1 || w.settingsNow().Agents[0].Metadata["owner"] != "人事" {
		t.Errorf("what the page does not ask for: %d %+v", a.status, w.settingsNow().Agents)
	}
	for says, change := range map[string][]string{
		ja.In("columns", "agents.endpoint") + ": " + ja.rule(tenancy.Rule(agent.RuleRequired)):    {"agents.endpoint", "||"},
		ja.In("columns", "agents.capabilities") + ": " + ja.rule(tenancy.Rule(agent.RuleAbility)): {"agents.capabilities", "|code, root|"},
		ja.In("columns", "agents.auth_ref") + ": " + ja.rule(tenancy.Rule(agent.RuleAuthRef)):     {"agents.auth_ref", "|sk-proj-1|"},
		ja.rule(tenancy.Rule(agent.RuleAutoShell)):                                                {"auto_actions.argv", "bash *|"},
		ja.rule(tenancy.Rule(agent.RuleAutoStar)):                                                 {"auto_actions.argv", "python3 -c *|"},
		ja.rule(tenancy.Rule(agent.RuleAutoOption)):                                               {"auto_actions.argv", "go test -exec *|"},
		ja.rule(tenancy.Rule(agent.RuleAutoWorkspace)):                                            {"auto_actions.workspace", "|"},
	} {
		if a := b.post("/console/settings", row(change...)); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.text(), says) {
			t.Errorf("%q is not said: %d", says, a.status)
		}
	}
}

func testEachBoundIsSaidInTheReadersLanguage(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	for _, tt := range []struct {
		name, value string
		rule        tenancy.Rule
	}{
		{"name", "", tenancy.RuleLength}, {"name", strings.Repeat("人", 81), tenancy.RuleLength}, {"slug", "A b", tenancy.RuleSlug}, {"model", "llama3", tenancy.RuleModel},
		{"l4_timeout_seconds", "29", tenancy.RuleBetween}, {"l4_timeout_seconds", "86401", tenancy.RuleBetween}, {"approval_timeout_hours", "0", tenancy.RuleBetween}, {"approval_timeout_hours", "8737", tenancy.RuleBetween},
		{"max_versions", "51", tenancy.RuleBetween}, {"max_versions", "five", tenancy.RuleWhole}, {"max_versions", "", tenancy.RuleWhole}, {"max_versions", "2.5", tenancy.RuleWhole},
		{"retain_results_days", "3651", tenancy.RuleBetween}, {"max_cost_usd", "-1", tenancy.RuleBetween}, {"max_cost_day_usd", "NaN", tenancy.RuleBetween}, {"max_cost_month_usd", "1000001", tenancy.RuleBetween}, {"max_cost_usd", "x", tenancy.RuleNumber},
		{"max_open_tasks.person", "-1", tenancy.RuleBetween}, {"max_open_tasks.tenant", "100001", tenancy.RuleBetween}, {"max_tasks_per_hour.person", "x", tenancy.RuleWhole}, {"max_tasks_per_hour.tenant", "100001", tenancy.RuleBetween},
		{"approvers.mode", "all", tenancy.RuleOneOf}, {"executor", "x", tenancy.RuleOneOf}, {"dm_default", "", tenancy.RuleOneOf}, {"locale", "fr", tenancy.RuleOneOf},
		{"prompt_approval_required", "yes", tenancy.RuleFlag}, {"process_approval_required", "", tenancy.RuleFlag}, {"auto_approve_tools", "1", tenancy.RuleFlag}, {"allow_self_approval", "null", tenancy.RuleFlag},
		{"approvers.users", "@sato", tenancy.RuleUserID}, {"approvers.users", workspace.Guest, people.RuleGuest}, {"approvers.users", workspace.Stranger, people.RuleOutsider}, {"approvers.users", workspace.Bot, people.RuleBot},
		{"approvers.users", "U0NOBODY", people.RuleOutsider}, {"approvers.usergroups", "S0NONE", people.RuleNoGroup}, {"approvers.usergroups", "hr", tenancy.RuleGroupID},
		{serverName, "Rooms", tenancy.RuleServerName}, {serverURL, "http://a.example", tenancy.RuleHTTPS}, {serverURL, "https://a.example?key=1", tenancy.RuleAddressOnly}, {serverURL, "rooms", tenancy.RuleAddress},
	} {
		for _, locale := range language.All {
			b.locale = locale
			f := w.opened(serverName, "rooms", serverURL, "https://rooms.example.com/mcp")
			f.Set(tt.name, tt.value)
			a := b.post("/console/settings", f)
			says, _, _ := strings.Cut(web.TextsOf("settings", locale).In("rules", tt.rule), "{")
			if a.status != http.StatusUnprocessableEntity || says == "" && tt.rule != tenancy.RuleBetween && tt.rule != tenancy.RuleLength || !strings.Contains(a.text(), html.EscapeString(says)) {
				t.Errorf("%s=%.20q in %s: %d %s", tt.name, tt.value, locale, a.status, a.text()[:min(600, len(a.text()))])
			}
			x, _ := tenancy.SettingNamed(tt.name)
			if !strings.Contains(a.body, `value="`+html.EscapeString(tt.value)+`"`) && x.Kind != tenancy.KindChoice && !strings.HasSuffix(string(tt.rule), "flag") {
				t.Errorf("%s=%.20q: what was typed is lost", tt.name, tt.value)
			}
		}
	}
	if log := settingsChanges(w); len(log) != 0 {
		t.Errorf("something was saved: %+v", log)
	}
}

func testAllProblemsOfAFormAreSaidAtOnce(t *testing.T, w *world) {
	a := w.as(workspace.Suzuki).post("/console/settings", w.opened("max_versions", "x", "name", "", "model", "llama3", "approvers.users", "sato", "max_cost_usd", "-1"))
	if n := strings.Count(a.body, `<li><a href="#s-`); a.status != http.StatusUnprocessableEntity || n != 5 {
		t.Errorf("%d, %d problems: %s", a.status, n, a.text())
	}
}

func testSomebodyElsesChangeIsKeptAndShown(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	mine := w.opened("max_versions", "9", "name", "私の名前")
	if a := b.post("/console/settings", w.opened("max_versions", "7", "approval_timeout_hours", "24")); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.text())
	}
	a := b.post("/console/settings", mine)
	if a.status != http.StatusConflict || !strings.Contains(a.body, `name="max_versions" value="9"`) || !strings.Contains(a.body, `name="approval_timeout_hours" value="24"`) || !strings.Contains(a.body, `value="私の名前"`) ||
		!strings.Contains(a.text(), ja.Say("their")+": 7") {
		t.Fatalf("%d %s", a.status, a.text())
	}
	if s := w.settingsNow(); s.MaxVersions != 7 || s.Name == "私の名前" {
		t.Errorf("the second was saved over the first: %+v", s)
	}
	again := w.opened("max_versions", "9", "name", "私の名前")
	if a := b.post("/console/settings", again); a.status != http.StatusSeeOther {
		t.Errorf("%d", a.status)
	}
	if s := w.settingsNow(); s.MaxVersions != 9 || s.ApprovalTimeoutHours != 24 || s.Name != "私の名前" {
		t.Errorf("%+v", s)
	}
	mine.Del("base") // nobody says as what it was opened
	if a := b.post("/console/settings", mine); a.status != http.StatusConflict {
		t.Errorf("%d", a.status)
	}
}

func testApproversArePickedByName(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	f := w.opened("act", "search", "find.approvers.users", "佐藤花子", "find.approvers.usergroups", "承認", "name", "まだ保存していない")
	a := b.post("/console/settings", f)
	if a.status != http.StatusOK || !strings.Contains(a.body, `name="approvers.users" value="`+workspace.Sato+`">`) || !strings.Contains(a.body, `name="approvers.usergroups" value="`+workspace.Approvers+`">`) || !strings.Contains(a.body, "まだ保存していない") {
		t.Errorf("%d %s", a.status, a.body)
	}
	f.Set("act", "enter")
	if a := b.post("/console/settings", f); a.status != http.StatusOK || len(settingsChanges(w)) != 0 {
		t.Errorf("Enter behind a name saves: %d", a.status)
	}
	f.Set("find.approvers.users", "ゲスト")
	if a := b.post("/console/settings", f); !strings.Contains(a.body, `value="`+workspace.Guest+`" disabled`) || !strings.Contains(a.text(), ja.rule(people.RuleGuest)) {
		t.Errorf("a guest: %s", a.text())
	}
}

func testWithoutSlackNobodyNewIsTakenAndThePageSaysSo(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	w.slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable, Times: -1})
	if a := b.get("/console/settings"); a.status != http.StatusOK || !strings.Contains(a.text(), ja.Say("no_slack")) {
		t.Errorf("%d %s", a.status, a.text())
	}
	if a := b.post("/console/settings", w.opened("approvers.users", workspace.Tanaka)); a.status != http.StatusServiceUnavailable || len(w.settingsNow().Approvers.Users) != 0 || !strings.Contains(a.text(), ja.Say("silent")) || !strings.Contains(a.body, workspace.Tanaka) {
		t.Errorf("%d", a.status)
	}
	if a := b.post("/console/settings/import", url.Values{"text": {"approvers:\n  users: [" + workspace.Tanaka + "]"}}); a.status != http.StatusServiceUnavailable || !strings.Contains(a.text(), ja.Say("silent")) || !strings.Contains(a.body, workspace.Tanaka) {
		t.Errorf("a file: %d", a.status)
	}
	if a := b.post("/console/settings", w.opened("max_versions", "6")); a.status != http.StatusSeeOther {
		t.Errorf("what needs no name: %d %s", a.status, a.text())
	}
}

func testSettingsAreForAdministrators(t *testing.T, w *world) {
	member := w.as(workspace.Sato)
	for _, path := range []string{"/console/settings", "/console/settings.yaml", "/console/welcome"} {
		if a := member.get(path); a.status != http.StatusForbidden {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
	forged := w.as(workspace.Suzuki)
	forged.form = "x"
	for _, path := range []string{"/console/settings", "/console/settings/import", "/console/welcome"} {
		f := w.opened("max_versions", "9", "text", "max_versions: 9", "allow_self_approval", "false")
		if a := member.post(path, f); a.status != http.StatusForbidden {
			t.Errorf("POST %s by a member: %d", path, a.status)
		}
		if a := forged.post(path, f); a.status != http.StatusForbidden {
			t.Errorf("POST %s without the session's token: %d", path, a.status)
		}
	}
	if len(settingsChanges(w)) != 0 {
		t.Error("something was saved")
	}
}

func testTheFirstAdministratorIsAskedAboutSelfApproval(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	if a := b.get("/console/settings"); !strings.Contains(a.text(), ja.Say("choose")) {
		t.Errorf("%s", a.text())
	}
	if a := b.get("/console/welcome"); a.status != http.StatusOK || !strings.Contains(a.text(), web.TextsOf("welcome", "ja").Say("no_about")) || strings.Contains(a.body, " checked") {
		t.Errorf("%d %s", a.status, a.text())
	}
	if a := b.post("/console/welcome", nil); a.status != http.StatusOK || w.settingsNow().SelfApprovalChosen {
		t.Errorf("no choice: %d", a.status)
	}
	if a := b.post("/console/welcome", url.Values{"allow_self_approval": {"true"}}); a.status != http.StatusSeeOther {
		t.Errorf("%d", a.status)
	}
	late := url.Values{"allow_self_approval": {"false"}, "chosen": {"false"}} // of a page that was opened before
	if a := w.as(workspace.Suzuki).post("/console/welcome", late); a.status != http.StatusConflict {
		t.Errorf("a second answer to the question: %d", a.status)
	}
	if s := w.settingsNow(); !s.AllowSelfApproval || !s.SelfApprovalChosen || strings.Contains(b.get("/console/settings").text(), ja.Say("choose")) {
		t.Errorf("it is asked again: %+v", s)
	}
}
