package infra_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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
// anything weaker. The other defaults are production's: no demo model, and a canary.
func TestTheTemplatesDefaultsAreProductions(t *testing.T) {
	rules := readRules(t)
	defaults := rules.complete(map[string]string{})
	_, has := defaults["Stage"]
	expect.That(t, !has && rules.refuse(t, defaults), "Stage is %q, where nobody names one", defaults["Stage"])
	defaults["Stage"] = "prod"
	expect.That(t, strings.HasPrefix(defaults["Canary"], "Canary") && !rules.refuse(t, defaults),
		"the defaults are Canary=%s, or refused", defaults["Canary"])
	for _, tt := range []struct {
		parameters map[string]string
		want       string
	}{
		{map[string]string{"Stage": "prod"}, "COMPLIANCE"},
		{map[string]string{"Stage": "dev"}, "GOVERNANCE"},
		{map[string]string{"Stage": "staging"}, "GOVERNANCE"},
	} {
		described := expect.Value(template.Read("../"+templateFile, anyAccount, tt.parameters))(t)
		at := slices.IndexFunc(described.Buckets, func(b template.Bucket) bool { return b.ID == "HeadsBucket" })
		expect.Is(t, described.Buckets[at].Retention.Mode, tt.want, "with %v heads are locked by", tt.parameters)
	}
}

// A check calls a row inserted that stands unsealed for longer, also after a batch that failed once.
func TestRowsAreSealedInTime(t *testing.T) {
	for stage, want := range map[string]time.Duration{"dev": 2 * time.Second, "staging": 20 * time.Second,
		"prod": 20 * time.Second} {
		described := expect.Value(template.Read("../"+templateFile, anyAccount, map[string]string{"Stage": stage}))(t)
		at := slices.IndexFunc(described.Functions, func(f template.Function) bool { return f.ID == "SealAuditFunction" })
		window := described.Functions[at].Streams[0].Window
		expect.That(t, window == want && window <= chain.Unsealed/2, "%s: rows wait %s for others", stage, window)
	}
}

// `sam deploy` ends by printing the outputs. They must warn if alarms notify nobody.
func TestADeploymentSaysThatNobodyHearsOfAlarms(t *testing.T) {
	var d struct {
		Conditions map[string]yaml.Node `yaml:"Conditions"`
		Outputs    map[string]struct {
			Value yaml.Node `yaml:"Value"`
		} `yaml:"Outputs"`
	}
	expect.NoError(t, yaml.Unmarshal([]byte(textOf(t, "../"+templateFile)), &d))
	said, asked := d.Outputs["AlarmsGoTo"].Value, d.Conditions["HasAlarmEmail"]
	either := list(at(plain(&said), "Fn::If"))
	expect.That(t, len(either) == 3 && text(either[0]) == "HasAlarmEmail" &&
		strings.Contains(text(at(either[1], "Fn::Sub")), "${AlarmEmail}") &&
		strings.Contains(text(at(either[2], "Fn::Sub")), "NOBODY"), "AlarmsGoTo says %v", plain(&said))
	expect.That(t, reflect.DeepEqual(plain(&asked),
		map[string]any{"Fn::Not": []any{map[string]any{"Fn::Equals": []any{map[string]any{"Ref": "AlarmEmail"}, ""}}}}),
		"HasAlarmEmail is %v", plain(&asked))
}

// templateRules are the rules by which CloudFormation refuses parameters.
type templateRules struct {
	Parameters map[string]struct {
		Default *string `yaml:"Default"`
		Pattern string  `yaml:"AllowedPattern"`
	} `yaml:"Parameters"`
	Rules map[string]struct {
		RuleCondition yaml.Node `yaml:"RuleCondition"`
		Assertions    []struct {
			Assert yaml.Node `yaml:"Assert"`
		} `yaml:"Assertions"`
	} `yaml:"Rules"`
}

func readRules(t *testing.T) (r templateRules) {
	t.Helper()
	expect.NoError(t, yaml.Unmarshal([]byte(textOf(t, "../"+templateFile)), &r))
	return r
}

