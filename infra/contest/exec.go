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
	"path/filepath"
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
	exitPartial      = 1
	exitFailedTeams  = 2
	maxPrompt        = contest.MaxPrompt
	usageOfExecution = "usage: contest exec [-c FILE] [-servers FILE] [-model NAME] [--json] [--trace FILE] [--dry-run] [--no-save] [--search] [--timeout SECONDS] \"prompt\""
)

// usualFiles are where exec looks for a contest's file if its arguments name none.
var usualFiles = []string{models.SampleFile, "configs/orchestrator.toml"}

// execution has exec's flags.
type execution struct {
	file, model, trace, locale string
	servers                    string
	asJSON, dry, unsaved       bool
	search                     bool
	timeout                    time.Duration
}

func (x *execution) flags(f *flag.FlagSet) {
	f.StringVar(&x.file, "c", "", "the `file` of the contest, or of a team that plays alone; unless given, "+strings.Join(usualFiles,
		" or ")+" of the workspace")
	f.StringVar(&x.file, "config", "", "as -c")
	f.StringVar(&x.servers, "servers", "", "the `file` of the MCP servers that members read by; unless given, "+usualServers+" of the workspace")
	f.StringVar(&x.model, "model", "", "the `name` of a model that stands for all that the files name; demo needs no key")
	f.StringVar(&x.trace, "trace", "", "a `file` for every call, as JSON Lines")
	f.StringVar(&x.locale, "locale", "", "ja or en: the `language` of the built-in prompts; unless set, that of the prompt")
	f.BoolVar(&x.asJSON, "json", false, "print the result as JSON; what happens is printed to standard error")
	f.BoolVar(&x.dry, "dry-run", false, "check files, keys and servers, and call no model")
	f.BoolVar(&x.unsaved, "no-save", false, "leave the archive of this machine, "+localFolder+", as it is")
	f.BoolVar(&x.search, "search", false, "let members of type web-search use their vendor's own web search, each of which has a price")
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
	case flags.NArg() > 1, flags.NArg() == 0 && !x.dry:
		return p.misused(usageOfExecution)
	case !x.dry && !legible.Text(prompt):
		return p.misused("%v", round.ErrBlankPrompt)
	case len(prompt) > maxPrompt:
		return p.misused("the prompt must be at most %d bytes", maxPrompt)
	case x.locale != "" && !slices.Contains(language.All, x.locale):
		return p.misused("-locale must be %s", strings.Join(language.All, " or "))
	}
	g, release, code := p.ready(ctx, x)
	defer release()
	if code != exitDone {
		return code
	}
	if x.dry {
		return p.plan(x, g)
	}
	g.prompt = prompt
	return p.hold(ctx, x, g)
}

// ready checks everything a contest needs (valid files, keys, servers with the listed tools) and prints all faults at
// once.
func (p program) ready(ctx context.Context, x execution) (g *game, release func(), code int) {
	release = func() {}
	w, err := p.workspace()
	if err != nil {
		return nil, release, p.misused("%v", err)
	}
	config, found, err := contestOf(w, x.file)
	if err != nil {
		return nil, release, p.misused("%v", err)
	}
	file, all, wrong := servers(w, x.servers, config)
	g = &game{config: config, timeout: x.timeout, names: config.Models()}
	if x.search {
		g.search = round.Search{Allowed: always, Instead: x.model}
	}
	places := config.Named
	if x.model != "" { // it replaces every model
		g.names, places = []string{x.model}, []teamconfig.Named{{File: "-model", Model: x.model, Set: true}}
	}
	var unopened []teamconfig.Finding
	if g.models, unopened, err = p.open(g.names, places, x.model); err != nil {
		return nil, release, p.misused("%v", err)
	}
	read := append(found, wrong...)
	valid := p.tell(append(read, unopened...))
	if !teamconfig.Valid(read) {
		return nil, release, exitMisused
	}
	if having(config, contest.WebSearch) {
		g.listed, found = p.connect(ctx, file, all)
		valid = p.tell(found) && valid
	}
	if !valid {
		return nil, release, exitMisused
	}
	p.tell(unpriced(g.names))
	release = p.equip(ctx, g, file, x.model)
	return g, release, exitDone
}

// always allows searches: the person at this machine asked for them.
func always(context.Context) (bool, error) { return true, nil }

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

