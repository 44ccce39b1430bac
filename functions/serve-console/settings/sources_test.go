package settings_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
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

// sources returns the form with one row of sources, and an empty one.
func sources(w *consoletest.World, change ...string) url.Values {
	return opened(w, append([]string{"sources.name", "shop|", "sources.repository", "acme/shop|", "sources.ref", "heads/main|",
		"sources.path", "|", "sources.people", "everybody|", "sources.agents", "claude、codex|", "sources.ci", "skip|",
		"sources.allow", "CODEOWNERS|"}, change...)...)
}

var shop = agent.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{agent.Everybody},
	Agents: []string{"claude", "codex"}, CI: agent.CISkip, Allow: []string{"CODEOWNERS"}, RepositoryID: 7_000_001}

func testASourceIsListed(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/settings").Says(t, http.StatusOK, "リポジトリのファイルが、そのエージェントの提供元に渡ります").Holds(t,
		`<option value="" selected>選んでください</option>`)
	b.Post("/console/settings", sources(w)).Leads(t, "/console/settings?done=saved")
	expect.Same(t, []agent.Source{shop}, w.SettingsNow().Sources)
	log := settingsChanges(w)
	expect.That(t, len(log) == 1 && strings.Contains(string(log[0].Details), `"repository_id":7000001`), "%+v", log)
	asked := w.GitHub.Asked.Load()
	b.Post("/console/settings", opened(w, "max_versions", "7")).Leads(t, "/console/settings?done=saved")
	expect.Same(t, []agent.Source{shop}, w.SettingsNow().Sources)
	expect.That(t, w.GitHub.Asked.Load() == asked, "GitHub is asked again")
	b.Get("/console/settings").Says(t, http.StatusOK, "shop acme/shop heads/main everybody claude, codex skip CODEOWNERS") // in the history
	file := b.Get("/console/settings.yaml").Body
	expect.Has(t, file, "repository: acme/shop")
	expect.Has(t, file, "repository_id: 7000001")
	form := url.Values{"text": {strings.Replace(file, "repository_id: 7000001", "repository_id: 8", 1)}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.Rule(agent.RuleSourceOther)))
}

func testWhatGitHubDoesntHave(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for rule, change := range map[agent.Rule][]string{
		agent.RuleSourceName: {"sources.name", "Shop!|"}, agent.RuleSourceRepository: {"sources.repository", "shop|"},
		agent.RuleSourceRef: {"sources.ref", "main|"}, agent.RuleSourcePath: {"sources.path", "../x|"},
		agent.RuleSourcePeople: {"sources.people", "@sato|"}, agent.RuleSourceAgents: {"sources.agents", "|"},
		agent.RuleSourceCI: {"sources.ci", "|"}, agent.RuleSourceAllow: {"sources.allow", ".gitmodules|"}, agent.RuleSourceMissing: {"sources.repository", "acme/none|"},
		agent.RuleSourceNoRef: {"sources.ref", "tags/none|"},
	} {
		b.Post("/console/settings", sources(w, change...)).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.Rule(rule)))
	}
	twice := sources(w)
	for name := range twice {
		if strings.HasPrefix(name, "sources.") {
			twice[name][1] = twice[name][0]
		}
	}
	b.Post("/console/settings", twice).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.Rule(agent.RuleSourceName)))
	w.GitHub.Disconnected = true
	b.Post("/console/settings", sources(w)).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.Rule(agent.RuleSourceUnconnected)))
	expect.That(t, len(w.SettingsNow().Sources) == 0, "it is saved all the same")
}

func testANameOfAnother(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Post("/console/settings", sources(w)).Leads(t, "/console/settings?done=saved")
	r := w.GitHub.Add("acme", "shop")
	r.Commit("next", "another", nil, w.Now())
	b.Post("/console/settings", sources(w, "sources.ref", "heads/next|")).Says(t, http.StatusUnprocessableEntity,
		ja.Rule(tenancy.Rule(agent.RuleSourceOther)))
	none := sources(w)
	for name := range none {
		if strings.HasPrefix(name, "sources.") {
			none[name] = []string{"", ""}
		}
	}
	b.Post("/console/settings", none).Leads(t, "/console/settings?done=saved")
	b.Post("/console/settings", sources(w, "sources.ref", "heads/next|")).Leads(t, "/console/settings?done=saved")
	expect.Same(t, 7_000_002, w.SettingsNow().Sources[0].RepositoryID)
}

func testGitHubIsSilent(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.GitHub.Down.Store(true)
	b.Post("/console/settings", sources(w)).Says(t, http.StatusServiceUnavailable, "GitHub の応答がなく").Holds(t, `value="acme/shop"`)
	expect.That(t, len(w.SettingsNow().Sources) == 0, "it is saved all the same")
	text := b.Get("/console/settings.yaml").Body + "\n"
	text = strings.Replace(text, "sources: []", `sources: [{name: shop, repository: acme/shop, ref: heads/main, people: [everybody], `+
		`agents: [claude], ci: run}]`, 1)
	b.Post("/console/settings/import", url.Values{"text": {text}}).Says(t, http.StatusServiceUnavailable, "GitHub の応答がなく")
}
