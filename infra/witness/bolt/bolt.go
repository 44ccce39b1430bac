// Package bolt keeps the witness on Bolt for JavaScript, Slack's own framework.
package bolt

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ringi/infra/local/process"
)

//go:embed package.json package-lock.json .npmrc app.js
var files embed.FS

// ErrNode says what to install when there is no suitable Node.
var ErrNode = errors.New("the Bolt witness needs Node 20 or newer with npm: install nodejs and npm")

// node finds a Node that is new enough for Bolt.
func node(ctx context.Context) (string, error) {
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

// install puts the app and the locked packages below folder, once for each
// content, and returns where. Several processes may ask at once.
func install(ctx context.Context, folder string) (string, error) {
	sum := sha256.New()
	names, err := fs.Glob(files, "*")
	if err != nil {
		return "", fmt.Errorf("install Bolt: %w", err)
	}
	for _, name := range names {
		content, err := files.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("install Bolt: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(content))
		sum.Write(content)
	}
	unlock, err := process.Lock(filepath.Join(folder, "bolt.lock"))
	if err != nil {
		return "", fmt.Errorf("install Bolt: %w", err)
	}
	defer unlock()
	dir := filepath.Join(folder, "bolt-"+hex.EncodeToString(sum.Sum(nil))[:12])
	stamp := filepath.Join(dir, "installed")
	if _, err := os.Stat(stamp); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("remove an unfinished installation: %w", err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		return "", fmt.Errorf("install Bolt: %w", err)
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm could not install Bolt (is a package registry reachable from here?): %s", strings.TrimSpace(string(out)))
	}
	if err := os.WriteFile(stamp, nil, 0o644); err != nil {
		return "", fmt.Errorf("stamp the installation: %w", err)
	}
	return dir, nil
}