// equip gives members a sandbox for scripts, and names the members that can't work on this machine.
func (p program) equip(ctx context.Context, g *game, file, instead string) (release func()) {
	release = func() {}
	lacks := map[contest.AgentType]string{}
	if g.listed != nil {
		unlisted := ""
		if len(g.listed.tools) == 0 {
			unlisted = file + " lists no tool of an MCP server"
		}
		p.tell(teamconfig.Models{Instead: instead}.Readers(g.config, g.search.Allowed != nil, unlisted))
	}
	if having(g.config, contest.CodeExec) {
		var err error
		if g.sandbox, release, err = p.sandbox(ctx); err != nil {
			lacks[contest.CodeExec] = fmt.Sprintf("can't execute code on this machine: %v", err)
		}
	}
	for _, t := range g.config.Teams {
		for _, m := range t.Members {
			if why := lacks[contest.AgentType(m.AgentType)]; why != "" {
				fmt.Fprintf(p.problem, "warning: %s: %s %s. Its team is told.\n", still(t.TeamID), still(m.AgentName),
					still(why))
			}
		}
	}
	return release
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

// plan prints what a run would do.
func (p program) plan(x execution, g *game) int {
	type team struct {
		TeamID  string `json:"team_id"`
		Members int    `json:"members"`
	}
	c := g.config
	plan := struct {
		Teams     []team   `json:"teams"`
		Models    []string `json:"models"`
		MinRounds int      `json:"min_rounds"`
		MaxRounds int      `json:"max_rounds"`
		Timeout   int      `json:"timeout_per_team_seconds"`
		Tools     []string `json:"tools"`         // that members of type web-search read by
		RunsCode  bool     `json:"executes_code"` // of members of type code-exec
	}{Models: g.names, MinRounds: c.MinRounds, MaxRounds: c.MaxRounds, Timeout: c.TeamTimeoutSeconds, Tools: []string{},
		RunsCode: g.sandbox != nil}
	for _, t := range c.Teams {
		plan.Teams = append(plan.Teams, team{t.TeamID, len(t.Members)})
	}
	if g.listed != nil {
		plan.Tools = append(plan.Tools, g.listed.names()...)
	}
	if g.search.Allowed != nil {
		plan.Tools = append(plan.Tools, g.searching()...)
	}
	if x.asJSON {
		return p.json(plan, exitDone)
	}
	fmt.Fprintf(p.out, "%s, %d to %d rounds, %d s for each team; files and keys are in order\n",
		counted(len(plan.Teams), "team"), plan.MinRounds, plan.MaxRounds, plan.Timeout)
	for _, t := range plan.Teams {
		fmt.Fprintf(p.out, "  %s: %s\n", still(t.TeamID), counted(t.Members, "member"))
	}
	fmt.Fprintf(p.out, "models: %s\n", still(strings.Join(plan.Models, ", ")))
	if len(plan.Tools) > 0 {
		fmt.Fprintf(p.out, "tools: %s\n", still(strings.Join(plan.Tools, ", ")))
	}
	if plan.RunsCode {
		fmt.Fprintln(p.out, "code: runs on this machine, in a sandbox")
	}
	return exitDone
}

// counted formats a number with its noun.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// hold runs the contest and prints its result.
func (p program) hold(ctx context.Context, x execution, g *game) int {
	lines := p.out
	if x.asJSON {
		lines = p.problem
	}
	trace := &tracing{}
	if x.trace != "" {
		f, err := os.OpenFile(x.trace, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return p.misused("%v", err)
		}
		defer f.Close()
		trace.to = f
	}
	if g.locale = x.locale; g.locale == "" {
		g.locale = localeOf(g.prompt)
	}
	if g.listed != nil {
		reads, err := p.reads(ctx, g.listed, g.locale)
		if err != nil {
			return p.misused("%v", err)
		}
		g.reads = reads
	}
	w, err := p.workspace()
	if err != nil {
		return p.misused("%v", err)
	}
	archive := filepath.Join(w.Folder, localFolder)
	if !x.unsaved { // tried before anything is paid for
		if err := (records{}).keep(archive); err != nil {
			return p.misused("the archive can't be written, --no-save leaves it: %v", err)
		}
	}
	g.id, g.watch = contest.NewID(), watching(lines, trace, g.config.Evaluator.Metrics)
	s := g.play(ctx)
	if trace.err != nil {
		fmt.Fprintf(p.problem, "warning: the trace is not whole: %v\n", trace.err)
	}
	written := exitDone
	if x.asJSON {
		written = p.json(s, exitDone)
	} else {
		show(p.out, s)
	}
	kept := true
	if !x.unsaved {
		kept = p.save(s, g.scored, archive)
	}
	return ended(ctx, s, written == exitDone, kept)
}

// save adds the contest to the archive of this machine, and reports whether it did.
func (p program) save(s summary, scored []contest.ScoredRound, folder string) bool {
	rows, err := recordsOf(s, scored)
	if err == nil {
		err = rows.keep(folder)
	}
	if err != nil {
		fmt.Fprintf(p.problem, "error: the contest is not in the archive: %s\n", still(err.Error()))
	}
	return err == nil
}

// ended returns the exit code of a contest whose result was written, and kept in the archive.
func ended(ctx context.Context, s summary, written, kept bool) int {
	switch {
	case !written:
		return exitFailedTeams
	case s.Status == contest.SummaryFailed:
		return exitFailedTeams
	case s.Status == contest.SummaryPartialFailure, !kept, ctx.Err() != nil: // teams lost time to the interruption
		return exitPartial
	}
	return exitDone
}

// localeOf detects a prompt's language.
func localeOf(prompt string) string {
	if strings.ContainsFunc(prompt, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) }) {
		return "ja"
	}
	return "en"
}

// tracing writes the trace if one is wanted. A write error doesn't end the contest.
type tracing struct {
	to  io.Writer
	err error // the first write error
}

func (t *tracing) add(e traced) {
	if t.to == nil || t.err != nil {
		return
	}
	b, err := e.line()
	if err == nil {
		_, err = t.to.Write(b)
	}
	t.err = err
}

// traced is one event of a trace.
type traced struct {
	round.Event
	Seconds float64 `json:"seconds"` // since the contest began
}

func (t traced) line() ([]byte, error) {
	b, err := json.Marshal(t)
	return append(quietJSON(b), '\n'), err
}
