package infra_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	children "ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// samTool returns the path of a program in the environment that .ci/run makes for SAM. What SAM itself makes of the
// template is looked at by night: by day .ci/run builds and lints it, and the tests read it as the local stack does.
func samTool(t *testing.T, name string) string {
	t.Helper()
	expect.AtNight(t)
	path := expect.Value(filepath.Abs(filepath.Join(repository, ".ringi-local", "ci", "bin", name)))(t)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	expect.Must(t, os.Getenv("CI") == "", "%s is not there: .ci/run installs it", path)
	t.Skipf("%s is not there: .ci/run installs it", path)
	return ""
}

// loaded is the process that runs all commands of the SAM CLI, one after the other. It ends with the test binary.
var loaded struct {
	sync.Mutex
	commands io.Writer // nil until the first command
	statuses *bufio.Reader
	running  *children.Process
}

// sam runs a command of the SAM CLI without a terminal, and returns its output and whether it succeeded.
func sam(t *testing.T, folder string, environment map[string]string, arguments ...string) (output string, ok bool) {
	t.Helper()
	python := samTool(t, "python")
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.commands == nil {
		loadSAM(t, python)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, loaded.running.Kill)()
	written := filepath.Join(t.TempDir(), "output")
	expect.NoError(t, json.NewEncoder(loaded.commands).Encode(map[string]any{
		"folder": folder, "environment": environment, "arguments": arguments, "output": written,
	}))
	status := expect.Value(loaded.statuses.ReadString('\n'))(t)
	return string(expect.Value(os.ReadFile(written))(t)), strings.TrimSpace(status) == "0"
}

func loadSAM(t *testing.T, python string) {
	t.Helper()
	cmd := exec.Command(python, filepath.Join("testdata", "sam.py"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "SAM_CLI_TELEMETRY=0", "LANG=C.UTF-8"}
	cmd.Stderr = os.Stderr
	commands := expect.Value(cmd.StdinPipe())(t)
	statuses := expect.Value(cmd.StdoutPipe())(t)
	loaded.running = expect.Value(children.Start(cmd))(t)
	loaded.commands, loaded.statuses = commands, bufio.NewReader(statuses)
}

// fakeGo logs its calls. It fails if two of them compile at once, or one links before anything is compiled.
const fakeGo = `#!/bin/sh
case "$1" in
env) echo same ;;
list) mkdir busy && echo list >>log && touch compiled && rmdir busy ;;
build) test -e compiled && echo build >>log ;;
esac
`

// underMake returns the path of make and a folder with the project's Makefile and fakeGo, in which write writes a file.
func underMake(t *testing.T) (tool, dir string, write func(name, text string)) {
	t.Helper()
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make: .ci/run goes without, too")
	}
	dir = t.TempDir()
	write = func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	write("Makefile", textOf(t, "../Makefile"))
	write("bin/go", fakeGo)
	return tool, dir, write
}

// SAM makes several functions at once. Those that begin together compile what they share once, before any links.
func TestFunctionsThatAreBuiltAtOnceCompileOnce(t *testing.T) {
	tool, dir, write := underMake(t)
	for _, name := range []string{"go.mod", "go.sum", "shared/one/one.go", "functions/close-task/main.go"} {
		write(name, "")
	}
	make := func(functions int) {
		t.Helper()
		var all sync.WaitGroup
		for i := range functions {
			all.Go(func() {
				cmd := exec.Command(tool, "build-CloseTaskFunction", fmt.Sprintf("ARTIFACTS_DIR=out%d", i))
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				expect.That(t, err == nil, "%v\n%s", err, out)
			})
		}
		all.Wait()
	}
	logged := func(want string) {
		t.Helper()
		expect.Is(t, textOf(t, filepath.Join(dir, "log")), want, "go was asked for")
	}
	make(6)
	logged("list\n" + strings.Repeat("build\n", 6))
	make(1)
	logged("list\n" + strings.Repeat("build\n", 7))

	later := time.Now().Add(time.Minute)
	expect.NoError(t, os.Chtimes(filepath.Join(dir, "shared/one/one.go"), later, later))
	ended := exec.Command("true")
	expect.NoError(t, ended.Run())
	killed := fmt.Sprint(ended.Process.Pid) // its lock stayed
	expect.NoError(t, os.Symlink(killed, filepath.Join(dir, ".ringi-local/build/compiling")))
	make(1)
	logged("list\n" + strings.Repeat("build\n", 7) + "list\nbuild\n")
}

