// Package npm installs the witnesses that run on Node.
package npm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/expect"
)

// ErrNode says what to install when there is no suitable Node.
var ErrNode = errors.New("this witness needs Node 20 or newer with npm: install nodejs and npm")

// withoutNode, set where CI has no Node, leaves these witnesses out; without it a missing Node fails there.
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
	folder, err := process.Folder()
	expect.NoError(t, err)
	if dir, err = Install(t.Context(), folder, name, files); err != nil {
		t.Fatal(err)
	}
	return node, dir
}

// Install puts files and the packages that they lock below folder, once for each
// content, and returns where. Several processes may ask at once.
func Install(ctx context.Context, folder, name string, files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%s %d\n", path, len(content))
		sum.Write(content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	unlock, err := process.Lock(filepath.Join(folder, name+".lock"))
	if err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	defer unlock()
	dir := filepath.Join(folder, name+"-"+hex.EncodeToString(sum.Sum(nil))[:12])
	stamp := filepath.Join(dir, "installed")
	if _, err := os.Stat(stamp); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("remove an unfinished installation: %w", err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm could not install %s (is a package registry reachable from here?): %s", name, strings.TrimSpace(string(out)))
	}
	if err := os.WriteFile(stamp, nil, 0o644); err != nil {
		return "", fmt.Errorf("stamp the installation: %w", err)
	}
	return dir, nil
}
