package infra_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

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
