package gate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// Who writes the repository, such as by a pull request, has no say in what Claude Code asks, or whom.
func TestTheRepositoryHasNoSayInItsOwnDoor(t *testing.T) {
	x := trial{dir: t.TempDir()}
	x.write(t, "claude", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
	expect.NoError(t, os.Chmod(filepath.Join(x.dir, "claude"), 0o755))
	cmd := exec.Command("sh", "-c", block(t, "Claude Code", "sh", 1))
	cmd.Env = []string{"PATH=" + x.dir + ":/usr/bin:/bin", "HOME=/home/a"}
	out := expect.Value(cmd.Output())(t)
	expect.Has(t, string(out), "\n--strict-mcp-config\n")
	expect.Has(t, string(out), "\n--mcp-config\n/home/a/.config/ringi/mcp.json\n")
	expect.Has(t, string(out), "\n--setting-sources\nuser\n")
	readme := string(expect.Value(os.ReadFile("README.md"))(t))
	expect.Has(t, readme, "`claude --setting-sources user`") // at a keyboard
	for _, of := range []string{"`.mcp.json`", "`.claude/settings", "sources project"} {
		expect.That(t, !strings.Contains(readme, of), "README keeps the door in the repository: %s", of)
	}
}
