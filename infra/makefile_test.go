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

// SAM makes several functions at once. Those that begin together compile what they share once, before any links.
func TestFunctionsThatAreBuiltAtOnceCompileOnce(t *testing.T) {
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make: .ci/run goes without, too")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	write("Makefile", textOf(t, "../Makefile"))
	write("bin/go", fakeGo)
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
