package infra_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

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
mkdir -p node_modules/pyodide node_modules/@types && touch node_modules/pyodide/pyodide.mjs node_modules/pyodide/pyodide.mjs.map
`

// A function's Python is installed beside its binary, by its lock; without npm nothing is built that lacks it unseen.
func TestThePythonOfAFunctionIsBuilt(t *testing.T) {
	tool, dir, write := underMake(t)
	for _, name := range []string{"go.mod", "go.sum", "shared/one/one.go", "functions/run-sandbox/main.go",
		"functions/run-sandbox/index.mjs", "functions/run-sandbox/python/python3", "functions/run-sandbox/python/package-lock.json"} {
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
	for _, name := range []string{"sh", "sed", "tr", "printf", "mkdir", "ln", "readlink", "rm", "sleep", "cksum", "cut", "touch",
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
		"node_modules/pyodide/pyodide.mjs": true, "node_modules/pyodide/pyodide.mjs.map": false, "node_modules/@types": false} {
		_, err := os.Stat(filepath.Join(dir, "out/python", name))
		expect.That(t, (err == nil) == there, "%s: %v", name, err)
	}
}
