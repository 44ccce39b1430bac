package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"

	"ringi/shared/model/teamconfig"
)

// check reports each file's faults. It exits with 1 if a file is invalid.
func (p program) check(args []string) int {
	flags := p.flags("check")
	asJSON := flags.Bool("json", false, "print an array of reports")
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() == 0 {
		fmt.Fprint(p.problem, usage)
		return exitMisused
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
		err = fmt.Errorf("%s: there is no folder %q", teamconfig.Environment, folder)
	}
	return w, err
}
