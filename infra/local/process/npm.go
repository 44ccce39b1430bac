package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// ErrNode says which Node to install if there is no suitable one.
var ErrNode = errors.New("this test needs Node 20 or newer with npm: install nodejs and npm")

// withoutNode is the variable that skips such tests in CI. Without it a missing Node is a failure there.
const withoutNode = "RINGI_WITHOUT_NODE"

// Node finds a suitable Node, or returns ErrNode.
func Node(ctx context.Context) (string, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", ErrNode
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", ErrNode
	}
	if exec.CommandContext(ctx, path, "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)").Run() != nil {
		return "", ErrNode
	}
	return path, nil
}

// Start finds Node and installs a package for a test. Without Node it skips the test.
func StartNode(t testing.TB, name string, files fs.FS) (node, dir string) {
	t.Helper()
	node, dir = Try(t, name, files)
	if node == "" {
		t.Skip(ErrNode)
	}
	return node, dir
}

// Try is Start for a test that says something without Node, too: it returns nothing then.
func Try(t testing.TB, name string, files fs.FS) (node, dir string) {
	t.Helper()
	node, err := Node(t.Context())
	if errors.Is(err, ErrNode) && (os.Getenv("CI") == "" || os.Getenv(withoutNode) != "") {
		return "", ""
	}
	expect.NoError(t, err)
	folder := expect.Value(Folder())(t)
	dir = expect.Value(InstallNode(t.Context(), folder, name, files))(t)
	return node, dir
}

// Install writes files, installs the packages that they lock, and returns the path below folder. It does so once for
// each content of files; concurrent processes are safe.
func InstallNode(ctx context.Context, folder, name string, files fs.FS) (string, error) {
	return Install(folder, name, files, func(dir string) error {
		npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			return fmt.Errorf("npm could not install %s (is a package registry reachable from here?): %s", name, strings.TrimSpace(string(out)))
		}
		return nil
	})
}
