package infra_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/template"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

// Stage has no default: a deployment that forgets it must become neither production, whose heads nobody can delete, nor
// anything weaker. A check calls a row inserted that stands unsealed for longer than a batch that failed once takes.
func TestAStageSaysHowTheAuditLogIsSealed(t *testing.T) {
	_, err := template.Read("../"+templateFile, anyAccount, nil)
	expect.That(t, err != nil && strings.Contains(err.Error(), "Stage has no default"), "%v", err)
	for stage, want := range map[string]struct {
		mode   string
		window time.Duration
	}{"dev": {"GOVERNANCE", 2 * time.Second}, "staging": {"GOVERNANCE", 20 * time.Second},
		"prod": {"COMPLIANCE", 20 * time.Second}} {
		read := expect.Value(template.Read("../"+templateFile, anyAccount, map[string]string{"Stage": stage}))(t)
		heads := slices.IndexFunc(read.Buckets, func(b template.Bucket) bool { return b.ID == "HeadsBucket" })
		expect.Is(t, read.Buckets[heads].Retention.Mode, want.mode, stage)
		sealer := slices.IndexFunc(read.Functions, func(f template.Function) bool { return f.ID == "SealAuditFunction" })
		window := read.Functions[sealer].Streams[0].Window
		expect.That(t, window == want.window && window <= chain.Unsealed/2, "%s: rows wait %s for others", stage, window)
	}
}

// Production refuses every name that aggregate.ParseModelName reads as the demo model, and no other: the pattern of
// Model lets that one be called demo and nothing else, and a rule refuses it.
func TestProductionTakesNoDemoModelByAnyName(t *testing.T) {
	var d struct {
		Parameters map[string]struct {
			Pattern string `yaml:"AllowedPattern"`
		} `yaml:"Parameters"`
		Rules map[string]yaml.Node `yaml:"Rules"`
	}
	expect.NoError(t, yaml.Unmarshal([]byte(textOf(t, "../"+templateFile)), &d))
	pattern := regexp.MustCompile(d.Parameters["Model"].Pattern)
	for _, name := range []string{"demo", "demo:any", "demo:claude-sonnet-4-6", "claude-sonnet-4-6", "anthropic:demo",
		"openai:gpt-5.4", "o3", "gemini-2.5-flash", "compatible:demo/demo", "bedrock:global.anthropic.claude-sonnet-4-6"} {
		demo := expect.Value(aggregate.ParseModelName(name))(t).Provider == aggregate.Demo
		expect.Is(t, pattern.MatchString(name), !demo || name == "demo", name)
	}
	rule := d.Rules["ProductionThinks"]
	expect.Is(t, fmt.Sprint(at(plain(&rule), "RuleCondition")), "map[Fn::Equals:[map[Ref:Stage] prod]]")
	expect.Is(t, fmt.Sprint(at(list(at(plain(&rule), "Assertions"))[0], "Assert")),
		"map[Fn::Not:[map[Fn::Equals:[map[Ref:Model] demo]]]]")
}

// fakeNPM installs what npm would, and what no function needs.
const fakeNPM = `#!/bin/sh
echo "$@" >asked
mkdir -p node_modules/pyodide node_modules/@types
touch node_modules/pyodide/pyodide.mjs node_modules/pyodide/pyodide.mjs.map
`

// A function's Python is installed beside its binary, by its lock; without npm nothing is built that lacks it unseen.
func TestThePythonOfAFunctionIsBuilt(t *testing.T) {
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"Makefile": textOf(t, "../Makefile"), "bin/go": "#!/bin/sh\n",
		"functions/run-sandbox/index.mjs": "", "functions/run-sandbox/python/python3": "",
		"functions/run-sandbox/python/package-lock.json": "", "out/bootstrap": "", "npm/npm": fakeNPM} { // SAM makes out
		path := filepath.Join(dir, name)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	for _, name := range []string{"sh", "sed", "tr", "printf", "mkdir", "rm", "touch", "cp", "cat"} {
		if path, err := exec.LookPath(name); err == nil {
			expect.NoError(t, os.Symlink(path, filepath.Join(dir, "bin", name)))
		}
	}
	build := func(path string) (string, error) {
		cmd := exec.Command(tool, "build-RunSandboxFunction", "ARTIFACTS_DIR="+filepath.Join(dir, "out"))
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + path}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := build(filepath.Join(dir, "bin"))
	expect.That(t, err != nil && strings.Contains(out, "npm is missing"), "%v\n%s", err, out)
	out, err = build(filepath.Join(dir, "bin") + ":" + filepath.Join(dir, "npm"))
	expect.That(t, err == nil, "%v\n%s", err, out)
	python := filepath.Join(dir, "out/python")
	expect.Has(t, textOf(t, filepath.Join(python, "asked")), "ci --ignore-scripts")
	for _, name := range []string{"python3", "python", "package-lock.json", "node_modules/pyodide/pyodide.mjs"} {
		_, err := os.Stat(filepath.Join(python, name))
		expect.NoError(t, err)
	}
}
