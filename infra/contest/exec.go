package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Exit codes of exec. A contest that could not begin has failed too.
const (
	exitPartial     = 1
	exitFailedTeams = 2
)

// usualFiles are where exec looks for a contest's file if its arguments name none.
var usualFiles = []string{models.SampleFile, "configs/orchestrator.toml"}

// execution has exec's flags.
type execution struct {
	file, model, locale string
	asJSON              bool
	timeout             time.Duration
}

func (x *execution) flags(f *flag.FlagSet) {
	f.StringVar(&x.file, "c", "", "the `file` of the contest, or of a team that plays alone; unless given, "+
		strings.Join(usualFiles, " or ")+" of the workspace")
	f.StringVar(&x.model, "model", "", "the `name` of a model that stands for all that the files name; demo needs no key")
	f.StringVar(&x.locale, "locale", "", "ja or en: the `language` of the built-in prompts; unless set, the prompt's")
	f.BoolVar(&x.asJSON, "json", false, "print the result as JSON; what happens is printed to standard error")
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

// exec runs a contest. Its exit code is 0 when every team has a result, 1 when some have failed, and 2 when all have
// failed or the contest could not begin.
func (p program) exec(ctx context.Context, args []string) int {
	var x execution
	flags := p.flags("exec")
	x.flags(flags)
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	prompt := flags.Arg(0)
	switch {
	case flags.NArg() != 1:
		fmt.Fprint(p.problem, usage)
		return exitMisused
	case !legible.Text(prompt):
		return p.misused("%v", round.ErrBlankPrompt)
	case len(prompt) > contest.MaxPrompt:
		return p.misused("the prompt must be at most %d bytes", contest.MaxPrompt)
	case x.locale != "" && !slices.Contains(language.All, x.locale):
		return p.misused("-locale must be %s", strings.Join(language.All, " or "))
	}
	g, code := p.ready(x)
	if code != exitDone {
		return code
	}
	if g.prompt, g.locale = prompt, x.locale; g.locale == "" {
		g.locale = localeOf(prompt)
	}
	return p.hold(ctx, x.asJSON, g)
}

// ready checks everything a contest needs (valid files, keys) and prints all faults at once.
func (p program) ready(x execution) (g *game, code int) {
	w, err := p.workspace()
	if err != nil {
		return nil, p.misused("%v", err)
	}
	config, found, err := contestOf(w, x.file)
	if err != nil {
		return nil, p.misused("%v", err)
	}
	g = &game{config: config, timeout: x.timeout}
	names, places := config.Models(), config.Named
	if x.model != "" { // it replaces every model
		names, places = []string{x.model}, []teamconfig.Named{{File: "-model", Model: x.model, Set: true}}
	}
	var unopened []teamconfig.Finding
	if g.models, unopened, err = p.open(names, places, x.model); err != nil {
		return nil, p.misused("%v", err)
	}
	if !p.tell(append(found, unopened...)) {
		return nil, exitMisused
	}
	p.tell(unpriced(names))
	p.name(g.config)
	return g, exitDone
}

// unpriced returns a warning for each model whose price is not known.
func unpriced(names []string) (found []teamconfig.Finding) {
	for _, name := range names {
		if !tenancy.PriceKnown(name, nil) {
			found = append(found, teamconfig.Finding{File: name, Warning: true,
				Message: "its price is not known, so USD leaves it out"})
		}
	}
	return found
}

// lacking says why a member can't work on this machine.
var lacking = map[contest.AgentType]string{contest.WebSearch: "can't read anything on this machine",
	contest.CodeExec: "can't execute code on this machine"}

// name names the members that can't work on this machine.
func (p program) name(c teamconfig.Contest) {
	for _, t := range c.Teams {
		for _, m := range t.Members {
			if why := lacking[contest.AgentType(m.AgentType)]; why != "" {
				fmt.Fprintf(p.problem, "warning: %s: %s %s. Its team is told.\n", still(t.TeamID), still(m.AgentName), why)
			}
		}
	}
}

// contestOf reads the file of a contest, or of a team that plays alone.
func contestOf(w teamconfig.Workspace, file string) (teamconfig.Contest, []teamconfig.Finding, error) {
	at, err := contestFile(w, file)
	if err != nil {
		return teamconfig.Contest{}, nil, err
	}
	config, found := w.ContestOrTeam(at)
	return config, found, nil
}

// contestFile locates the contest's file; for "" the first of the usual ones that exists.
func contestFile(w teamconfig.Workspace, file string) (string, error) {
	for _, usual := range usualFiles {
		if _, err := fs.Stat(w.FS, usual); file == "" && err == nil {
			file = usual
		}
	}
	if file == "" {
		return "", fmt.Errorf("the workspace has neither %s: name a file by -c", strings.Join(usualFiles, " nor "))
	}
	at, err := w.Locate(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return at, nil
}

// tell prints all findings, and reports whether none is worse than a warning.
func (p program) tell(found []teamconfig.Finding) bool {
	for _, f := range found {
		kind := "error"
		if f.Warning {
			kind = "warning"
		}
		fmt.Fprintf(p.problem, "%s: %s\n", kind, still(f.String()))
	}
	return teamconfig.Valid(found)
}

// hold runs the contest and prints its result.
func (p program) hold(ctx context.Context, asJSON bool, g *game) int {
	lines := p.out
	if asJSON {
		lines = p.problem
	}
	g.id, g.watch = contest.NewID(), watching(lines, g.config.Evaluator.Metrics)
	s := g.play(ctx)
	if !asJSON {
		show(p.out, s)
	} else if p.json(s, exitDone) != exitDone {
		return exitFailedTeams
	}
	switch {
	case s.Status == contest.SummaryFailed:
		return exitFailedTeams
	case s.Status == contest.SummaryPartialFailure, ctx.Err() != nil: // teams lost time to the interruption
		return exitPartial
	}
	return exitDone
}

// localeOf detects a prompt's language.
func localeOf(prompt string) string {
	if strings.ContainsFunc(prompt, func(r rune) bool {
		return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
	}) {
		return "ja"
	}
	return "en"
}
