package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"

	"ringi/shared/model/teamconfig"
)

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
	fmt.Fprintf(p.out, "%s = %s (from the environment)\nfile = %s\n\n", teamconfig.Environment, still(w.Folder), still(file))
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
var ofMetric = regexp.MustCompile(`^(.*)metrics\[\d+\]\.(model|temperature|max_tokens|timeout_seconds|max_retries|stop_sequences|top_p|seed)$`)

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
