package settings_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	standin "ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/tool"
	"ringi/shared/tool/github"
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
		"what is wrong is said at its field, all at once":        testProblemsAreSaidAtTheirFields,
		"somebody elses change is kept and shown":                testSomebodyElsesChangeIsKeptAndShown,
		"without slack nobody new is taken and the page says so": testWithoutSlackNobodyNewIsTakenAndThePageSaysSo,
		"no setting becomes markup":                              testNoSettingBecomesMarkup,

		"administrators are changed":                  testAdmins,
		"settings travel as a file":                   testSettingsTravelAsAFile,
		"rules travel in the same file":               testRulesTravelAsAFile,
		"a files mistakes are named with their lines": testAFilesMistakesAreNamedWithTheirLines,
	})
}

func testSettingsAreSavedFromThePage(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.Ask()
	w.Decide(task.Charge(aggregate.Usage{ID: "1", Calls: 1, Cost: aggregate.USD(2.5)}, w.Now(),
		func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	b.Get(formPage).Says(t, http.StatusOK, ja.Say("spent", "day", "2.50", "month", "2.50"))
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
	const price = "- model: compatible:box/llama3.2\n  input: \"0.10\"\n  output: \"0.4\"\n"
	b.Post(formPage, opened(w, "agents", bot, "auto_actions", rule, "prices", price, "ai_sessions.cache.enabled", "true")).
		Leads(t, formPage+"?done=saved")
	s := w.SettingsNow()
	expect.Same(t, []tenancy.Agent{{ID: "doc-bot", Provider: tenancy.HTTPEndpoint, Endpoint: "https://bot.example.com/v1",
		Capabilities: []tenancy.Capability{tenancy.CanCode, tenancy.CanTest}, IsDefault: true, AuthRef: "docs",
		Metadata: map[string]string{"label": "書類"}}}, s.Agents)
	expect.Same(t, []tenancy.AutoRule{{Type: tenancy.TestRun, Argv: []string{"go", "test", "./a b/..."}, Place: "D1"}},
		s.AutoActions)
	expect.Same(t, []tenancy.ModelPrice{{Model: "compatible:box/llama3.2", Input: "0.10", Output: "0.4"}}, s.Prices)
	expect.That(t, s.AISessions.Cache.Enabled, "%+v", s)
	b.Get(logPage).Holds(t, "id: doc-bot", "model: compatible:box/llama3.2")
	b.Post(formPage, b.Get(formPage).Sent(t, formPage)).Says(t, http.StatusSeeOther) // as it was shown
	expect.Same(t, s.Agents, w.SettingsNow().Agents)
	for says, list := range map[string][2]string{
		"endpoint: " + ja.Rule("agent_required"): {"agents", strings.Replace(bot, "https://bot", "ftp://bot", 1)},
		ja.Rule("auto_place"):                    {"auto_actions", strings.Replace(rule, "D1", "''", 1)},
		"nme: " + ja.Rule("unknown"):             {"agents", strings.Replace(bot, "authRef", "nme", 1)},
		ja.Rule("yaml"):                          {"agents", strings.Replace(bot, "test]", "test", 1)},
	} {
		wrong := b.Post(formPage, opened(w, list[0], list[1]))
		if !strings.HasPrefix(says, "endpoint") {
			wrong.Says(t, http.StatusUnprocessableEntity, says)
			continue
		}
		wrong.Says(t, http.StatusUnprocessableEntity, ja.Label("agents")+" (1): endpoint")
		wrong.Holds(t, `<a href="#s-agents">`, "ftp://bot.example.com")
		expect.Is(t, strings.Count(wrong.Body, `aria-invalid="true"`), 1, "fields that are marked: ")
	}
	b.Post(formPage, opened(w, "prices", " ")).Leads(t, formPage+"?done=saved")
	expect.Is(t, len(w.SettingsNow().Prices), 0, "an emptied list stays")
}

// testProblemsAreSaidAtTheirFields: what was typed stays there.
func testProblemsAreSaidAtTheirFields(t *testing.T, w *consoletest.World) {
	wrong := map[string][2]string{"max_versions": {"five", "whole"}, "prompt_approval_required": {"yes", "flag"},
		"max_cost_day_usd": {"x", "number"}, "approvers.users": {"@sato", "user_id"},
		"mcp_servers": {"- name: rooms\n  url: http://a.example", "https"}}
	for _, locale := range language.All {
		f := opened(w)
		for name, x := range wrong {
			f.Set(name, x[0])
		}
		a := w.As(webapi.Suzuki).In(locale).Post(formPage, f).Says(t, http.StatusUnprocessableEntity)
		expect.Is(t, strings.Count(a.Body, `<li><a href="#s-`), len(wrong), "problems")
		for name, x := range wrong {
			says, _, _ := strings.Cut(settings.Texts{web.TextsOf("settings", locale)}.Rule(x[1]), "{")
			expect.That(t, says != x[1] && strings.Contains(a.Text(), html.EscapeString(says)), "%s: %v", name, a)
			expect.That(t, name == "prompt_approval_required" || strings.Contains(a.Body, html.EscapeString(x[0])),
				"%s: what was typed is lost", name)
		}
	}
	b := w.As(webapi.Suzuki)
	b.Get(formPage).Holds(t, `<option value="`+webapi.Sato+`">佐藤 花子</option>`, `<option value="`+webapi.Approvers+`">`).
		Lacks(t, `<option value="`+webapi.Guest+`"`)
	for value, rule := range map[string]string{webapi.Guest: "guest", "U0NOBODY": "outsider"} { // whom Slack knows
		b.Post(formPage, opened(w, "approvers.users", "|"+webapi.Sato+"|"+value, "max_versions", "42")).
			Says(t, http.StatusUnprocessableEntity, ja.Rule(rule)).
			Holds(t, `name="approvers.users" value="`+webapi.Sato+`" checked>`, `value="`+value+`"`, `value="42"`)
	}
	expect.Is(t, len(settingsChanges(w)), 0, "something was saved")
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

// TestReferences is about what settings name elsewhere: repositories, and reads that need no person.
func TestReferences(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a source is listed with its repository's number":                     testASourceIsListed,
		"what GitHub doesn't have is said":                                    testWhatGitHubDoesntHave,
		"a name that another repository has now is refused":                   testANameOfAnother,
		"GitHub's silence loses nothing that was typed":                       testGitHubIsSilent,
		"a read is listed for an agent and people, on the page and by a file": testAReadIsListed,
	})
}

// gitHub stands in for GitHub, with the repository acme/shop.
type gitHub struct {
	*standin.GitHubServer
	disconnected bool
	down         atomic.Bool
	asked        atomic.Int32
}

// connected starts GitHub, to which the workspace has connected the App.
func connected(w *consoletest.World) *gitHub {
	t := w.T
	g := &gitHub{GitHubServer: expect.Value(standin.NewGitHub(t.TempDir()))(t)}
	files := map[string]standin.File{"main.py": {Content: "print(1)\n"}}
	g.Add("acme", "shop", nil).Commit("main", "first", files, time.Unix(0, 0))
	g.Fault = func(_ string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		g.asked.Add(1)
		if g.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		do(w, r)
	}
	s := expect.Server(t, g.Handler())
	w.Console.GitHub = settings.GitHub{Config: github.At(s.URL), App: func(context.Context, string) (github.App, error) {
		if g.disconnected {
			return github.App{}, aggregate.ErrNotFound
		}
		return github.NewApp(standin.AppID, standin.Installation, g.Key)
	}}
	return g
}

// sources returns the form with one source. change has texts of it, each with what stands there instead.
func sources(w *consoletest.World, change ...string) url.Values {
	return opened(w, "sources", strings.NewReplacer(change...).Replace("- name: shop\n  repository: acme/shop\n"+
		"  ref: heads/main\n  people: [everybody]\n  agents: [claude, codex]\n  ci: skip\n"))
}

var shop = tenancy.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{tenancy.Everybody},
	Agents: []string{"claude", "codex"}, CI: tenancy.CISkip, RepositoryID: 7_000_001}

