package coldstart

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"ringi/infra/local/process"
)

// leastNode is the oldest Node that the app runs with.
const leastNode = 20

// measureBolt starts the Bolt app and a function in turns; nil where there is no Node.
func measureBolt(ctx context.Context, root string, o Options, environment []string, beside starter) (*Bolt, error) {
	node, version, ok := findNode(ctx)
	if !ok {
		fmt.Fprintf(o.Log, "there is no Node %d with npm: nothing is compared with Bolt\n", leastNode)
		return nil, nil
	}
	dir, err := install(ctx, filepath.Join(root, "infra", "bench", "bolt"))
	if err != nil {
		return nil, err
	}
	b := &Bolt{Node: version}
	app := starter{[]string{node, "bootstrap.js"}, environment, dir}
	if b.RSS, b.Min, b.Median, _, _, b.Ratio, err = pairs(ctx, o.Spawns, app, beside); err != nil {
		return nil, err
	}
	if b.Size, err = weight(dir); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil, err
	}
	var described struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &described); err != nil {
		return nil, fmt.Errorf("read package.json: %w", err)
	}
	b.Bolt = described.Dependencies["@slack/bolt"]
	return b, nil
}

func findNode(ctx context.Context) (path, version string, ok bool) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", "", false
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", "", false
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	version = strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, _ := strconv.Atoi(major)
	return path, version, err == nil && n >= leastNode
}

// install makes a copy of the app with its modules, once for each lock file.
func install(ctx context.Context, from string) (string, error) {
	folder, err := process.Folder()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	contents := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json", "app.js", "bootstrap.js"} {
		if contents[name], err = os.ReadFile(filepath.Join(from, name)); err != nil {
			return "", fmt.Errorf("install the Bolt app: %w", err)
		}
		sum.Write(contents[name])
	}
	dir := filepath.Join(folder, "bench", "bolt-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("install the Bolt app: %w", err)
	}
	unlock, err := process.Lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(dir, "installed")); err == nil {
		return dir, nil
	}
	for name, b := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return "", fmt.Errorf("install the Bolt app: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("install the Bolt app: %w\n%s", err, &said)
	}
	return dir, os.WriteFile(filepath.Join(dir, "installed"), nil, 0o644)
}

// weight is the size of all files below a folder.
func weight(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	return total, err
}
