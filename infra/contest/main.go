// Command contest lets teams of agents compete on this machine, without a deployment:
//
//	go run ./infra/contest check FILE…                   says what is wrong with files of teams, contests and evaluators
//	go run ./infra/contest exec -c FILE "what to write"  runs a contest
//
// MIXSEEK_WORKSPACE says where the files are. See the README here.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/infra/local/vendors/models"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
)

// The command's exit codes. A contest that could not begin has failed too.
const (
	exitDone    = 0
	exitFailed  = 1 // a file isn't valid, or some teams failed
	exitMisused = 2 // or all teams failed
)

// program has a command's environment and outputs.
type program struct {
	env          func(string) string
	out, problem io.Writer
}

const usage = `usage: contest check [-json] FILE…
       contest exec [-c FILE] [-model NAME] [-json] "prompt"
MIXSEEK_WORKSPACE is the folder of the files. Flags come first.
`

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := program{os.Getenv, os.Stdout, os.Stderr}.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func (p program) run(ctx context.Context, args []string) int {
	command := append(args, "")[0]
	if command != "check" && command != "exec" {
		fmt.Fprint(p.problem, usage)
		return exitMisused
	}
	flags := flag.NewFlagSet("contest "+command, flag.ContinueOnError)
	flags.SetOutput(p.problem)
	asJSON := flags.Bool("json", false, "print JSON")
	file, model := "", ""
	if command == "exec" {
		flags.StringVar(&file, "c", models.SampleFile, "the contest's `file`")
		flags.StringVar(&model, "model", "",
			"the `name` of a model that stands for all that the files name; demo needs no key")
	}
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		return exitMisused
	}
	if n := flags.NArg(); n == 0 || command == "exec" && n != 1 {
		fmt.Fprint(p.problem, usage)
		return exitMisused
	}
	folder := p.env(teamconfig.Environment)
	w, err := teamconfig.Open(folder, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no folder %q", teamconfig.Environment, folder)
	}
	if err != nil {
		return p.misused("%v", err)
	}
	if command == "check" {
		return p.check(w, flags.Args(), *asJSON)
	}
	return p.exec(ctx, w, file, model, flags.Arg(0), *asJSON)
}

// misused reports an error in the command line.
func (p program) misused(format string, a ...any) int {
	fmt.Fprintln(p.problem, language.Visible(fmt.Sprintf(format, a...)))
	return exitMisused
}

// check reports each file's mistakes.
func (p program) check(w teamconfig.Workspace, files []string, asJSON bool) int {
	reports, code := []teamconfig.Report{}, exitDone
	for _, file := range files {
		r := teamconfig.Check(w, file)
		if reports = append(reports, r); !r.Valid {
			code = exitFailed
		}
		if asJSON {
			continue
		}
		for _, f := range r.Errors {
			fmt.Fprintf(p.out, "%s\n", still(f.String()))
		}
		if r.Valid {
			fmt.Fprintf(p.out, "%s: valid\n", still(file))
		}
	}
	if asJSON {
		return p.json(reports, code)
	}
	return code
}

// json prints a value and returns code, or that it failed.
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
		return p.misused("%v", err)
	}
	return code
}

// still formats a text as one line without terminal control characters: names from files may contain any.
func still(s string) string { return strings.Join(strings.Fields(quiet(s)), " ") }

// quiet returns a text's visible characters, with a blank for each control character and line end.
func quiet(s string) string {
	return language.Visible(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s))
}

// quietJSON escapes control and invisible characters in JSON; the value stays the same.
func quietJSON(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		if !language.Ignorable(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
