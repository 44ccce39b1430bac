package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
)

// game is a contest on this machine.
type game struct {
	config  teamconfig.Contest
	models  round.Models
	prompt  string
	locale  string
	timeout time.Duration // of the whole contest; 0: only the teams' own timeouts apply
	id      string
	watch   func(round.Event)

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
	Tokens     int64                 `json:"tokens"`           // of all calls, the evaluators' too
	CostUSD    string                `json:"cost_usd"`
	Unpriced   int                   `json:"unpriced_calls,omitempty"` // calls that CostUSD leaves out
	cost       aggregate.MicroUSD
}

// spend adds what a round's calls took.
func (o *outcome) spend(u model.Usage) {
	o.cost += u.Cost
	o.Tokens, o.CostUSD, o.Unpriced = o.Tokens+u.Input+u.Cached+u.Output, o.cost.String(), o.Unpriced+u.Unpriced
}

// spent is what all teams' calls took.
func (s summary) spent() (cost aggregate.MicroUSD, unpriced int) {
	for _, o := range s.Teams {
		cost, unpriced = cost+o.cost, unpriced+o.Unpriced
	}
	return cost, unpriced
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
	Teams                     []*outcome            `json:"teams"`
	CostUSD                   string                `json:"cost_usd"`
}

// play lets all teams play concurrently.
func (g *game) play(ctx context.Context) summary {
	began := time.Now()
	var until time.Time
	if g.timeout > 0 {
		until = began.Add(g.timeout)
	}
	for _, t := range g.config.Teams {
		g.teams = append(g.teams, &outcome{TeamID: t.TeamID, TeamName: t.TeamName})
	}
	var all sync.WaitGroup
	for i, t := range g.config.Teams {
		all.Go(func() {
			end := time.Now().Add(time.Duration(g.config.TeamTimeoutSeconds) * time.Second)
			if !until.IsZero() && until.Before(end) {
				end = until
			}
			g.team(ctx, t, g.teams[i], end)
		})
	}
	all.Wait()
	return g.summary(began, time.Now())
}

// team plays a team's rounds, up to its end.
func (g *game) team(ctx context.Context, t teamconfig.Team, o *outcome, until time.Time) {
	for o.ExitReason == "" {
		play := round.Play{
			Execution: g.id, Team: t, Evaluator: g.config.Evaluator, Prompt: g.prompt, Number: o.Played + 1,
			MaxRounds: g.config.MaxRounds, History: o.Rounds, Until: until, Locale: g.locale,
		}
		out, err := round.Runner{Models: g.models, Watch: g.watch}.Round(ctx, play)
		g.mu.Lock()
		o.spend(out.Usage)
		var ended *round.Error
		switch {
		case errors.As(err, &ended):
			o.ExitReason, o.Detail = ended.Exit, ended.Sentence(g.locale)
		case ctx.Err() != nil:
			o.ExitReason, o.Detail = contest.PartialFailure, "interrupted"
		case err != nil:
			o.ExitReason, o.Detail = contest.PartialFailure, err.Error()
		default:
			o.Rounds, o.Played, o.ExitReason = append(o.Rounds, out.Result), play.Number, out.Exit
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
		return cmp.Or(cmp.Compare(y.EvaluationScore, x.EvaluationScore), x.CompletedAt.Compare(y.CompletedAt),
			cmp.Compare(a.TeamID, b.TeamID))
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
	s.Teams = append(s.Teams, s.FailedTeams...)
	cost, _ := s.spent()
	s.CostUSD = cost.String()
	if s.Status = contest.StatusOf(len(s.FailedTeams), len(s.TeamResults)); s.Status != contest.SummaryFailed {
		first := s.Teams[0]
		s.BestTeamID, s.BestScore = &first.TeamID, &first.best().EvaluationScore
	}
	return s
}
