package lambda

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"ringi/infra/local/process"
)

// keepBuilds is how long a binary that no build made again is kept.
const keepBuilds = 24 * time.Hour

// Build compiles every command below root/functions as the template's build
// does, for this machine, and returns the binary of each folder. Go's cache
// makes an unchanged build quick. A binary's path holds its content's hash, so
// that a stack started later never replaces what an earlier one runs.
//
// It returns the compiler's words if something doesn't compile.
func Build(ctx context.Context, root string) (map[string]string, error) {
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	folder = filepath.Join(folder, "build")
	latest := filepath.Join(folder, "latest")
	if err := os.MkdirAll(latest, 0o755); err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	unlock, err := process.Lock(filepath.Join(folder, "lock"))
	if err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	defer unlock()

	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w",
		"-o", latest+string(filepath.Separator), "./functions/...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build functions: %w\n%s", err, out)
	}
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	binaries := map[string]string{}
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		path, err := store(filepath.Join(latest, f.Name()), folder)
		if errors.Is(err, os.ErrNotExist) {
			continue // a folder without a command
		}
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", f.Name(), err)
		}
		binaries[f.Name()] = path
	}
	return binaries, forget(folder)
}

// Artifacts are the binaries that `sam build` left: <folder>/<logical id>/bootstrap.
func Artifacts(folder string, ids []string) (map[string]string, error) {
	binaries := map[string]string{}
	for _, id := range ids {
		path, err := filepath.Abs(filepath.Join(folder, id, "bootstrap"))
		if err != nil {
			return nil, fmt.Errorf("find built functions: %w", err)
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("find built functions: %w", err)
		}
		binaries[id] = path
	}
	return binaries, nil
}

// store copies a binary to where its hash says, if it isn't there yet.
func store(binary, folder string) (string, error) {
	in, err := os.Open(binary)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	dir := filepath.Join(folder, "by-hash", hex.EncodeToString(sum.Sum(nil))[:20])
	path := filepath.Join(dir, "bootstrap")
	now := time.Now()
	if os.Chtimes(dir, now, now) == nil {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	out, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// forget removes binaries that no build has asked for in a day.
func forget(folder string) error {
	entries, err := os.ReadDir(filepath.Join(folder, "by-hash"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("forget old builds: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < keepBuilds {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, "by-hash", e.Name())); err != nil {
			return fmt.Errorf("forget old builds: %w", err)
		}
	}
	return nil
}
