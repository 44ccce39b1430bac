package settings_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const (
	formPage = "/console/settings"
	logPage  = "/console/audit"
)

// opened returns the page's form as a person gets it, with changes.
func opened(w *consoletest.World, change ...string) url.Values {
	w.T.Helper()
	s := w.SettingsNow()
	f := settings.FormOf(s)
	f.Set("rev", fmt.Sprint(s.Rev))
	for i := 0; i+1 < len(change); i += 2 {
		f[change[i]] = strings.Split(change[i+1], "|")
	}
	return f
}

func settingsChanges(w *consoletest.World) []aggregate.AuditEntry {
	w.T.Helper()
	return w.Audited(store.AuditFilter{Action: tenancy.AuditSettingsUpdated})
}

var ja = settings.Texts{web.TextsOf("settings", "ja")}

func TestSettings(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"settings are saved from the page":                       testSettingsAreSavedFromThePage,
		"agents are set on the page":                             testAgentsAreSetOnThePage,
		"each bound is said in the readers language":             testEachBoundIsSaidInTheReadersLanguage,
		"all problems of a form are said at once":                testAllProblemsOfAFormAreSaidAtOnce,
		"somebody elses change is kept and shown":                testSomebodyElsesChangeIsKeptAndShown,
		"approvers are picked by name":                           testApproversArePickedByName,
		"without slack nobody new is taken and the page says so": testWithoutSlackNobodyNewIsTakenAndThePageSaysSo,
		"no setting becomes markup":                              testNoSettingBecomesMarkup,

		"what was spent is said":                      testBudgets,
		"administrators are changed":                  testAdmins,
		"settings travel as a file":                   testSettingsTravelAsAFile,
		"rules travel in the same file":               testRulesTravelAsAFile,
		"a files mistakes are named with their lines": testAFilesMistakesAreNamedWithTheirLines,
	})
}

func testSettingsAreSavedFromThePage(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for _, locale := range language.All {
		b.In(locale).Get("/console/settings").Says(t, http.StatusOK,
			settings.Texts{web.TextsOf("settings", locale)}.Label("approvers.users"))
	}
	b.Post(formPage, opened(w, "max_versions", "　７ ", "max_cost_usd", "$1,000.5", "allow_self_approval",
		"false", "approvers.users", "|"+webapi.Sato+"|"+webapi.Tanaka,
		"approvers.usergroups", "|"+webapi.Approvers, "approvers.mode", "list",
		"process_approval_required", "true|false", // as browsers send a switch that is on
		"mcp_servers", "- name: rooms\n  url: https://rooms.example.com/mcp")).Says(t, http.StatusSeeOther).Leads(t,
		formPage+"?done=saved")
	s := w.SettingsNow()
	expect.That(t, s.MaxVersions == 7 && s.MaxCostUSD == 1000.5 && !s.AllowSelfApproval &&
		s.ProcessApprovalRequired && len(s.Approvers.Users) == 2 && s.Approvers.Usergroups[0] == webapi.Approvers &&
		len(s.MCPServers) == 1, "%+v", s)
	b.In("ja").Get(logPage).Says(t, http.StatusOK, "佐藤 花子 (U0SANDSATO)", "田中 恵 (U0SANDTANA)", "鈴木 一郎", "7 個")
	b.Get(formPage).Holds(t, "- name: rooms\n  url: https://rooms.example.com/mcp")
	log := settingsChanges(w)
	expect.That(t, len(log) == 1 && log[0].ActorID == webapi.Suzuki &&
		strings.Contains(string(log[0].Details), `"max_versions":{"is":7,"was":5}`), "%+v", log)
}

