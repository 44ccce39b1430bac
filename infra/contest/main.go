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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/words/legible"
)

// The command's exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitMisused = 2
)

// program has a command's environment and outputs.
type program struct {
	env          func(string) string
	out, problem io.Writer
}

const usage = `usage: contest check [--json] FILE…
       contest exec [-c FILE] [-model NAME] [-locale LOCALE] [--json] [--timeout SECONDS] "prompt"
MIXSEEK_WORKSPACE is the folder of the files.
`

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // events are printed as lines instead
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := program{os.Getenv, os.Stdout, os.Stderr}.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func (p program) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		args = []string{""}
	}
	switch args[0] {
	case "check":
		return p.check(args[1:])
	case "exec":
		return p.exec(ctx, args[1:])
	case "help", "-h", "--help":
		fmt.Fprint(p.out, usage)
		return exitDone
	}
	fmt.Fprint(p.problem, usage)
	return exitMisused
}

// misused reports an error in the command line.
func (p program) misused(format string, a ...any) int {
	fmt.Fprintln(p.problem, legible.Visible(fmt.Sprintf(format, a...)))
	return exitMisused
}

// open returns the models of these names, with keys from the environment. It returns a finding for each place that
// names a model whose key is missing.
func (p program) open(names []string, places []teamconfig.Named, instead string) (
	round.Models, []teamconfig.Finding, error) {
	config := provider.Config{Vendor: provider.VendorClient(), At: map[string]string{}}
	config.AWS.Region = "us-east-1" // Bedrock's client needs a region, but calls the address
	keys := map[string]any{}
	compatible := map[string]map[string]string{}
	var allow []string
	var missing []teamconfig.Finding
	for _, name := range names {
		n, a, err := models.ModelOf(name, p.env)
		switch {
		case err != nil:
			missing = append(missing, named(places, name, err)...)
		case n.Provider == aggregate.Compatible:
			compatible[n.Endpoint] = map[string]string{"url": a.Address, "key": a.Key}
			allow = append(allow, a.Dial)
		default:
			config.At[n.Provider], keys[n.Provider] = a.Address, a.Key
		}
	}
	keys[aggregate.Compatible] = compatible
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, nil, err
	}
	config.Secret = &secret.Models{Reader: given(text), ID: "the environment"}
	config.Outbound = outbound.Allowing(strings.Join(allow, ",")).Client()
	return provider.Wires{Config: config, Instead: instead, Unlimited: true}, missing, nil
}

// named returns a finding for each place that names a model.
func named(places []teamconfig.Named, model string, why error) (found []teamconfig.Finding) {
	for _, p := range places {
		if p.Model == model {
			found = append(found, teamconfig.Finding{File: p.File, Field: p.Field, Message: why.Error()})
		}
	}
	return found
}

type given string

func (g given) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput,
	...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(string(g))}, nil
}

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
