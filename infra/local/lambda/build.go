package lambda

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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

// Flags say how binaries are compiled.
type Flags int

const (
	// LikeTests compiles as `go test` does here, by the environment's GOFLAGS: packages that tests and functions share
	// are compiled once. Compiled otherwise, most of the standard library and of AWS's SDK would be compiled again.
	LikeTests Flags = iota
	// LikeAWS compiles with the flags of `sam build`, for this machine.
	LikeAWS
)

// Build returns the command that compiles packages below root, with further build tags, comma-separated.
func (f Flags) Build(ctx context.Context, root, into, tags, packages string) *exec.Cmd {
	args := []string{"build", "-buildvcs=false", "-ldflags", "-s -w", "-o", into}
	env := os.Environ()
	if f == LikeAWS {
		args, env = append(args, "-trimpath", "-gcflags=all=-dwarf=false"), append(env, "CGO_ENABLED=0", "GOFLAGS=")
		tags = strings.Trim("lambda.norpc,nethttpomithttp2,"+tags, ",")
	}
	if tags != "" {
		args = append(args, "-tags", tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages)...)
	cmd.Dir, cmd.Env = root, env
	return cmd
}

// Build compiles every command below root/functions for this machine. If nothing changed since the last build, it
// returns the binaries of that one. A binary's path contains a hash of its content, so a later stack never replaces a
// binary that an earlier one runs. The binary is kept until Release. told, if it isn't nil, is called with the number
// of packages that were compiled, and with how many of all functions are done, which ends at all of them.
//
// It returns the compiler's message if something doesn't compile.
func Build(ctx context.Context, root string, like Flags, told func(packages, done, of int)) (built *Built, err error) {
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

	stamp := filepath.Join(folder, "stamp")
	state, err := stateOf(root, like)
	if err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	if built = unchanged(stamp, state); built != nil {
		return built, nil
	}
	cmd := like.Build(ctx, root, latest+string(filepath.Separator), "", "./functions/...")
	if err := compile(cmd, told); err != nil {
		return nil, err
	}
	if built, err = storeAll(root, latest, folder); err != nil {
		return nil, err
	}
	if err := forget(folder); err != nil {
		built.Release()
		return nil, err
	}
	content, _ := json.Marshal(stamped{state, built.Binaries}) // maps of strings are no error
	if err := os.WriteFile(stamp, content, 0o644); err != nil {
		built.Release()
		return nil, fmt.Errorf("build functions: %w", err)
	}
	return built, nil
}

// compile runs the compiler and counts the packages and functions that it names.
func compile(cmd *exec.Cmd, told func(packages, done, of int)) error {
	var functions []string
	if told != nil {
		list := exec.Command("go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./functions/...")
		list.Dir, list.Env = cmd.Dir, cmd.Env
		names, _ := list.Output() // what can't be listed doesn't compile
		functions = strings.Fields(string(names))
	}
	cmd.Args = slices.Insert(cmd.Args, 2, "-v")
	out, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err = cmp.Or(err, cmd.Start()); err != nil {
		return fmt.Errorf("build functions: %w", err)
	}
	n, done, problems := 0, 0, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); strings.ContainsAny(line, " \t:") {
			problems += line + "\n"
		} else if n++; told != nil { // the path of a package
			if slices.Contains(functions, line) {
				done++
			}
			told(n, done, len(functions))
		}
	}
	if err = cmd.Wait(); err != nil {
		return fmt.Errorf("build functions: %w\n%s", err, problems)
	}
	if told != nil { // some may have been compiled before
		told(n, len(functions), len(functions))
	}
	return nil
}

// storeAll stores the latest binary of each folder below functions/ that has a command.
func storeAll(root, latest, folder string) (*Built, error) {
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	built := &Built{Binaries: map[string]string{}}
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
	return built, nil
}

// stamped is what is kept of a build: what it was made of, and the binaries by folder.
type stamped struct {
	State    string
	Binaries map[string]string
}

// stateOf sums up what functions are made of: the names, sizes and times of all files of the module's code below root,
// and what of the environment Go reads. Go itself would look into each of some hundred packages, and link again what
// is no more there.
func stateOf(root string, like Flags) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, root, like, runtime.Version())
	for _, name := range []string{"GOFLAGS", "CGO_ENABLED", "GOOS", "GOARCH", "GOEXPERIMENT", "GOAMD64", "GOTOOLCHAIN"} {
		fmt.Fprintln(sum, name, os.Getenv(name))
	}
	for _, part := range []string{"go.mod", "go.sum", "functions", "shared"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			info, err := d.Info()
			if err == nil {
				fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano())
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// unchanged returns the binaries of the build that left the stamp, or nil if something changed or one is gone.
func unchanged(stamp, state string) *Built {
	var last stamped
	content, err := os.ReadFile(stamp)
	if err != nil || json.Unmarshal(content, &last) != nil || last.State != state {
		return nil
	}
	built := &Built{Binaries: last.Binaries}
	now := time.Now()
	for _, path := range last.Binaries {
		release, err := process.Share(filepath.Join(filepath.Dir(path), "lock"))
		if err != nil {
			built.Release()
			return nil
		}
		built.release = append(built.release, release)
		if os.Chtimes(path, now, now) != nil {
			built.Release()
			return nil
		}
	}
	return built
}

// Binaries returns the bootstrap of each function by logical id. They come from a folder of `sam build`, or are
// compiled from root if artifacts is "". They are kept until release is called.
func Binaries(ctx context.Context, root, artifacts string, like Flags, functions []template.Function,
	told func(packages, done, of int)) (byID map[string]string, release func(), err error) {
	if artifacts != "" {
		var ids []string
		for _, f := range functions {
			ids = append(ids, f.ID)
		}
		byID, err = Artifacts(artifacts, ids)
		return byID, func() {}, err
	}
	built, err := Build(ctx, root, like, told)
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
