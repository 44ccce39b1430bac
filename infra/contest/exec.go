package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/words/language"
)

// exec runs a file's contest, with instead in place of every model if it is not empty. Its exit code is 0 when every
// team has a result, 1 when some have failed or it was interrupted, and 2 when all have failed or it could not begin.
func (p program) exec(ctx context.Context, w teamconfig.Workspace, file, instead, prompt string, asJSON bool) int {
	switch {
	case !language.Legible(prompt):
		return p.misused("%v", round.ErrBlankPrompt)
	case len(prompt) > contest.MaxPrompt:
		return p.misused("the prompt must be at most %d bytes", contest.MaxPrompt)
	}
	config, found := w.Contest(file, language.English)
	places := config.Named
	if instead != "" {
		places = []teamconfig.Named{{File: "-model", Model: instead, Set: true}}
	}
	wires, unopened, err := p.open(places, instead)
	if err != nil {
		return p.misused("%v", err)
	}
	if found = append(found, unopened...); len(found) > 0 {
		for _, f := range found {
			fmt.Fprintln(p.problem, still(f.String()))
		}
		return exitMisused
	}
	g := &game{config: config, models: wires, prompt: prompt, locale: language.Detect(prompt, language.English),
		id: contest.NewID(), lines: p.problem}
	s := g.play(ctx)
	if !asJSON {
		show(p.out, s)
	} else if p.json(s, exitDone) != exitDone {
		return exitMisused
	}
	switch {
	case s.Status == contest.SummaryFailed:
		return exitMisused
	case s.Status == contest.SummaryPartialFailure, ctx.Err() != nil: // teams lost time to the interruption
		return exitFailed
	}
	return exitDone
}