// complete adds defaults for missing parameters.
func (r templateRules) complete(given map[string]string) map[string]string {
	for name, p := range r.Parameters {
		if _, ok := given[name]; !ok && p.Default != nil {
			given[name] = *p.Default
		}
	}
	return given
}

// Production refuses every name that aggregate.ParseModelName reads as the demo model, and no other.
func TestProductionTakesNoDemoModelByAnyName(t *testing.T) {
	rules := readRules(t)
	for _, name := range []string{"demo", "demo:any", "demo:claude-sonnet-4-6", "claude-sonnet-4-6", "anthropic:demo",
		"openai:gpt-5.4", "o3", "gemini-2.5-flash", "compatible:demo/demo", "bedrock:global.anthropic.claude-sonnet-4-6"} {
		parsed := expect.Value(aggregate.ParseModelName(name))(t)
		parameters := rules.complete(map[string]string{"Stage": "prod", "Model": name})
		demo := parsed.Provider == aggregate.Demo
		expect.That(t, rules.refuse(t, parameters) == demo, "%s is refused: %t, wanted %t", name, !demo, demo)
	}
	expect.That(t, !rules.refuse(t, rules.complete(map[string]string{"Stage": "prod", "Model": ""})),
		"none, which leaves it to the settings, is refused")
}

// refuse reports whether a rule, a parameter's pattern or a missing value refuses the parameters. It implements only
// the functions that the rules use.
func (r templateRules) refuse(t *testing.T, parameters map[string]string) bool {
	t.Helper()
	value := func(n *yaml.Node) string {
		if n.Tag == "!Ref" {
			return parameters[n.Value]
		}
		return n.Value
	}
	var holds func(n *yaml.Node) bool
	holds = func(n *yaml.Node) bool {
		switch n.Tag {
		case "!Equals":
			return value(n.Content[0]) == value(n.Content[1])
		case "!Not":
			return !holds(n.Content[0])
		}
		t.Fatalf("a rule uses %s, which this test does not know", n.Tag)
		return false
	}
	for name, p := range r.Parameters {
		if _, given := parameters[name]; !given { // CloudFormation: "Parameters: [Stage] must have values"
			return true
		}
		if p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(parameters[name]) {
			return true
		}
	}
	for _, rule := range r.Rules {
		for _, a := range rule.Assertions {
			if holds(&rule.RuleCondition) && !holds(&a.Assert) {
				return true
			}
		}
	}
	return false
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
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	for name, text := range map[string]string{"Makefile": textOf(t, "../Makefile"), "bin/go": "#!/bin/sh\n",
		"functions/run-sandbox/index.mjs": "", "functions/run-sandbox/python/python3": "",
		"functions/run-sandbox/python/package-lock.json": "", "out/bootstrap": "", "tools/none": ""} { // SAM makes out
		write(name, text)
	}
	for _, name := range []string{"sh", "sed", "tr", "printf", "mkdir", "rm", "touch", "cp", "cat"} {
		if path, err := exec.LookPath(name); err == nil {
			expect.NoError(t, os.Symlink(path, filepath.Join(dir, "tools", name)))
		}
	}
	build := func() (string, error) {
		cmd := exec.Command(tool, "build-RunSandboxFunction", "ARTIFACTS_DIR="+filepath.Join(dir, "out"))
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + filepath.Join(dir, "bin") + ":" + filepath.Join(dir, "tools")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := build()
	expect.That(t, err != nil && strings.Contains(out, "npm is missing"), "%v\n%s", err, out)
	write("bin/npm", fakeNPM)
	for range 2 { // the second replaces the first
		out, err = build()
		expect.That(t, err == nil, "%v\n%s", err, out)
	}
	expect.Has(t, textOf(t, filepath.Join(dir, "out/python/asked")), "ci --ignore-scripts")
	for name, there := range map[string]bool{"python3": true, "python": true, "package-lock.json": true,
		"node_modules/pyodide/pyodide.mjs": true, "node_modules/pyodide/pyodide.mjs.map": false,
		"node_modules/@types": false} {
		_, err := os.Stat(filepath.Join(dir, "out/python", name))
		expect.That(t, (err == nil) == there, "%s: %v", name, err)
	}
}
