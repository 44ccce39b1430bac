// Package npm installs the witnesses that run on Node.
package npm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// ErrNode is the error where there is no suitable Node. It says what to install.
var ErrNode = errors.New("this witness needs Node 20 or newer with npm: install nodejs and npm")

// withoutNode is the variable that leaves these witnesses out in CI. Without it a missing Node is a failure there.
const withoutNode = "RINGI_WITHOUT_NODE"

// Node finds a Node that is new enough, or returns ErrNode.
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

// Start finds Node and installs a package for a test, which is skipped where there is no Node.
func Start(t testing.TB, name string, files fs.FS) (node, dir string) {
	t.Helper()
	node, err := Node(t.Context())
	if errors.Is(err, ErrNode) && (os.Getenv("CI") == "" || os.Getenv(withoutNode) != "") {
		t.Skip(err)
	}
	expect.NoError(t, err)
	folder := expect.Value(process.Folder())(t)
	dir = expect.Value(Install(t.Context(), folder, name, files))(t)
	return node, dir
}

// Install puts files, and the packages that they lock, into a folder below folder, and returns its path. It does so
// once for each content of the files. Several processes may ask at once.
func Install(ctx context.Context, folder, name string, files fs.FS) (string, error) {
	return process.Install(folder, name, files, func(dir string) error {
		npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			return fmt.Errorf("npm could not install %s (is a package registry reachable from here?): %s", name, strings.TrimSpace(string(out)))
		}
		return nil
	})
}