// fakeNPM installs what npm would, and what no function needs.
const fakeNPM = `#!/bin/sh
echo "$@" >asked
mkdir -p node_modules/pyodide node_modules/@types
touch node_modules/pyodide/pyodide.mjs node_modules/pyodide/pyodide.mjs.map
`

// A function's Python is installed beside its binary, by its lock; without npm nothing is built that lacks it unseen.
func TestThePythonOfAFunctionIsBuilt(t *testing.T) {
	tool, dir, write := underMake(t)
	for _, name := range []string{"go.mod", "go.sum", "shared/one/one.go", "functions/run-sandbox/main.go",
		"functions/run-sandbox/index.mjs", "functions/run-sandbox/python/python3",
		"functions/run-sandbox/python/package-lock.json"} {
		write(name, "")
	}
	build := func(environment ...string) (string, error) {
		cmd := exec.Command(tool, "build-RunSandboxFunction", "ARTIFACTS_DIR="+filepath.Join(dir, "out"))
		cmd.Dir, cmd.Env = dir, append(environment, "PATH="+filepath.Join(dir, "bin")+":"+filepath.Join(dir, "tools"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	expect.NoError(t, os.Mkdir(filepath.Join(dir, "out"), 0o755)) // as SAM does
	expect.NoError(t, os.Mkdir(filepath.Join(dir, "tools"), 0o755))
	for _, name := range []string{"sh", "sed", "tr", "printf", "mkdir", "ln", "readlink", "rm", "sleep", "cksum", "cut",
		"touch",
		"find", "mv", "cp", "rmdir", "test", "cat"} {
		if path, err := exec.LookPath(name); err == nil {
			expect.NoError(t, os.Symlink(path, filepath.Join(dir, "tools", name)))
		}
	}
	out, err := build()
	expect.That(t, err != nil && strings.Contains(out, "npm is missing"), "%v\n%s", err, out)
	out, err = build("RINGI_WITHOUT_NODE=1")
	expect.That(t, err == nil, "%v\n%s", err, out)
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

// transformed runs testdata/transform.py, which transforms a template as SAM does, and returns its output.
func transformed(t *testing.T, arguments ...string) []byte {
	t.Helper()
	cmd := exec.Command(samTool(t, "python"), append([]string{filepath.Join("testdata", "transform.py")}, arguments...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	expect.Must(t, err == nil, "%v\n%s", err, &errs)
	return out
}

// SAM transforms the template. The resulting roles must be those by which the local stack judges calls: SAM adds no
// role and no right.
func TestRolesAreThoseThatSAMDeploys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "expanded.json")
	expect.NoError(t, os.WriteFile(file, transformed(t, filepath.Join(repository, templateFile), "roles"), 0o600))
	everything := map[string]string{"Stage": "dev", "Sandbox": "on", "ContestWorkspace": "s3://contests/files"}
	ours := expect.Value(template.Roles(filepath.Join(repository, templateFile), anyAccount, everything))(t)
	if deployed := expect.Value(template.Roles(file, anyAccount, everything))(t); !reflect.DeepEqual(ours, deployed) ||
		len(ours) == 0 {
		for owner, role := range deployed {
			expect.That(t, reflect.DeepEqual(role, ours[owner]), "%s is %+v, deployed is %+v", owner, ours[owner], role)
		}
		t.Errorf("%d roles, deployed are %d", len(ours), len(deployed))
	}
}

// In SAM's own transformation, only the functions behind the API have versions. A change of such a function publishes
// one; a parameter's change doesn't.
func TestVersionsArePublishedByWhatChangesThem(t *testing.T) {
	out := transformed(t, filepath.Join(repository, templateFile))
	var got struct {
		Now, Timeout []string
		Parameters   map[string][]string
	}
	err := json.Unmarshal(out, &got)
	expect.Must(t, err == nil, "%v in %s", err, out)
	of := func(function string, versions []string) string {
		at := slices.IndexFunc(versions, func(v string) bool { return strings.HasPrefix(v, function+"Version") })
		expect.Must(t, at >= 0, "%s has no version among %v", function, versions)
		return versions[at]
	}
	expect.That(t, len(got.Now) == len(edge) && of(slackEdge[0], got.Now) != "" && of(slackEdge[1], got.Now) != "",
		"published are %v, wanted those of %v", got.Now, edge)
	for name, versions := range got.Parameters {
		expect.That(t, slices.Equal(versions, got.Now), "the parameter %s makes %v of %v", name, versions, got.Now)
	}
	expect.That(t, of(slackEdge[0], got.Timeout) != of(slackEdge[0], got.Now) &&
		of(slackEdge[1], got.Timeout) == of(slackEdge[1], got.Now),
		"a new timeout of %s makes %v of %v", slackEdge[0], got.Timeout, got.Now)
}

// shippable are the licences under which a binary may be distributed without its source. MPL-2.0 requires only the
// source of its own files, and only if they were changed; CC-BY-4.0 covers documentation.
var shippable = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "ISC", "MIT", "MPL-2.0"}

// materials is a bill of materials in CycloneDX format.
type materials struct {
	Components []struct {
		Name, Version string
		Licenses      []struct {
			License    struct{ ID, Name string }
			Expression string
		}
	}
}

// faults names each module that is missing on the bill, or not under a shippable licence.
func (m materials) faults(modules []string) (all []string) {
	listed := map[string]bool{}
	for _, c := range m.Components {
		listed[c.Name+" "+c.Version] = true
		if len(c.Licenses) == 0 {
			all = append(all, c.Name+" has no licence that anybody can find")
		}
		for _, l := range c.Licenses {
			if under := l.License.ID + l.License.Name + l.Expression; !slices.Contains(shippable, under) {
				all = append(all, fmt.Sprintf("%s is under %s", c.Name, under))
			}
		}
	}
	for _, module := range modules {
		if !listed[module] {
			all = append(all, module+" is not on the bill")
		}
	}
	return all
}

// Every module of go.mod, including those of tests, has a licence that allows distribution. The bill of materials stays
// in .ringi-local/sbom.cdx.json.
func TestEveryDependencyMayBeShipped(t *testing.T) {
	syft := samTool(t, "syft")
	cache := strings.TrimSpace(string(expect.Value(exec.Command("go", "env", "GOMODCACHE").Output())(t)))
	bill := filepath.Join(t.TempDir(), "sbom.cdx.json")
	download := exec.Command("go", "mod", "download")
	download.Dir = repository
	out, err := download.CombinedOutput()
	expect.Must(t, err == nil, "go mod download: %v\n%s", err, out)
	cmd := exec.Command(syft, "scan", "--quiet", "file:go.mod", "--source-name", "ringi", "--output",
		"cyclonedx-json="+bill)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "SYFT_CHECK_FOR_APP_UPDATE=false",
		"SYFT_GOLANG_SEARCH_LOCAL_MOD_CACHE_LICENSES=true", "SYFT_GOLANG_LOCAL_MOD_CACHE_DIR="+cache)
	out, err = cmd.CombinedOutput()
	expect.Must(t, err == nil, "%v\n%s", err, out)
	text := expect.Value(os.ReadFile(bill))(t)
	var m materials
	expect.NoError(t, json.Unmarshal(text, &m))
	modules := required(t)
	expect.That(t, len(modules) >= 20, "go.mod names %v", modules)
	for _, fault := range m.faults(modules) {
		t.Error(fault)
	}
	expect.NoError(t, os.WriteFile(filepath.Join(repository, ".ringi-local", "sbom.cdx.json"), text, 0o644))
}

// The packages that npm adds to the sandbox are locked by their hash, and may be shipped. What is compiled into Pyodide
// itself stands in functions/run-sandbox/README.md.
func TestThePythonOfTheSandboxMayBeShipped(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Version, Integrity, License string
		}
	}
	text := textOf(t, "../functions/run-sandbox/python/package-lock.json")
	expect.NoError(t, json.Unmarshal([]byte(text), &lock))
	readme := textOf(t, "../functions/run-sandbox/README.md")
	expect.That(t, len(lock.Packages) > 1, "the lock names %d packages", len(lock.Packages))
	for path, p := range lock.Packages {
		if path == "" { // the list itself
			continue
		}
		expect.That(t, strings.HasPrefix(p.Integrity, "sha512-"), "%s has no hash", path)
		expect.That(t, slices.Contains(shippable, p.License), "%s is under %q", path, p.License)
		name := strings.TrimPrefix(path, "node_modules/") + " " + p.Version
		listed := strings.HasPrefix(name, "@types/") || strings.Contains(readme, name+" ("+p.License+")")
		expect.That(t, listed, "README.md does not name %s (%s)", name, p.License)
	}
}

// required returns the modules that go.mod names, with their versions.
func required(t *testing.T) (modules []string) {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = repository
	var mod struct {
		Require []struct{ Path, Version string }
	}
	expect.NoError(t, json.Unmarshal(expect.Value(cmd.Output())(t), &mod))
	for _, r := range mod.Require {
		modules = append(modules, r.Path+" "+r.Version)
	}
	return modules
}
