package coldstart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ringi/infra/local/process"
	"ringi/infra/witness/npm"
)

// Bolt is an app with Bolt for JavaScript and the same clients as receive-interaction. The two are started in turns.
type Bolt struct {
	Pair
	Node, Bolt string // versions
	Size       int64  // bytes of the app with its modules
}

// measureBolt starts the Bolt app and a function in turns. It returns nil where there is no Node.
func measureBolt(ctx context.Context, root string, o Options, environment []string, beside starter) (*Bolt, error) {
	node, err := npm.Node(ctx)
	if errors.Is(err, npm.ErrNode) {
		fmt.Fprintf(o.Log, "nothing is compared with Bolt: %v\n", err)
		return nil, nil
	}
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	dir, err := npm.Install(ctx, folder, "bench-bolt", os.DirFS(filepath.Join(root, "infra", "bench", "bolt")))
	if err != nil {
		return nil, err
	}
	b := &Bolt{}
	if b.Pair, err = pairs(ctx, o.Spawns, starter{[]string{node, "bootstrap.js"}, environment, dir}, beside); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return nil, err
	}
	b.Node = strings.TrimSpace(string(version))
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

// weight is the size of all files below a folder.
func weight(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
