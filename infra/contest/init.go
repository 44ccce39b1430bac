package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ringi/infra/local/contests"
	"ringi/shared/model/teamconfig"
)

// init writes the sample workspace into a folder, or into the workspace. It overwrites nothing.
func (p program) init(_ context.Context, args []string) int {
	flags := p.flags("init")
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	folder := flags.Arg(0)
	if flags.NArg() > 1 {
		return p.misused("usage: contest init [FOLDER]")
	}
	if folder == "" {
		if folder = p.env(teamconfig.Environment); folder == "" {
			return p.misused("%v", teamconfig.ErrNotSet)
		}
	}
	files, err := sample(folder)
	if err != nil {
		fmt.Fprintln(p.problem, err)
		return exitFailed
	}
	for name, text := range files {
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(p.problem, err)
			return exitFailed
		}
	}
	fmt.Fprintf(p.out, "%d files are in %s. Try them without any key:\n\n  export %s=%s\n  go run ./infra/contest exec -model demo -c %s %q\n",
		len(files), folder, teamconfig.Environment, folder, contests.File, "経費精算の差し戻しを減らす方針を書いて")
	return exitDone
}

// sample are the files to write. It returns an error that names those that are there already.
func sample(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	var there []error
	err := fs.WalkDir(contests.Sample(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(name))
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, fmt.Errorf("%s is there already", to))
		}
		files[to], err = fs.ReadFile(contests.Sample(), name)
		return err
	})
	if err == nil && there != nil {
		err = fmt.Errorf("nothing was written: %w", errors.Join(there...))
	}
	return files, err
}
