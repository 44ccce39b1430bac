package settings_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/settings"
	"ringi/infra/local/sandbox/webapi"
	standin "ringi/infra/local/vendors"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/tool/github"
)

// TestSources is about the repositories that an administrator lists.
func TestSources(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a source is listed with its repository's number":   testASourceIsListed,
		"what GitHub doesn't have is said":                  testWhatGitHubDoesntHave,
		"a name that another repository has now is refused": testANameOfAnother,
		"GitHub's silence loses nothing that was typed":     testGitHubIsSilent,
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
	g.Add("acme", "shop").Commit("main", "first", files, time.Unix(0, 0))
	g.Fault = func(_ string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		g.asked.Add(1)
		if g.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		do(w, r)
	}
	s := httptest.NewServer(g.Handler())
	t.Cleanup(s.Close)
	w.Console.GitHub = settings.GitHub{Config: github.At(s.URL), App: func(context.Context, string) (github.App, error) {
		if g.disconnected {
			return github.App{}, aggregate.ErrNotFound
		}
		return github.NewApp(standin.AppID, standin.Installation, g.Key())
	}}
	return g
}

// sources returns the form with one source. change has texts of it, each with what stands there instead.
func sources(w *consoletest.World, change ...string) url.Values {
	return opened(w, "sources", strings.NewReplacer(change...).Replace("- name: shop\n  repository: acme/shop\n"+
		"  ref: heads/main\n  people: [everybody]\n  agents: [claude, codex]\n  ci: skip\n"))
}

var shop = agent.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{agent.Everybody},
	Agents: []string{"claude", "codex"}, CI: agent.CISkip, RepositoryID: 7_000_001}

func testASourceIsListed(t *testing.T, w *consoletest.World) {
	hub, b := connected(w), w.As(webapi.Suzuki)
	b.Get(formPage).Says(t, http.StatusOK, "リポジトリのファイルが、そのエージェントの提供元に渡ります")
	b.Post(formPage, sources(w)).Leads(t, formPage+"?done=saved")
	expect.Same(t, []agent.Source{shop}, w.SettingsNow().Sources)
	log := settingsChanges(w)
	expect.That(t, len(log) == 1 && strings.Contains(string(log[0].Details), `"repository_id":7000001`), "%+v", log)
	asked := hub.asked.Load()
	b.Post(formPage, opened(w, "max_versions", "7")).Leads(t, formPage+"?done=saved")
	expect.Same(t, []agent.Source{shop}, w.SettingsNow().Sources)
	expect.That(t, hub.asked.Load() == asked, "GitHub is asked again")
	b.Get(logPage).Says(t, http.StatusOK, "repository: acme/shop")
	b.Post(formPage, asSentBack(b.Get(formPage))).Leads(t, formPage+"?done=saved") // as it was shown
	expect.Same(t, []agent.Source{shop}, w.SettingsNow().Sources)
	file := b.Get("/console/settings.yaml").Body
	expect.Has(t, file, "repository: acme/shop")
	expect.Has(t, file, "repository_id: 7000001")
	form := url.Values{"text": {strings.Replace(file, "repository_id: 7000001", "repository_id: 8", 1)}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, ja.Rule("source_other"))
}

func testWhatGitHubDoesntHave(t *testing.T, w *consoletest.World) {
	hub, b := connected(w), w.As(webapi.Suzuki)
	for rule, change := range map[string][]string{
		"source_name": {"name: shop", "name: Shop!"}, "source_repository": {"acme/shop", "shop"},
		"source_ref": {"heads/main", "main"}, "source_path": {"  ref", "  path: ../x\n  ref"},
		"source_people": {"[everybody]", "['@sato']"}, "source_agents": {"[claude, codex]", "[]"},
		"source_ci":      {"  ci: skip\n", ""},
		"source_missing": {"acme/shop", "acme/none"}, "source_no_ref": {"heads/main", "tags/none"},
	} {
		b.Post(formPage, sources(w, change...)).Says(t, http.StatusUnprocessableEntity, ja.Rule(string(rule)))
	}
	twice := sources(w)
	twice.Set("sources", twice.Get("sources")+twice.Get("sources"))
	b.Post(formPage, twice).Says(t, http.StatusUnprocessableEntity, ja.Rule("taken"))
	hub.disconnected = true
	b.Post(formPage, sources(w)).Says(t, http.StatusUnprocessableEntity, ja.Rule("source_unconnected"))
	expect.That(t, len(w.SettingsNow().Sources) == 0, "it is saved all the same")
}

