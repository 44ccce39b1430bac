package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ringi/shared/domain/contest"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

const usageOfEvaluation = "usage: contest evaluate [-c FILE] [-model NAME] [-submission FILE] [-locale LOCALE] [--json] \"prompt\" [\"submission\"]"

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
	file := flags.String("c", "", "the evaluator's `file`, or a contest's; unless given, configs/evaluator.toml if it is there")
	flags.StringVar(file, "config", "", "as -c")
	model := flags.String("model", "", "the `name` of a model that stands for all that the file names; demo needs no key")
	from := flags.String("submission", "", "the `file` with the text, instead of the second argument")
	locale := flags.String("locale", "", "ja or en: the `language` of the built-in prompts; unless set, that of the prompt")
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
	out, err := round.Runner{Models: models}.Evaluate(ctx, round.Play{Evaluator: evaluator, Prompt: prompt, Locale: *locale}, submission)
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
	case errors.Is(err, round.ErrBlankPrompt), errors.Is(err, round.ErrBlankSubmission), errors.Is(err, round.ErrLongSubmission):
		return p.misused("%v", err)
	case errors.As(err, &failed):
		fmt.Fprintln(p.problem, still(failed.Sentence(locale)))
	default:
		fmt.Fprintln(p.problem, legible.Visible(err.Error()))
	}
	return exitFailed
}
