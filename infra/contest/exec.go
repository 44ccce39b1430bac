package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringi/infra/local/contests"
	"ringi/shared/contest"
	"ringi/shared/language"
	"ringi/shared/round"
	"ringi/shared/submission"
	"ringi/shared/teamconfig"
)

// What the exit of exec says. A contest that never began has failed too.
const (
	exitPartial      = 1
	exitFailedTeams  = 2
	maxPrompt        = contest.MaxPrompt
	usageOfExecution = "usage: contest exec [-c FILE] [-model NAME] [--json] [--trace FILE] [--dry-run] [--timeout SECONDS] \"prompt\""
)

// usualFiles are where a contest's file is looked for.
var usualFiles = []string{contests.File, "configs/orchestrator.toml"}

// execution is what exec was asked for.
type execution struct {
	file, model, trace, locale string
	asJSON, dry                bool
	timeout                    time.Duration
}

func (x *execution) flags(f *flag.FlagSet) {
	f.StringVar(&x.file, "c", "", "the contest's `file`; unless given, "+strings.Join(usualFiles, " or ")+" of the workspace")
	f.StringVar(&x.file, "config", "", "as -c")
	f.StringVar(&x.model, "model", "", "the `name` of a model that stands for all that the files name; demo needs no key")
	f.StringVar(&x.trace, "trace", "", "a `file` for every call, as JSON Lines")
	f.StringVar(&x.locale, "locale", "", "ja or en: the `language` of the built-in prompts; unless set, that of the prompt")
	f.BoolVar(&x.asJSON, "json", false, "print the result as JSON; what happens is printed to standard error")
	f.BoolVar(&x.dry, "dry-run", false, "check files and keys, and call no model")
	f.Func("timeout", "`seconds`, or 5m, for the whole contest", func(s string) error {
		if n, err := strconv.Atoi(s); err == nil {
			s = fmt.Sprint(n, "s")
		}
		d, err := time.ParseDuration(s)
		if err == nil && d <= 0 {
			err = errors.New("must be more than 0")
		}
		x.timeout = d
		return err
	})
}

// exec runs a contest. It exits with 0 when every team has a result, with 1 when some have failed, with 2 when all have, or
// when it could not begin.
func (p program) exec(ctx context.Context, args []string) int {
	var x execution
	flags := p.flags("exec")
	x.flags(flags)
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	prompt := flags.Arg(0)
	switch {
	case flags.NArg() > 1, flags.NArg() == 0 && !x.dry:
		return p.misused(usageOfExecution)
	case !x.dry && strings.TrimSpace(prompt) == "":
		return p.misused("%v", round.ErrBlankPrompt)
	case len(prompt) > maxPrompt:
		return p.misused("the prompt must be at most %d bytes", maxPrompt)
	case x.locale != "" && !slices.Contains(language.All, x.locale):
		return p.misused("-locale must be %s", strings.Join(language.All, " or "))
	}
	config, code := p.read(x.file)
	if code != exitDone {
		return code
	}
	names := config.Models()
	if x.model != "" { // it stands for every one
		names = []string{x.model}
	}
	opened, err := p.open(names, x.model)
	if err != nil {
		return p.misused("%v", err)
	}
	if x.dry {
		return p.plan(x, config, names)
	}
	return p.hold(ctx, x, config, opened, prompt)
}

// read reads the contest's file, and says all that is wrong with it.
func (p program) read(file string) (teamconfig.Contest, int) {
	w, err := p.workspace()
	if err != nil {
		return teamconfig.Contest{}, p.misused("%v", err)
	}
	if file == "" {
		file = usualFiles[0]
		for _, usual := range usualFiles {
			if _, err := fs.Stat(w.FS, usual); err == nil {
				file = usual
				break
			}
		}
	}
	at, err := w.Locate(file)
	if err != nil {
		return teamconfig.Contest{}, p.misused("%s: %v", file, err)
	}
	config, found := w.Contest(at)
	for _, f := range found {
		kind := "error"
		if f.Warning {
			kind = "warning"
		}
		fmt.Fprintf(p.problem, "%s: %s\n", kind, still(f.String()))
	}
	if !teamconfig.Valid(found) {
		return config, exitMisused
	}
	for _, t := range config.Teams {
		for _, m := range t.Members {
			if m.AgentType != string(submission.Plain) {
				fmt.Fprintf(p.problem, "warning: %s: %s can't work on this machine: a %s member needs a deployment's tools. Its team is told so.\n", still(t.TeamID), still(m.AgentName), m.AgentType)
			}
		}
	}
	return config, exitDone
}

// plan says what would be run.
func (p program) plan(x execution, c teamconfig.Contest, names []string) int {
	type team struct {
		TeamID  string `json:"team_id"`
		Members int    `json:"members"`
	}
	plan := struct {
		Teams     []team   `json:"teams"`
		Models    []string `json:"models"`
		MinRounds int      `json:"min_rounds"`
		MaxRounds int      `json:"max_rounds"`
		Timeout   int      `json:"timeout_per_team_seconds"`
	}{Models: names, MinRounds: c.MinRounds, MaxRounds: c.MaxRounds, Timeout: c.TeamTimeoutSeconds}
	for _, t := range c.Teams {
		plan.Teams = append(plan.Teams, team{t.TeamID, len(t.Members)})
	}
	if x.asJSON {
		return p.json(plan, exitDone)
	}
	fmt.Fprintf(p.out, "%s, %d to %d rounds, %d s for each team; files and keys are in order\n", counted(len(plan.Teams), "team"), plan.MinRounds, plan.MaxRounds, plan.Timeout)
	for _, t := range plan.Teams {
		fmt.Fprintf(p.out, "  %s: %s\n", still(t.TeamID), counted(t.Members, "member"))
	}
	fmt.Fprintf(p.out, "models: %s\n", strings.Join(names, ", "))
	return exitDone
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// hold lets the teams compete and prints what came of it.
func (p program) hold(ctx context.Context, x execution, config teamconfig.Contest, opened round.Models, prompt string) int {
	lines := p.out
	if x.asJSON {
		lines = p.problem
	}
	var trace io.Writer
	if x.trace != "" {
		f, err := os.OpenFile(x.trace, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return p.misused("%v", err)
		}
		defer f.Close()
		trace = f
	}
	if x.locale == "" {
		x.locale = localeOf(prompt)
	}
	g := &game{config: config, models: opened, prompt: prompt, locale: x.locale, timeout: x.timeout, id: contest.NewID(), watch: watching(lines, trace, config.Evaluator.Metrics)}
	s := g.play(ctx)
	if x.asJSON {
		p.json(s, exitDone)
	} else {
		show(p.out, s)
	}
	switch {
	case s.Status == contest.SummaryFailed:
		return exitFailedTeams
	case s.Status == contest.SummaryPartialFailure, ctx.Err() != nil: // interrupted: teams have less than they were given
		return exitPartial
	}
	return exitDone
}

// localeOf is the language of a prompt.
func localeOf(prompt string) string {
	for _, r := range prompt {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) {
			return "ja"
		}
	}
	return "en"
}

// traced is one event of a trace.
type traced struct {
	round.Event
	Seconds float64 `json:"seconds"` // since the contest began
}

func (t traced) line() ([]byte, error) {
	b, err := json.Marshal(t)
	return append(b, '\n'), err
}
