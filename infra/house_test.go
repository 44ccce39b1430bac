package infra_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// ranks are the packages of shared, from the ground up. A package imports only what stands in
// ranks below its own, so no import runs back. A new package gets its place here.
var ranks = [][]string{
	{"domain/chain", "runtime/config", "words/lazy", "runtime/panics", "runtime/sandbox", "runtime/sleep", "domain/websession"},
	{"domain/aggregate", "words/language", "words/legible", "words/mask", "runtime/metric", "runtime/outbound", "tool/schema", "runtime/secret", "slack/signin", "slack/slackapi/outgoing"},
	{"domain/agent", "domain/fact", "domain/modelname", "runtime/sandbox/invoke", "domain/submission", "domain/workspace"},
	{"domain/payload", "domain/tenancy", "store/versions"},
	{"domain/contest"},
	{"domain/task", "model/teamconfig"},
	{"domain/session"},
	{"explain/reason"},
	{"explain/auditlog", "runtime/boot", "decide/effect", "explain/errorclass", "explain/failure", "model/demo", "model/price", "store/result", "slack/slackapi/inbound", "explain/line"},
	{"model/contestfiles", "decide/pipeline", "explain/refusal", "tool/wire"},
	{"slack/card", "slack/slackapi", "store"},
	{"store/contests", "decide/intake", "store/sessions", "store/tasks"},
	{"store/kinds"},
	{"secret/oauth", "tool"},
	{"slack/home", "model", "slack/people", "store/seal", "tool/freee", "tool/mcp", "tool/sheets", "tool/slackdm"},
	{"model/chat"},
	{"decide/decision", "model/round", "secret/vault", "model/anthropic", "model/bedrock", "model/compatible", "model/managed", "model/openai", "tool/overtime", "decide/inbox"},
	{"model/provider", "secret/bots", "model/reading", "tool/runner"},
}

// withoutSDK are packages that import nothing but the standard library, packages of ours and ulid: the
// domain first, then what puts it into words.
var withoutSDK = []string{"domain/agent", "domain/aggregate", "explain/auditlog", "domain/chain", "domain/contest", "domain/fact", "words/language", "words/lazy", "domain/modelname", "domain/tenancy", "domain/task", "explain/failure", "words/legible", "words/mask", "runtime/metric", "model/demo", "model/price", "runtime/panics", "domain/payload", "explain/reason", "runtime/sandbox", "domain/session", "runtime/sleep", "domain/submission", "explain/line", "domain/workspace"}

// helpers are imported by tests only. Those that are true start stand-ins of infra/local.
var helpers = map[string]bool{
	"slack/card/cardtest": true, "store/contests/conteststest": false, "runtime/expect": false, "runtime/metric/metrictest": false, "model/modeltest": false, "decide/pipeline/pipelinetest": false, "slack/slackapi/slacktest": true, "store/storetest": true,
}

// rank is a package's place in ranks, counted from 1; 0 when it has none.
func rank(name string) int {
	return 1 + slices.IndexFunc(ranks, func(r []string) bool { return slices.Contains(r, name) })
}

// own reports whether an import stays within a function.
func own(from, to string) bool {
	_, function, _ := strings.Cut(to, "/")
	function, _, _ = strings.Cut(function, "/")
	return strings.HasPrefix(strings.TrimPrefix(from, "ringi/")+"/", "functions/"+function+"/")
}

// forbidden says why one package's code may not import another, empty where it may.
func forbidden(from, to string) string {
	to, ours := strings.CutPrefix(to, "ringi/")
	importer, importee := place(strings.TrimPrefix(from, "ringi/")), place(to)
	switch _, helper := helpers[importer.name]; {
	case !ours && importer.folder == "shared" && slices.Contains(withoutSDK, importer.name) && strings.Contains(to, ".") && to != "github.com/oklog/ulid/v2":
		return "it goes without SDKs"
	case !ours:
		return ""
	case importee.folder == "functions" && own(from, to):
		return ""
	case importee.folder == "functions":
		return "a function is imported by nobody"
	case importer.folder == "infra":
		if strings.HasPrefix(importer.name, "local") && importee.folder == "infra" && !strings.HasPrefix(importee.name, "local") {
			return "the local stack stands below the rest of infra"
		}
		return ""
	case importee.folder == "infra" && !(helper && helpers[importer.name] && strings.HasPrefix(importee.name, "local/")):
		return "infra stands on top"
	case helper || importer.folder == "functions" && rank(importee.name) > 0:
		return ""
	case rank(importee.name) == 0:
		return "it is for tests, or has no rank"
	case rank(importee.name) >= rank(importer.name):
		return "the import runs back"
	}
	return ""
}

