package infra_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	children "ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// samTool returns the path of a program in the environment that .ci/run makes for SAM.
func samTool(t *testing.T, name string) string {
	t.Helper()
	expect.Patience(t)
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
