package lambda

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
)

// Built has the binaries of one build.
type Built struct {
	Binaries map[string]string // path of the bootstrap by folder below functions/
	folder   string
}

// Release removes the binaries.
func (b *Built) Release() { os.RemoveAll(b.folder) }

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

// Build compiles every command below root/functions for this machine into a folder that is kept, so that only what
// changed is linked again. A stack has links to the binaries in a folder of its own until Release: a later build puts
// new files in place of the old ones, which stay what they were for whoever runs them. told, if it isn't nil, is called
// with the number of packages that were compiled.
//
// It returns the compiler's message if something doesn't compile.
func Build(ctx context.Context, root string, like Flags, told func(packages int)) (*Built, error) {
	built, err := build(ctx, root, like, told)
	if err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	return built, nil
}

func build(ctx context.Context, root string, like Flags, told func(packages int)) (*Built, error) {
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	// Other flags are other binaries: in one folder, each build would link all of them anew.
	key := sha256.Sum256(fmt.Append(nil, root, like, os.Getenv("GOFLAGS"), os.Getenv("CGO_ENABLED")))
	folder = filepath.Join(folder, "build")
	latest := filepath.Join(folder, hex.EncodeToString(key[:8]))
	if err := os.MkdirAll(latest, 0o755); err != nil {
		return nil, err
	}
	unlock, err := process.Lock(latest + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := compile(like.Build(ctx, root, latest+string(filepath.Separator), "", "./functions/..."), told); err != nil {
		return nil, err
	}
	forget(folder)
	return link(root, latest, folder)
}

// compile runs the compiler and counts the packages that it names.
func compile(cmd *exec.Cmd, told func(packages int)) error {
	cmd.Args = slices.Insert(cmd.Args, 2, "-v")
	out, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err = cmp.Or(err, cmd.Start()); err != nil {
		return err
	}
	n, problems := 0, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); strings.ContainsAny(line, " \t:") {
			problems += line + "\n"
		} else if n++; told != nil { // the path of a package
			told(n)
		}
	}
	if err = cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, problems)
	}
	return nil
}

// link links the latest binary of each folder below functions/ into a new folder, whose name begins with the id of this
// process.
func link(root, latest, folder string) (*Built, error) {
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, err
	}
	own, err := os.MkdirTemp(folder, strconv.Itoa(os.Getpid())+"-run-*")
	if err != nil {
		return nil, err
	}
	built := &Built{Binaries: map[string]string{}, folder: own}
	for _, f := range folders {
		path := filepath.Join(own, f.Name())
		err := os.Link(filepath.Join(latest, f.Name()), path)
		if errors.Is(err, os.ErrNotExist) {
			continue // a folder without a command
		}
		if err != nil {
			built.Release()
			return nil, err
		}
		built.Binaries[f.Name()] = path
	}
	return built, nil
}

// forget removes what processes left that were killed.
func forget(folder string) {
	paths, _ := filepath.Glob(filepath.Join(folder, "*-run-*")) // the pattern is valid
	for _, path := range paths {
		pid, _, _ := strings.Cut(filepath.Base(path), "-")
		if id, err := strconv.Atoi(pid); err == nil && errors.Is(syscall.Kill(id, 0), syscall.ESRCH) {
			os.RemoveAll(path)
		}
	}
}

// Binaries returns the bootstrap of each function by logical id. They come from a folder of `sam build`, or are
// compiled from root if artifacts is "". They are kept until release is called.
func Binaries(ctx context.Context, root, artifacts string, like Flags, functions []template.Function,
	told func(packages int)) (byID map[string]string, release func(), err error) {
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