func testASourceIsListed(t *testing.T, w *consoletest.World) {
	hub, b := connected(w), w.As(webapi.Suzuki)
	b.Get(formPage).Says(t, http.StatusOK, "エージェントの提供元に渡ります")
	b.Post(formPage, sources(w)).Leads(t, formPage+"?done=saved")
	expect.Same(t, []tenancy.Source{shop}, w.SettingsNow().Sources)
	log := settingsChanges(w)
	expect.That(t, len(log) == 1 && strings.Contains(string(log[0].Details), `"repository_id":7000001`), "%+v", log)
	asked := hub.asked.Load()
	b.Post(formPage, opened(w, "max_versions", "7")).Leads(t, formPage+"?done=saved")
	expect.Same(t, []tenancy.Source{shop}, w.SettingsNow().Sources)
	expect.That(t, hub.asked.Load() == asked, "GitHub is asked again")
	b.Get(logPage).Says(t, http.StatusOK, "repository: acme/shop")
	b.Post(formPage, b.Get(formPage).Sent(t, formPage)).Leads(t, formPage+"?done=saved") // as it was shown
	expect.Same(t, []tenancy.Source{shop}, w.SettingsNow().Sources)
	file := b.Get("/console/settings.yaml").Body
	expect.Has(t, file, "repository: acme/shop")
	expect.Has(t, file, "repository_id: 7000001")
	form := url.Values{"text": {strings.Replace(file, "repository_id: 7000001", "repository_id: 8", 1)}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, ja.Rule("source_other"))
}

