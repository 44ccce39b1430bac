package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

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
	fmt.Fprintf(p.out, "%d files are in %s. Try them without any key:\n\n  export %s=%s\n  go run ./infra/contest "+
		"exec -model demo -c %s %q\n",
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

// effective is a field as it holds.
type effective struct {
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"` // null: left to the model
	From  string          `json:"from"`  // the file that sets it, or default
}

const (
	usageOfConfig = "usage: contest config show [-c FILE] [--json] [FIELD]"
	byDefault     = "default"
)

// config shows every field of a file and of those that it names, with the file that sets it.
func (p program) config(_ context.Context, args []string) int {
	if len(args) == 0 || args[0] != "show" {
		return p.misused(usageOfConfig)
	}
	flags := p.flags("config show")
	file := flags.String("c", "", "a `file` of any kind; unless given, that of the contest")
	flags.StringVar(file, "config", "", "as -c")
	asJSON := flags.Bool("json", false, "print an array of {field, value, from}")
	if code, ok := p.parse(flags, args[1:]); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return p.misused(usageOfConfig)
	}
	w, err := p.workspace()
	if err != nil {
		return p.misused("%v", err)
	}
	at, err := contestFile(w, *file)
	if err != nil {
		return p.misused("%v", err)
	}
	r := report(w, at)
	if !r.Valid {
		p.print(r)
		return exitFailed
	}
	all, err := fieldsOf(r)
	if err != nil {
		fmt.Fprintln(p.problem, still(err.Error()))
		return exitFailed
	}
	if only := flags.Arg(0); only != "" {
		if all = below(all, only); len(all) == 0 {
			return p.misused("%s has no field %q", at, only)
		}
	}
	if *asJSON {
		return p.json(all, exitDone)
	}
	p.fields(w, at, all)
	for _, said := range r.Warnings {
		fmt.Fprintf(p.out, "warning: %s\n", line(said))
	}
	return exitDone
}

func (p program) fields(w teamconfig.Workspace, file string, all []effective) {
	fmt.Fprintf(p.out, "%s = %s (from the environment)\nfile = %s\n\n", teamconfig.Environment, still(w.Folder),
		still(file))
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FIELD\tFROM\tVALUE")
	for _, f := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", still(f.Field), still(f.From), oneLine(string(f.Value)))
	}
	t.Flush()
}

// below returns the field of this name, or the fields of this table.
func below(all []effective, name string) (some []effective) {
	for _, f := range all {
		if rest, ok := strings.CutPrefix(f.Field, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			some = append(some, f)
		}
	}
	return some
}

// fieldsOf lists the fields of a report's configuration in their order.
func fieldsOf(r teamconfig.Report) (all []effective, err error) {
	add := func(field string, value json.RawMessage) {
		all = append(all, effective{field, value, cmp.Or(r.Set[field], byDefault)})
	}
	if servers, ok := r.Config.([]teamconfig.Server); ok {
		for _, s := range servers {
			if err = flatten(s, "servers."+s.Name, add); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	err = flatten(r.Config, "", add)
	return inherited(all, r.Set), err
}

// ofMetric is a field that a metric has from its evaluator unless its file sets it.
var ofMetric = regexp.MustCompile(`^(.*)metrics\[\d+\]\.(model|temperature|max_tokens|timeout_seconds|max_retries|` +
	`stop_sequences|top_p|seed)$`)

// inherited fills in what metrics have from their evaluator.
func inherited(all []effective, set map[string]string) []effective {
	byField := map[string]effective{}
	for _, f := range all {
		byField[f.Field] = f
	}
	for i, f := range all {
		m := ofMetric.FindStringSubmatch(f.Field)
		if m == nil || set[f.Field] != "" {
			continue
		}
		if m[2] == "model" {
			m[2] = "default_model"
		}
		of := byField[m[1]+m[2]]
		all[i].Value, all[i].From = of.Value, of.From
	}
	return all
}

// flatten calls add for each field of a value that is no table, in order.
func flatten(v any, path string, add func(string, json.RawMessage)) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return leaves(b, path, add)
}

func leaves(b json.RawMessage, path string, add func(string, json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(b))
	first, err := d.Token()
	if err != nil {
		return err
	}
	switch first {
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if err := next(d, strings.TrimPrefix(fmt.Sprint(path, ".", key), "."), add); err != nil {
				return err
			}
		}
	case json.Delim('['):
		if rest := bytes.TrimSpace(b[1:]); len(rest) == 0 || rest[0] != '{' {
			add(path, b) // of texts
			return nil
		}
		for i := 0; d.More(); i++ {
			if err := next(d, fmt.Sprintf("%s[%d]", path, i), add); err != nil {
				return err
			}
		}
	default:
		add(path, b)
	}
	return nil
}

// next reads the next value.
func next(d *json.Decoder, path string, add func(string, json.RawMessage)) error {
	var v json.RawMessage
	if err := d.Decode(&v); err != nil {
		return err
	}
	return leaves(v, path, add)
}
