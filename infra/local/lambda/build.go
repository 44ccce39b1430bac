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
	"ringi/infra/local/template"
)

// keepBuilds is how long an unused binary is kept, so that an edit that is soon undone needs no new build.
const keepBuilds = 10 * time.Minute

type Built struct {
	Binaries map[string]string // path of the bootstrap by folder below functions/
	release  []func()
}

// Release lets later builds remove the binaries.
func (b *Built) Release() {
	for _, release := range b.release {
		release()
	}
	b.release = nil
}

// Build compiles every command below root/functions for this machine, with the flags of the template's build. An
// unchanged build is quick because of Go's cache. A binary's path contains a hash of its content, so a later stack
// never replaces a binary that an earlier one runs. The binary is kept until Release.
//
// It returns the compiler's message if something doesn't compile.
func Build(ctx context.Context, root string) (built *Built, err error) {
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	folder = filepath.Join(folder, "build")
	latest := filepath.Join(folder, "latest")
	var unlock func()
	if err = os.MkdirAll(latest, 0o755); err == nil {
		unlock, err = process.Lock(filepath.Join(folder, "lock"))
	}
	if err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	defer unlock()

	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-tags", "lambda.norpc,nethttpomithttp2", "-ldflags", "-s -w",
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
	built = &Built{Binaries: map[string]string{}}
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		path, release, err := store(filepath.Join(latest, f.Name()), folder)
		if errors.Is(err, os.ErrNotExist) {
			continue // a folder without a command
		}
		if err != nil {
			built.Release()
			return nil, fmt.Errorf("build %s: %w", f.Name(), err)
		}
		built.Binaries[f.Name()], built.release = path, append(built.release, release)
	}
	if err := forget(folder); err != nil {
		built.Release()
		return nil, err
	}
	return built, nil
}

// Binaries returns the bootstrap of each function by logical id. They come from a folder of `sam build`, or are
// compiled from root if artifacts is "". They are kept until release is called.
func Binaries(ctx context.Context, root, artifacts string,
	functions []template.Function) (byID map[string]string, release func(), err error) {
	if artifacts != "" {
		var ids []string
		for _, f := range functions {
			ids = append(ids, f.ID)
		}
		byID, err = Artifacts(artifacts, ids)
		return byID, func() {}, err
	}
	built, err := Build(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	byID = map[string]string{}
	for _, f := range functions {
		path, ok := built.Binaries[f.Folder]
		if !ok {
			built.Release()
			return nil, nil, fmt.Errorf("there is no functions/%s for %s", f.Folder, f.ID)
		}
		byID[f.ID] = path
	}
	return byID, built.Release, nil
}

// Artifacts returns the binaries that `sam build` left at <folder>/<logical id>/bootstrap.
func Artifacts(folder string, ids []string) (map[string]string, error) {
	binaries := map[string]string{}
	for _, id := range ids {
		path, err := filepath.Abs(filepath.Join(folder, id, "bootstrap"))
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, fmt.Errorf("find built functions: %w", err)
		}
		binaries[id] = path
	}
	return binaries, nil
}

// store copies a binary to a path that contains its hash, unless it is already there. It protects the binary from
// forget until release is called.
func store(binary, folder string) (path string, release func(), err error) {
	in, err := os.Open(binary)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", nil, err
	}
	dir := filepath.Join(folder, "by-hash", hex.EncodeToString(sum.Sum(nil))[:20])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	if release, err = process.Share(filepath.Join(dir, "lock")); err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "bootstrap")
	now := time.Now()
	if os.Chtimes(path, now, now) == nil {
		return path, release, nil
	}
	if err := copyTo(in, path); err != nil {
		release()
		return "", nil, err
	}
	return path, release, nil
}

// copyTo writes an executable under a temporary name and renames it, so that path never holds an incomplete file.
func copyTo(in *os.File, path string) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// forget removes binaries that are not running and that no recent build used.
func forget(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "by-hash", "*", "bootstrap"))
	if err != nil {
		return fmt.Errorf("forget old builds: %w", err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < keepBuilds {
			continue
		}
		dir := filepath.Dir(path)
		unlock, ok, err := process.TryLock(filepath.Join(dir, "lock"))
		if err != nil || !ok {
			continue // it is running
		}
		err = os.RemoveAll(dir)
		unlock()
		if err != nil {
			return fmt.Errorf("forget old builds: %w", err)
		}
	}
	return nil
}