func testAgentsAreSetOnThePage(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const bot = "- id: doc-bot\n  provider: http\n  endpoint: https://bot.example.com/v1\n  capabilities: [code, test]\n" +
		"  isDefault: true\n  authRef: docs\n  metadata:\n    label: 書類\n"
	const rule = "- type: test_run\n  argv: [go, test, ./a b/...]\n  place: D1\n"
	form := func(list, old, is string) url.Values {
		lists := map[string]string{"agents": bot, "auto_actions": rule}
		lists[list] = strings.ReplaceAll(lists[list], old, is)
		return opened(w, "agents", lists["agents"], "auto_actions", lists["auto_actions"],
			"ai_sessions.cache.enabled", "true")
	}
	b.Post(formPage, form("agents", "?", "")).Says(t, http.StatusSeeOther)
	s := w.SettingsNow()
	expect.Same(t, []agent.Definition{{ID: "doc-bot", Provider: agent.HTTP, Endpoint: "https://bot.example.com/v1",
		Capabilities: []agent.Capability{agent.Code, agent.Test}, IsDefault: true, AuthRef: "docs",
		Metadata: map[string]string{"label": "書類"}}}, s.Agents)
	expect.Same(t, []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "./a b/..."}, Place: "D1"}},
		s.AutoActions)
	expect.That(t, s.AISessions.Cache.Enabled, "%+v", s)
	b.Get(formPage).Holds(t, "- id: doc-bot", "label: 書類")
	b.Get(logPage).Holds(t, "id: doc-bot")
	b.Post(formPage, asSentBack(b.Get(formPage))).Says(t, http.StatusSeeOther) // as it was shown
	expect.Same(t, s.Agents, w.SettingsNow().Agents)
	for says, change := range map[string][3]string{
		"endpoint: " + ja.Rule("agent_required"):       {"agents", "  endpoint: https://bot.example.com/v1\n", ""},
		"capabilities: " + ja.Rule("agent_capability"): {"agents", "[code, test]", "[code, root]"},
		"auth_ref: " + ja.Rule("agent_auth_ref"):       {"agents", "authRef: docs", "authRef: sk-proj-1"},
		ja.Rule("auto_argv"):                           {"auto_actions", "test, ./a b/...", "test, '*'"},
		ja.Rule("auto_place"):                          {"auto_actions", "  place: D1\n", ""},
		"nme: " + ja.Rule("unknown"):                   {"agents", "authRef: docs", "nme: x"},
		ja.Rule("yaml"):                                {"agents", "[code, test]", "[code"},
	} {
		b.Post(formPage, form(change[0], change[1], change[2])).Says(t, http.StatusUnprocessableEntity, says)
	}
	wrong := b.Post(formPage, form("agents", "https://bot", "ftp://bot"))
	wrong.Says(t, http.StatusUnprocessableEntity, ja.Label("agents")+" (1): endpoint")
	wrong.Holds(t, `<a href="#s-agents">`, "ftp://bot.example.com")
	expect.Is(t, strings.Count(wrong.Body, `aria-invalid="true"`), 1, "fields that are marked: ")
}

var textarea = regexp.MustCompile(`(?s)<textarea[^>]* name="([^"]+)"[^>]*>(.*?)</textarea>`)

// asSentBack is the form of a page as a browser sends it if nobody changes it.
func asSentBack(a consoletest.Answer) url.Values {
	f := asSent(a)
	for _, m := range textarea.FindAllStringSubmatch(a.Body, -1) {
		f.Set(m[1], html.UnescapeString(m[2]))
	}
	return f
}

func testEachBoundIsSaidInTheReadersLanguage(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for _, tt := range []struct {
		name, value string
		rule        string
	}{
		{"name", "", "length"}, {"model", "llama3", "model"}, {"max_versions", "five", "whole"},
		{"max_cost_day_usd", "NaN", "between"}, {"approvers.mode", "all", "one_of"},
		{"prompt_approval_required", "yes", "flag"}, {"approvers.users", "@sato", "user_id"},
		{"approvers.users", webapi.Guest, "guest"}, {"approvers.users", "U0NOBODY", "outsider"},
		{"approvers.usergroups", "S0NONE", "no_group"}, {"mcp_servers", "- name: rooms\n  url: http://a.example", "https"},
	} {
		for _, locale := range language.All {
			b.Locale = locale
			f := opened(w)
			f.Set(tt.name, tt.value)
			a := b.Post(formPage, f)
			says, _, _ := strings.Cut(settings.Texts{web.TextsOf("settings", locale)}.Rule(tt.rule), "{")
			expect.That(t, a.Status == http.StatusUnprocessableEntity &&
				(says != "" || tt.rule == "between" || tt.rule == "length") &&
				strings.Contains(a.Text(),
					html.EscapeString(says)), "%s=%.20q in %s: %d %s", tt.name, tt.value, locale, a.Status, a.Text()[:min(600,
				len(a.Text()))])
			x, _ := tenancy.SettingNamed(tt.name)
			expect.That(t, strings.Contains(a.Body, `value="`+html.EscapeString(tt.value)+`"`) ||
				strings.Contains(a.Body, html.EscapeString(tt.value)+"</textarea>") || x.Kind == tenancy.KindChoice ||
				strings.HasSuffix(string(tt.rule), "flag"), "%s=%.20q: what was typed is lost", tt.name, tt.value)
		}
	}
	log := settingsChanges(w)
	expect.That(t, len(log) == 0, "something was saved: %+v", log)
}

