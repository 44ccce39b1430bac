package lambda

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
)

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

// Build compiles every command below root/functions for this machine, and returns the binaries by folder. They are
// kept, so that only what changed is linked again; a stack that runs starts its next processes from a later build.
// told, if it isn't nil, is called with the number of packages that were compiled.
//
// It returns the compiler's message if something doesn't compile.
func Build(ctx context.Context, root string, like Flags, told func(packages int)) (map[string]string, error) {
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
	folder = filepath.Join(folder, "build", hex.EncodeToString(key[:8]))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	unlock, err := process.Lock(folder + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	into := folder + string(filepath.Separator)
	if err := process.Compile(like.Build(ctx, root, into, "", "./functions/..."), told); err != nil {
		return nil, fmt.Errorf("build functions: %w", err)
	}
	commands, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	binaries := map[string]string{}
	for _, path := range commands {
		name := filepath.Base(filepath.Dir(path))
		binaries[name] = filepath.Join(folder, name)
	}
	return binaries, err
}

// Binaries returns the bootstrap of each function by logical id. They come from a folder of `sam build`, or are
// compiled from root if artifacts is "".
func Binaries(ctx context.Context, root, artifacts string, like Flags, functions []template.Function,
	told func(packages int)) (map[string]string, error) {
	built, err := map[string]string(nil), error(nil)
	if artifacts == "" {
		if built, err = Build(ctx, root, like, told); err != nil {
			return nil, err
		}
	} else if artifacts, err = filepath.Abs(artifacts); err != nil {
		return nil, err
	}
	byID := map[string]string{}
	for _, f := range functions {
		if byID[f.ID] = built[f.Folder]; artifacts != "" {
			byID[f.ID] = filepath.Join(artifacts, f.ID, "bootstrap")
		}
		if _, err := os.Stat(byID[f.ID]); err != nil {
			return nil, fmt.Errorf("find the binary of %s: %w", f.ID, err)
		}
	}
	return byID, nil
}
