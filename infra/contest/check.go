package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ringi/infra/local/vendors/models"
	"ringi/shared/model/teamconfig"
)

// check reports each file's faults. It exits with 1 if a file is invalid.
func (p program) check(_ context.Context, args []string) int {
	flags := p.flags("check")
	asJSON := flags.Bool("json", false, "print an array of reports")
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() == 0 {
		return p.misused("usage: contest check [--json] FILE…")
	}
	w, err := p.workspace()
	if err != nil {
		return p.misused("%v", err)
	}
	reports, code := []teamconfig.Report{}, exitDone
	for _, file := range flags.Args() {
		reports = append(reports, report(w, file))
		if !reports[len(reports)-1].Valid {
			code = exitFailed
		}
	}
	if *asJSON {
		return p.json(reports, code)
	}
	for _, r := range reports {
		p.print(r)
	}
	return code
}

func report(w teamconfig.Workspace, file string) teamconfig.Report {
	at, err := w.Locate(file)
	if err != nil {
		return teamconfig.Report{File: file, Errors: []teamconfig.Said{{Message: err.Error()}}, Warnings: []teamconfig.Said{}}
	}
	r := teamconfig.Check(w, at)
	r.File = file
	return r
}

func (p program) print(r teamconfig.Report) {
	state := "valid"
	if !r.Valid {
		state = fmt.Sprintf("%d errors", len(r.Errors))
		if len(r.Errors) == 1 {
			state = "1 error"
		}
	}
	fmt.Fprintf(p.out, "%s: %s\n", still(r.File), state)
	for _, e := range r.Errors {
		fmt.Fprintf(p.out, "  %s\n", line(e))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(p.out, "  warning: %s\n", line(w))
	}
}

func line(s teamconfig.Said) string {
	if s.Field == "" {
		return still(s.Message)
	}
	return still(s.Field + ": " + s.Message)
}

// json prints a value and exits with code.
func (p program) json(v any, code int) int {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	if err == nil {
		_, err = p.out.Write(quietJSON(text.Bytes()))
	}
	if err != nil {
		fmt.Fprintln(p.problem, still(err.Error()))
		return exitFailed
	}
	return code
}

// flags makes a command's flags; errors in them are printed like the command's other errors.
func (p program) flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet("contest "+name, flag.ContinueOnError)
	f.SetOutput(p.problem)
	return f
}

// parse reads flags before, between and after the other arguments.
func (p program) parse(f *flag.FlagSet, args []string) (code int, ok bool) {
	var rest []string
	for {
		switch err := f.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return exitDone, false
		case err != nil:
			return exitMisused, false
		}
		if f.NArg() == 0 {
			break
		}
		if n := len(args) - f.NArg(); n > 0 && args[n-1] == "--" {
			rest = append(rest, f.Args()...)
			break
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
	return exitDone, f.Parse(append([]string{"--"}, rest...)) == nil
}

func (p program) workspace() (teamconfig.Workspace, error) {
	folder := p.env(teamconfig.Environment)
	w, err := teamconfig.Open(folder, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no folder %q. contest init makes it, with sample files", teamconfig.Environment,
			folder)
	}
	return w, err
}

// init writes the sample workspace into a folder or the workspace. It never overwrites a file.
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
		len(files), folder, teamconfig.Environment, folder, models.SampleFile, "経費精算の差し戻しを減らす方針を書いて")
	return exitDone
}

// sample returns the files to write, or an error that names those that exist already.
func sample(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	var there []error
	err := fs.WalkDir(models.Sample(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(name))
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, fmt.Errorf("%s is there already", to))
		}
		files[to], err = fs.ReadFile(models.Sample(), name)
		return err
	})
	if err == nil && there != nil {
		err = fmt.Errorf("nothing was written: %w", errors.Join(there...))
	}
	return files, err
}