func testAllProblemsOfAFormAreSaidAtOnce(t *testing.T, w *consoletest.World) {
	a := w.As(webapi.Suzuki).Post(formPage, opened(w, "max_versions", "x", "name", "", "model", "llama3",
		"approvers.users", "sato", "max_cost_usd", "-1"))
	n := strings.Count(a.Body, `<li><a href="#s-`)
	expect.That(t, a.Status == http.StatusUnprocessableEntity && n == 5, "%d, %d problems: %v", a.Status, n, a)
}

func testSomebodyElsesChangeIsKeptAndShown(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	mine := opened(w, "max_versions", "9", "fiscal_year_month", "１")
	b.Post(formPage, opened(w, "max_versions", "7", "approval_timeout_hours", "24")).Says(t, http.StatusSeeOther)
	b.Post(formPage, mine).Says(t, http.StatusConflict).Holds(t, `name="max_versions" value="9"`, `value="１"`)
	s := w.SettingsNow()
	expect.That(t, s.MaxVersions == 7 && s.FiscalYearMonth != 1, "the second was saved over the first: %+v", s)
	again := opened(w, "max_versions", "9", "fiscal_year_month", "１") // the rest as it is now
	b.Post(formPage, again).Says(t, http.StatusSeeOther)
	s = w.SettingsNow()
	expect.That(t, s.MaxVersions == 9 && s.ApprovalTimeoutHours == 24 && s.FiscalYearMonth == 1, "%+v", s)
	b.Post(formPage, mine).Says(t, http.StatusConflict)
}

func testApproversArePickedByName(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(formPage).Holds(t, `<option value="`+webapi.Sato+`">佐藤 花子</option>`,
		`<option value="`+webapi.Approvers+`">`).Lacks(t, `<option value="`+webapi.Guest+`"`)
	f := opened(w, "approvers.users", "|"+webapi.Sato+"|"+webapi.Guest, "max_versions", "42")
	b.Post(formPage, f).Says(t, http.StatusUnprocessableEntity, ja.Rule("guest")).Holds(t,
		`name="approvers.users" value="`+webapi.Sato+`" checked>`, `value="42"`)
	expect.That(t, len(settingsChanges(w)) == 0, "a guest is saved")
}

func testWithoutSlackNobodyNewIsTakenAndThePageSaysSo(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.Slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable, Times: -1})
	b.Get(formPage).Says(t, http.StatusServiceUnavailable)
	b.Post(formPage, opened(w, "approvers.users", webapi.Tanaka)).Says(t, http.StatusServiceUnavailable)
	b.Post("/console/settings/import", url.Values{"text": {"approvers:\n  users: [" + webapi.Tanaka + "]"}}).Says(t,
		http.StatusServiceUnavailable) // a file
	expect.That(t, len(w.SettingsNow().Approvers.Users) == 0, "somebody unknown was taken")
	b.Post(formPage, opened(w, "max_versions", "6")).Says(t, http.StatusSeeOther) // what needs no name
}

// TestPrices is about the prices of models that an administrator gives.
func TestPrices(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a price is saved as it was typed": testAPriceIsSaved,
	})
}

// prices returns the form with one price. change has texts of it, each with what stands there instead.
func prices(w *consoletest.World, change ...string) url.Values {
	return opened(w, "prices", strings.NewReplacer(change...).Replace("- model: compatible:box/llama3.2\n"+
		"  input: \"0.10\"\n  output: \"0.4\"\n"))
}

var box = tenancy.ModelPrice{Model: "compatible:box/llama3.2", Input: "0.10", Output: "0.4"}

func testAPriceIsSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(formPage).Says(t, http.StatusOK, "モデルの料金", "100 万トークンあたり")
	b.Post(formPage, prices(w)).Leads(t, formPage+"?done=saved")
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
	b.Get(logPage).Says(t, http.StatusOK, "model: compatible:box/llama3.2")
	expect.Has(t, b.Get("/console/settings.yaml").Body, "model: compatible:box/llama3.2")
	b.Post(formPage, opened(w, "prices", " ")).Leads(t, formPage+"?done=saved")
	expect.Is(t, len(w.SettingsNow().Prices), 0, "an emptied list stays")
}