// forbiddenInTests is forbidden for a package's tests: they may start stand-ins and use what
// stands above.
func forbiddenInTests(from, to string) string {
	to, ours := strings.CutPrefix(to, "ringi/")
	switch {
	case ours && strings.HasPrefix(to, "functions/") && !own(from, to):
		return "a function is imported by nobody"
	case ours && !strings.HasPrefix(from, "ringi/infra") && strings.HasPrefix(to, "infra/") && !strings.HasPrefix(to, "infra/local/"):
		return "of infra tests need only the local stack"
	}
	return ""
}

type placed struct{ folder, name string }

// place is a package's folder at the top, and its name below that.
func place(path string) placed {
	folder, name, _ := strings.Cut(path, "/")
	return placed{folder, name}
}

func TestNoImportRunsBack(t *testing.T) {
	c := exec.Command("go", "list", "-e", "-f",
		`{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	c.Dir = repository
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		p := place(strings.TrimPrefix(f[0], "ringi/"))
		seen[p.name] = seen[p.name] || p.folder == "shared"
		if _, helper := helpers[p.name]; p.folder == "shared" && !helper && rank(p.name) == 0 {
			t.Errorf("%s has no rank", f[0])
		}
		for _, to := range strings.Fields(f[1]) {
			if why := forbidden(f[0], to); why != "" {
				t.Errorf("%s imports %s: %s", f[0], to, why)
			}
		}
		for _, to := range strings.Fields(f[2]) {
			if why := forbiddenInTests(f[0], to); why != "" {
				t.Errorf("a test of %s imports %s: %s", f[0], to, why)
			}
		}
	}
	for _, name := range append(slices.Concat(ranks...), withoutSDK...) {
		if !seen[name] {
			t.Errorf("shared/%s is gone", name)
		}
	}
	for name := range helpers {
		if !seen[name] {
			t.Errorf("shared/%s is gone", name)
		}
	}
}

func TestAnImportThatRunsBackIsSeen(t *testing.T) {
	for edge, allowed := range map[[2]string]bool{
		{"shared/store", "shared/domain/task"}:                   true,
		{"shared/domain/task", "shared/store"}:                   false,
		{"shared/slack/card", "shared/slack/slackapi"}:           false,
		{"shared/slack/slackapi", "shared/slack/card"}:           false,
		{"shared/secret/oauth", "shared/tool"}:                   false,
		{"shared/slack/card", "shared/store"}:                    false,
		{"shared/slack/card", "shared/new"}:                      false,
		{"shared/store", "functions/close-task"}:                 false,
		{"shared/store", "infra/local/moto"}:                     false,
		{"shared/store", "shared/store/storetest"}:               false,
		{"shared/store/storetest", "shared/store"}:               true,
		{"shared/store/storetest", "infra/local/moto"}:           true,
		{"shared/store/storetest", "infra/bench"}:                false,
		{"shared/runtime/metric/metrictest", "infra/local/moto"}: false,
		{"functions/close-task", "shared/store"}:                 true,
		{"functions/close-task", "shared/store/storetest"}:       false,
		{"functions/close-task", "functions/extract-task"}:       false,
		{"functions/close-task", "infra/local/stack"}:            false,
		{"infra/smoke", "shared/store"}:                          true,
		{"infra/smoke", "infra/local/stack"}:                     true,
		{"infra/local/stack", "infra/smoke"}:                     false,
		{"infra/local/stack", "infra/local/moto"}:                true,
		{"infra/smoke", "functions/close-task"}:                  false,
	} {
		if why := forbidden("ringi/"+edge[0], "ringi/"+edge[1]); (why == "") != allowed {
			t.Errorf("%s imports %s: %q", edge[0], edge[1], why)
		}
	}
	for sdk, allowed := range map[string]bool{"encoding/json": true, "github.com/oklog/ulid/v2": true, "github.com/slack-go/slack": false} {
		if why := forbidden("ringi/shared/domain/task", sdk); (why == "") != allowed {
			t.Errorf("the domain imports %s: %q", sdk, why)
		}
	}
	if forbiddenInTests("ringi/shared/store", "ringi/infra/bench") == "" || forbiddenInTests("ringi/shared/store", "ringi/infra/local/moto") != "" {
		t.Error("tests may start stand-ins, and no more of infra")
	}
}