// open returns the models at these places, with keys from the environment, and a finding for each place whose model
// lacks one.
func (p program) open(places []teamconfig.Named, instead string) (round.Models, []teamconfig.Finding, error) {
	config := provider.Config{Vendor: provider.VendorClient(), At: map[string]string{}}
	config.AWS.Region = "us-east-1" // Bedrock's client needs a region, but calls the address
	keys := map[string]any{}
	compatible := map[string]map[string]string{}
	var allow []string
	var missing []teamconfig.Finding
	for _, at := range places {
		n, a, err := models.ModelOf(at.Model, p.env)
		switch {
		case err != nil:
			missing = append(missing, teamconfig.Finding{File: at.File, Field: at.Field, Message: err.Error()})
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
	given := func(context.Context, string) (string, error) { return string(text), nil }
	config.Secret = &secret.Models{Reader: given, ID: "the environment"}
	config.Outbound = outbound.Allowing(strings.Join(allow, ",")).Client()
	return provider.Wires{Config: config, Instead: instead, Unlimited: true}, missing, nil
}

// game is a contest on this machine.
type game struct {
	config             teamconfig.Contest
	models             round.Models
	prompt, locale, id string
	lines              io.Writer // of what happens

	mu    sync.Mutex
	teams []*outcome
}

// outcome is a team's result so far.
type outcome struct {
	TeamID     string                `json:"team_id"`
	TeamName   string                `json:"team_name"`
	Rounds     []contest.RoundResult `json:"-"`
	Played     int                   `json:"rounds"`
	ExitReason contest.ExitReason    `json:"exit_reason"`
	Detail     string                `json:"detail,omitempty"` // why it ended, where something went wrong
	Usage      model.Usage           `json:"usage"`            // of all calls, the evaluators' too
}

// summary is the row execution_summary, and what the printed table adds.
type summary struct {
	ExecutionID               string                `json:"execution_id"`
	UserPrompt                string                `json:"user_prompt"`
	Status                    contest.SummaryStatus `json:"status"`
	TeamResults               []contest.RoundResult `json:"team_results"`
	TotalTeams                int                   `json:"total_teams"`
	BestTeamID                *string               `json:"best_team_id"`
	BestScore                 *float64              `json:"best_score"`
	TotalExecutionTimeSeconds float64               `json:"total_execution_time_seconds"`
	CompletedAt               time.Time             `json:"completed_at"`
	CreatedAt                 time.Time             `json:"created_at"`
	FailedTeams               []*outcome            `json:"failed_teams"`
	Teams                     []*outcome            `json:"teams"` // best first
}

// play lets all teams play concurrently.
func (g *game) play(ctx context.Context) summary {
	began := time.Now()
	var all sync.WaitGroup
	for _, t := range g.config.Teams {
		o := &outcome{TeamID: t.TeamID, TeamName: t.TeamName}
		g.teams = append(g.teams, o)
		all.Go(func() { g.team(ctx, t, o, began.Add(time.Duration(g.config.TeamTimeoutSeconds)*time.Second)) })
	}
	all.Wait()
	return g.summary(began, time.Now())
}

// team plays a team's rounds, up to its end.
func (g *game) team(ctx context.Context, t teamconfig.Team, o *outcome, until time.Time) {
	for o.ExitReason == "" {
		out, err := round.Runner{Models: g.models}.Round(ctx, round.Play{
			Execution: g.id, Team: t, Evaluator: g.config.Evaluator, Prompt: g.prompt, Number: o.Played + 1,
			MaxRounds: g.config.MaxRounds, History: o.Rounds, Until: until, Locale: g.locale,
		})
		o.Usage = o.Usage.Plus(out.Usage)
		var ended *round.Error
		said := ""
		switch {
		case errors.As(err, &ended):
			o.ExitReason, o.Detail = ended.Exit, ended.Sentence(g.locale)
		case ctx.Err() != nil:
			o.ExitReason, o.Detail = contest.PartialFailure, "interrupted"
		case err != nil:
			o.ExitReason, o.Detail = contest.PartialFailure, err.Error()
		default:
			o.Rounds, o.Played, o.ExitReason = append(o.Rounds, out.Result), o.Played+1, out.Exit
			said = fmt.Sprintf("round %d: %s", o.Played, points(out.Result.EvaluationScore))
		}
		g.mu.Lock()
		fmt.Fprintf(g.lines, "%s: %s\n", still(t.TeamID), cmp.Or(said, still(o.Detail)))
		for _, s := range out.Record.Submissions {
			if s.ErrorMessage != nil {
				fmt.Fprintf(g.lines, "%s: %s: %s\n", still(t.TeamID), still(s.AgentName), still(*s.ErrorMessage))
			}
		}
		g.mu.Unlock()
	}
}

// best returns the team's best round, or nil.
func (o *outcome) best() *contest.RoundResult {
	if i := contest.Best(o.Rounds); i >= 0 {
		return &o.Rounds[i]
	}
	return nil
}

// ranked returns the teams with a result, best first; ties keep their order.
func ranked(teams []*outcome) []*outcome {
	with := slices.DeleteFunc(slices.Clone(teams), func(o *outcome) bool { return o.best() == nil })
	slices.SortStableFunc(with, func(a, b *outcome) int {
		x, y := a.best(), b.best()
		return cmp.Or(cmp.Compare(y.EvaluationScore, x.EvaluationScore), x.CompletedAt.Compare(y.CompletedAt))
	})
	return with
}

func (g *game) summary(began, ended time.Time) summary {
	s := summary{
		ExecutionID: g.id, UserPrompt: g.prompt, TotalTeams: len(g.teams), TeamResults: []contest.RoundResult{},
		TotalExecutionTimeSeconds: ended.Sub(began).Seconds(), CompletedAt: ended.UTC(), CreatedAt: ended.UTC(),
		FailedTeams: []*outcome{}, Teams: ranked(g.teams),
	}
	for _, o := range g.teams {
		if b := o.best(); b != nil {
			s.TeamResults = append(s.TeamResults, *b)
		} else {
			s.FailedTeams = append(s.FailedTeams, o)
		}
	}
	if s.Status = contest.StatusOf(len(s.FailedTeams), len(s.TeamResults)); len(s.Teams) > 0 {
		s.BestTeamID, s.BestScore = &s.Teams[0].TeamID, &s.Teams[0].best().EvaluationScore
	}
	s.Teams = append(s.Teams, s.FailedTeams...)
	return s
}

// points formats a score of 0.0 to 1.0 as percent.
func points(score float64) string { return fmt.Sprintf("%.2f", score*100) }

// dollars formats what calls cost. It says where some without a known price are left out.
func dollars(u model.Usage) string {
	if u.Unpriced > 0 {
		return ">" + u.Cost.String()
	}
	return u.Cost.String()
}

// show prints the contest's board and the best submission. Names are the last column, because wide characters would
// break the columns after them.
func show(out io.Writer, s summary) {
	fmt.Fprintf(out, "\n%s: %s, %.1f s\n\n", s.ExecutionID, s.Status, s.TotalExecutionTimeSeconds)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PLACE\tSCORE\tROUND\tROUNDS\tTOKENS\tUSD\tEXIT\tTEAM")
	for i, o := range s.Teams {
		place, score, best := "-", "-", "-"
		if b := o.best(); b != nil {
			place, score, best = fmt.Sprint(i+1), points(b.EvaluationScore), fmt.Sprint(b.RoundNumber)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s (%s)\n", place, score, best, o.Played,
			o.Usage.Input+o.Usage.Cached+o.Usage.Output, dollars(o.Usage), o.ExitReason, still(o.TeamName), still(o.TeamID))
	}
	t.Flush()
	if s.BestTeamID == nil {
		return
	}
	best := s.Teams[0].best()
	for l := range strings.SplitSeq("\n"+strings.TrimSpace(best.SubmissionContent)+"\n\n"+
		contest.InPoints(best.EvaluationFeedback, language.English), "\n") {
		fmt.Fprintln(out, strings.TrimRight(quiet(l), " "))
	}
}
