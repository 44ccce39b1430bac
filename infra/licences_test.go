package infra_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

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
	expect.Patience(t)
	syft := samTool(t, "syft")
	cache := strings.TrimSpace(string(expect.Value(exec.Command("go", "env", "GOMODCACHE").Output())(t)))
	bill := filepath.Join(t.TempDir(), "sbom.cdx.json")
	download := exec.Command("go", "mod", "download")
	download.Dir = repository
	out, err := download.CombinedOutput()
	expect.Must(t, err == nil, "go mod download: %v\n%s", err, out)
	cmd := exec.Command(syft, "scan", "--quiet", "file:go.mod", "--source-name", "ringi", "--output", "cyclonedx-json="+bill)
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

func TestALicenceThatForbidsShippingIsNoticed(t *testing.T) {
	var m materials
	expect.NoError(t, json.Unmarshal([]byte(`{"components":[
		{"name":"a","version":"v1","licenses":[{"license":{"id":"MIT"}},{"license":{"id":"GPL-3.0-only"}}]},
		{"name":"b","version":"v1","licenses":[]},
		{"name":"c","version":"v1","licenses":[{"expression":"MIT"}]},
		{"name":"d","version":"v1","licenses":[{"license":{"name":"ask us"}}]}]}`), &m))
	want := []string{"a is under GPL-3.0-only", "b has no licence that anybody can find", "d is under ask us", "c v2 is not on the bill"}
	got := m.faults([]string{"a v1", "c v2"})
	expect.That(t, slices.Equal(got, want), "%q, wanted %q", got, want)
}