func testANameOfAnother(t *testing.T, w *consoletest.World) {
	hub, b := connected(w), w.As(webapi.Suzuki)
	b.Post(formPage, sources(w)).Leads(t, formPage+"?done=saved")
	r := hub.Add("acme", "shop")
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

// TestListedReads is about the reads that an administrator lets agents make without a person.
func TestListedReads(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a read is listed for an agent and people, on the page and by a file": testAReadIsListed,
		"what can't be listed is said at its field":                           testWhatCantBeListed,
	})
}

// listedRead returns the form with one read. change has texts of it, each with what stands there instead.
func listedRead(w *consoletest.World, name, version string, change ...string) url.Values {
	return opened(w, "listed_reads", strings.NewReplacer(change...).Replace(fmt.Sprintf("- agent: claude\n  tool: %q\n"+
		"  version: %q\n  people: [%s, %s]\n", name, version, webapi.Sato, webapi.Suzuki)))
}

func versionOf(t *testing.T, name string) string {
	s, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	return s.Version()
}

func testAReadIsListed(t *testing.T, w *consoletest.World) {
	b, version := w.As(webapi.Suzuki), versionOf(t, "list_employees")
	b.Get("/console/tools").Says(t, http.StatusOK, version)
	b.Post(formPage, listedRead(w, "list_employees", version)).Leads(t, formPage+"?done=saved")
	want := []agent.ListedRead{{Agent: "claude", Tool: "list_employees", Version: version,
		People: []string{webapi.Sato, webapi.Suzuki}}}
	expect.Same(t, want, w.SettingsNow().ListedReads)
	file := b.Get("/console/settings.yaml").Body
	expect.Has(t, file, "version: "+version)
	form := url.Values{"text": {strings.Replace(file, version, strings.Repeat("0", 64), 1)}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, ja.Rule("listed_other"))
	expect.Same(t, want, w.SettingsNow().ListedReads)
}

func testWhatCantBeListed(t *testing.T, w *consoletest.World) {
	b, read, write := w.As(webapi.Suzuki), versionOf(t, "list_employees"), versionOf(t, "send_slack_dm")
	for rule, form := range map[string]url.Values{
		"listed_tool":    listedRead(w, "", read),
		"listed_version": listedRead(w, "list_employees", "abc"),
		"listed_people":  listedRead(w, "list_employees", read, webapi.Sato, "'@sato'"),
		"agent_id":       listedRead(w, "list_employees", read, "claude", "Claude!"),
		"listed_unknown": listedRead(w, "list_nothing", read),
		"listed_other":   listedRead(w, "list_employees", strings.Repeat("0", 64)),
		"listed_free":    listedRead(w, "send_slack_dm", write),
	} {
		b.Post(formPage, form).Says(t, http.StatusUnprocessableEntity, ja.Rule(string(rule)))
	}
	expect.Is(t, len(w.SettingsNow().ListedReads), 0, "it is saved all the same")
}

// What rules decide is said once, and has no switch; people stand by name alone.
func TestWhatRulesDecideHasNoSwitch(t *testing.T) {
	w := consoletest.Start(t)
	s := w.SettingsNow()
	s.Approvers.Mode, s.Approvers.Users = "list", []string{webapi.Tanaka}
	expect.Value(w.Store.SaveSettings(t.Context(), w.Tenant.ID, s, w.By, w.Now()))(t)
	const flag, says = `role="switch" class="switch" id="s-process-approval-required"`, "回覧ルールが決めます"
	b := w.As(webapi.Suzuki)
	page := b.Get(formPage)
	page.Holds(t, flag)
	page.Lacks(t, webapi.Tanaka+"</span>", says)
	x := &rules.Rules{Rules: []rules.Rule{{ID: aggregate.NewID(), Name: "none", Outcome: rules.Outcome{Refuse: "No."}}}}
	_, _, err := w.Store.SaveRules(t.Context(), w.Tenant.ID, x, 0, nil, w.By, w.Now())
	expect.NoError(t, err)
	page = b.Get(formPage)
	page.Says(t, 200, says, "実行ステップの承認を求める 実行ステップについては、回覧ルールが決めます。 回覧ルール")
	page.Lacks(t, flag)
	expect.Is(t, strings.Count(page.Body, says), 1)
}