func testWhatGitHubDoesntHave(t *testing.T, w *consoletest.World) {
	hub, b := connected(w), w.As(webapi.Suzuki)
	for rule, change := range map[string][]string{
		"source_name": {"name: shop", "name: Shop!"}, "source_missing": {"acme/shop", "acme/none"},
		"source_no_ref": {"heads/main", "tags/none"},
	} {
		b.Post(formPage, sources(w, change...)).Says(t, http.StatusUnprocessableEntity, ja.Rule(rule))
	}
	hub.disconnected = true
	b.Post(formPage, sources(w)).Says(t, http.StatusUnprocessableEntity, ja.Rule("source_unconnected"))
	expect.Is(t, len(w.SettingsNow().Sources), 0, "it is saved all the same")
}

func testANameOfAnother(t *testing.T, w *consoletest.World) {
	hub, b := connected(w), w.As(webapi.Suzuki)
	b.Post(formPage, sources(w)).Leads(t, formPage+"?done=saved")
	r := hub.Add("acme", "shop", nil)
	r.Commit("next", "another", nil, w.Now())
	b.Post(formPage, sources(w, "heads/main", "heads/next")).Says(t, http.StatusUnprocessableEntity,
		ja.Rule("source_other"))
	b.Post(formPage, opened(w, "sources", "")).Leads(t, formPage+"?done=saved")
	b.Post(formPage, sources(w, "heads/main", "heads/next")).Leads(t, formPage+"?done=saved")
	expect.Same(t, 7_000_002, w.SettingsNow().Sources[0].RepositoryID)
}

func testGitHubIsSilent(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	connected(w).down.Store(true)
	b.Post(formPage, sources(w)).Says(t, http.StatusServiceUnavailable)
	expect.That(t, len(w.SettingsNow().Sources) == 0, "it is saved all the same")
	text := b.Get("/console/settings.yaml").Body + "\n"
	text = strings.Replace(text, "sources: []",
		`sources: [{name: shop, repository: acme/shop, ref: heads/main, people: [everybody], `+
			`agents: [claude], ci: run}]`, 1)
	b.Post("/console/settings/import", url.Values{"text": {text}}).Says(t, http.StatusServiceUnavailable)
}

// listedRead returns the form with one read.
func listedRead(w *consoletest.World, name, version string) url.Values {
	return opened(w, "listed_reads", fmt.Sprintf("- agent: claude\n  tool: %q\n  version: %q\n  people: [%s, %s]\n", name,
		version, webapi.Sato, webapi.Suzuki))
}

func versionOf(t *testing.T, name string) string {
	s, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	return s.Version()
}

func testAReadIsListed(t *testing.T, w *consoletest.World) {
	b, version := w.As(webapi.Suzuki), versionOf(t, "list_employees")
	for rule, form := range map[string]url.Values{
		"listed_unknown": listedRead(w, "list_nothing", version),
		"listed_other":   listedRead(w, "list_employees", strings.Repeat("0", 64)),
		"listed_free":    listedRead(w, "send_slack_dm", versionOf(t, "send_slack_dm")), // it writes
	} {
		b.Post(formPage, form).Says(t, http.StatusUnprocessableEntity, ja.Rule(rule))
	}
	b.Get("/console/tools").Says(t, http.StatusOK, version)
	b.Post(formPage, listedRead(w, "list_employees", version)).Leads(t, formPage+"?done=saved")
	want := []tenancy.ListedRead{{Agent: "claude", Tool: "list_employees", Version: version,
		People: []string{webapi.Sato, webapi.Suzuki}}}
	expect.Same(t, want, w.SettingsNow().ListedReads)
	b.Get(formPage).Holds(t, "<bdi>claude · list_employees · 佐藤 花子, 鈴木 一郎</bdi></p><details><summary>YAML")
	file := b.Get("/console/settings.yaml").Body
	form := url.Values{"text": {strings.Replace(file, "version: "+version, "version: "+strings.Repeat("0", 64), 1)}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, ja.Rule("listed_other"))
	expect.Same(t, want, w.SettingsNow().ListedReads)
}

// What rules decide is said once, and has no switch; people stand by name alone.
func TestWhatRulesDecideHasNoSwitch(t *testing.T) {
	w := consoletest.Start(t)
	w.Settings(func(s *tenancy.Settings) { s.Approvers.Mode, s.Approvers.Users = "list", []string{webapi.Tanaka} })
	const flag, says = `role="switch" class="switch" id="s-process-approval-required"`, "回覧ルールが決めます"
	b := w.As(webapi.Suzuki)
	page := b.Get(formPage)
	page.Holds(t, flag)
	page.Lacks(t, webapi.Tanaka+"</span>", says)
	saved(w, &rules.Rules{Rules: []rules.Rule{{ID: aggregate.NewID(), Name: "none",
		Outcome: rules.Outcome{Refuse: "No."}}}})
	page = b.Get(formPage)
	page.Says(t, 200, says, "実行ステップの承認を求める 実行ステップについては、回覧ルールが決めます。 回覧ルール")
	page.Lacks(t, flag)
	expect.Is(t, strings.Count(page.Body, says), 1)
}
