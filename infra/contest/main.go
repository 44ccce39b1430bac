// Command contest lets teams of agents compete on this machine, without a deployment:
//
//	go run ./infra/contest init                          writes a sample workspace
//	go run ./infra/contest check FILE…                   says what is wrong with files of teams, contests and evaluators
//	go run ./infra/contest config show -c FILE           says what holds, and which file says it
//	go run ./infra/contest exec -c FILE "what to write"  runs a contest
//	go run ./infra/contest evaluate "request" "text"     scores a text by an evaluator's file
//	go run ./infra/contest archive -table … -bucket … -team …
//	go run ./infra/contest archive -import mixseek.db
//
// exports a deployment's contests as Parquet files, and adds those of a mixseek database to this machine's.
// MIXSEEK_WORKSPACE says where the workspace is. See the README here.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/words/language"
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

var commands = map[string]func(program, context.Context, []string) int{
	"check": program.check, "init": program.init, "config": program.config, "exec": program.exec,
	"evaluate": program.evaluate, "archive": program.archive,
}

const usage = `usage: contest init [FOLDER]
       contest check [--json] FILE…
       contest config show [-c FILE] [--json] [FIELD]
       contest exec [-c FILE] [-servers FILE] [-model NAME] [--json] [--trace FILE] [--dry-run] [--no-save] [--timeout SECONDS] "prompt"
       contest evaluate [-c FILE] [-model NAME] [-submission FILE] [-locale LOCALE] [--json] "prompt" ["submission"]
       contest archive -table NAME -bucket NAME -team T…
       contest archive -import FILE
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
	if len(args) > 0 {
		if command, ok := commands[args[0]]; ok {
			return command(p, ctx, args[1:])
		}
		if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
			fmt.Fprint(p.out, usage)
			return exitDone
		}
		fmt.Fprintf(p.problem, "%q is none of init, check, config, exec, evaluate and archive\n", args[0])
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

const usageOfEvaluation = "usage: contest evaluate [-c FILE] [-model NAME] [-submission FILE] [-locale LOCALE] " +
	"[--json] \"prompt\" [\"submission\"]"

// evaluation is a text's score, as a round would give it.
type evaluation struct {
	EvaluationScore    float64               `json:"evaluation_score"` // 0.0 to 1.0
	EvaluationFeedback string                `json:"evaluation_feedback"`
	Metrics            []contest.MetricScore `json:"metrics"`
	CostUSD            string                `json:"cost_usd"`
	Unpriced           int                   `json:"unpriced_calls,omitempty"` // calls that CostUSD leaves out
}

// evaluate scores a text by an evaluator's file. It exits with 1 if the evaluator fails, and with 2 if it was called
// wrongly or the file is invalid.
func (p program) evaluate(ctx context.Context, args []string) int {
	flags := p.flags("evaluate")
	file := flags.String("c", "",
		"the evaluator's `file`, or a contest's; unless given, configs/evaluator.toml if it is there")
	flags.StringVar(file, "config", "", "as -c")
	model := flags.String("model", "", "the `name` of a model that stands for all that the file names; demo needs no key")
	from := flags.String("submission", "", "the `file` with the text, instead of the second argument")
	locale := flags.String("locale", "",
		"ja or en: the `language` of the built-in prompts; unless set, that of the prompt")
	asJSON := flags.Bool("json", false, "print the result as JSON")
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	prompt, submission := flags.Arg(0), flags.Arg(1)
	wanted := 2
	if *from != "" {
		wanted = 1
	}
	switch {
	case flags.NArg() != wanted:
		return p.misused(usageOfEvaluation)
	case len(prompt) > maxPrompt:
		return p.misused("the prompt must be at most %d bytes", maxPrompt)
	case *locale != "" && !slices.Contains(language.All, *locale):
		return p.misused("-locale must be %s", strings.Join(language.All, " or "))
	case *locale == "":
		*locale = localeOf(prompt)
	}
	if *from != "" {
		text, err := os.ReadFile(*from)
		if err != nil {
			return p.misused("%v", err)
		}
		submission = string(text)
	}
	evaluator, models, code := p.evaluator(*file, *model)
	if code != exitDone {
		return code
	}
	out, err := round.Runner{Models: models}.Evaluate(ctx,
		round.Play{Evaluator: evaluator, Prompt: prompt, Locale: *locale}, submission)
	if err != nil {
		return p.unscored(err, *locale)
	}
	e := evaluation{out.Result.EvaluationScore, out.Result.EvaluationFeedback, out.Metrics, out.Usage.Cost.String(),
		out.Usage.Unpriced}
	if *asJSON {
		return p.json(e, exitDone)
	}
	fmt.Fprintf(p.out, "%s of 100, %s USD\n\n", points(e.EvaluationScore), dollars(out.Usage.Cost, e.Unpriced))
	for l := range strings.SplitSeq(contest.InPoints(e.EvaluationFeedback, language.English), "\n") {
		fmt.Fprintln(p.out, still(l))
	}
	return exitDone
}

// evaluator reads the evaluator's file and opens its models. It prints all faults.
func (p program) evaluator(file, model string) (e teamconfig.Evaluator, models round.Models, code int) {
	w, err := p.workspace()
	if err == nil && file != "" {
		if file, err = w.Locate(file); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil {
		return e, nil, p.misused("%v", err)
	}
	e, found := w.Evaluator(file)
	if !p.tell(found) {
		return e, nil, exitMisused
	}
	names, places := []string{model}, []teamconfig.Named{{File: "-model", Model: model, Set: true}}
	if model == "" {
		names, places = nil, nil
		for _, m := range e.Metrics {
			if !slices.Contains(names, m.Model) {
				names = append(names, m.Model)
			}
			places = append(places, teamconfig.Named{File: file, Field: "metrics " + m.Name, Model: m.Model, Set: true})
		}
	}
	models, unopened, err := p.open(names, places, model)
	if err != nil {
		return e, nil, p.misused("%v", err)
	}
	if !p.tell(unopened) {
		return e, nil, exitMisused
	}
	return e, models, exitDone
}

// unscored says why there is no score.
func (p program) unscored(err error, locale string) int {
	var failed *round.Error
	switch {
	case errors.Is(err, round.ErrBlankPrompt), errors.Is(err, round.ErrBlankSubmission), errors.Is(err,
		round.ErrLongSubmission):
		return p.misused("%v", err)
	case errors.As(err, &failed):
		fmt.Fprintln(p.problem, still(failed.Sentence(locale)))
	default:
		fmt.Fprintln(p.problem, legible.Visible(err.Error()))
	}
	return exitFailed
}
