package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
)

// game is a contest on this machine.
type game struct {
	config  teamconfig.Contest
	names   []string // models that are called
	models  round.Models
	listed  *listed     // nil: no member reads
	reads   round.Reads // the listed tools
	search  round.Search
	sandbox round.Sandbox // nil: not needed, or not available on this machine
	prompt  string
	locale  string
	timeout time.Duration // of the whole contest; 0: only the teams' own timeouts apply
	id      string
	watch   func(round.Event)

	mu     sync.Mutex
	found  map[string]int64 // searches of the web, by provider
	teams  []*outcome
	scored []contest.ScoredRound // of all teams, in the order in which they ended
}

// outcome is a team's result so far.
type outcome struct {
	TeamID     string                `json:"team_id"`
	TeamName   string                `json:"team_name"`
	Rounds     []contest.RoundResult `json:"-"`
	Played     int                   `json:"rounds"`
	ExitReason contest.ExitReason    `json:"exit_reason"`
	Detail     string                `json:"detail,omitempty"` // why it ended, where something went wrong
	Tokens     int64                 `json:"tokens"`           // of all calls, the evaluators' and the judge's too
	CostUSD    string                `json:"cost_usd"`
	Unpriced   int                   `json:"unpriced_calls,omitempty"` // calls that CostUSD leaves out
	Unjudged   *contest.Unjudged     `json:"unjudged,omitempty"`       // the judge gave no judgment of some rounds
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
	Searches                  []searches            `json:"web_searches,omitempty"`
	CostUSD                   string                `json:"cost_usd"`
}

// searches are those of one vendor, with their price, which the teams' costs include.
type searches struct {
	Provider    string `json:"provider"`
	Searches    int64  `json:"searches"`
	CostUSD     string `json:"cost_usd"`
	ThousandUSD string `json:"usd_per_thousand"`
	Source      string `json:"source"`
	Read        string `json:"read"` // the day
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
			Execution: g.id, Team: t, Evaluator: g.config.Evaluator, Judgment: g.config.Judgment, Prompt: g.prompt,
			Number:    o.Played + 1,
			MaxRounds: g.config.MaxRounds, MinRounds: g.config.MinRounds, History: o.Rounds, Ranking: g.ranking(), Until: until,
			Locale: g.locale,
		}
		out, err := round.Runner{Models: g.models, Reads: g.reads, Search: g.search, Sandbox: g.sandbox,
			Watch: g.saw}.Round(ctx, play)
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
			g.scored = append(g.scored, out.ScoredRound)
			o.judged(out.JudgeFailed)
		}
		g.mu.Unlock()
	}
}

// saw counts searches, and passes every event on.
func (g *game) saw(e round.Event) {
	if e.Kind == round.Searched && e.Usage != nil && e.Usage.Searches > 0 {
		g.mu.Lock()
		if g.found == nil {
			g.found = map[string]int64{}
		}
		g.found[e.Usage.Provider] += e.Usage.Searches
		g.mu.Unlock()
	}
	g.watch(e)
}

// searched returns the searches of each vendor.
func (g *game) searched() (all []searches) {
	for _, provider := range slices.Sorted(maps.Keys(g.found)) {
		p, _ := tenancy.SearchPriceOf(provider)
		cost, _ := tenancy.SearchCost(provider, g.found[provider])
		all = append(all, searches{provider, g.found[provider], cost.String(), p.Thousand.String(), p.Page, p.Read})
	}
	return all
}

// judged notes why the judge gave no judgment of a round.
func (o *outcome) judged(failed string) {
	if failed == "" {
		return
	}
	if o.Unjudged == nil {
		o.Unjudged = &contest.Unjudged{TeamID: o.TeamID, TeamName: o.TeamName}
	}
	o.Unjudged.Rounds, o.Unjudged.Detail = o.Unjudged.Rounds+1, failed
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

// ranking returns what a team learns about the others.
func (g *game) ranking() (standings []round.Standing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range ranked(g.teams) {
		standings = append(standings, round.Standing{TeamID: o.TeamID, Score: o.best().EvaluationScore})
	}
	return standings
}

func (g *game) summary(began, ended time.Time) summary {
	s := summary{
		ExecutionID: g.id, UserPrompt: g.prompt, TotalTeams: len(g.teams), TeamResults: []contest.RoundResult{},
		TotalExecutionTimeSeconds: ended.Sub(began).Seconds(), CompletedAt: ended.UTC(), CreatedAt: ended.UTC(),
		FailedTeams: []*outcome{}, Teams: ranked(g.teams), Searches: g.searched(),
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

// changed says that a tool has changed since the contest began.
var changed = language.InEach(
	"ツール %s は、コンテストを始めた後にサーバーで変更または削除されたため、呼び出しませんでした。",
	"The server has changed or removed the tool %s since the contest began, so it was not called.",
)

// reads returns the listed tools with the same limits for members as in a deployment.
func (p program) reads(ctx context.Context, l *listed, locale string) (round.Reads, error) {
	tools, err := round.Source{Rows: l, Credentials: l, Client: p.caller(), Now: time.Now}.Open(ctx, ownTenant, locale)
	if err != nil {
		return nil, err
	}
	return kept{tools, locale}, nil
}

// kept has the tools as they were when the contest began.
type kept struct {
	round.Reads
	locale string
}

// Read calls a tool. It refuses a listed tool only if its server has changed it.
func (k kept) Read(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	text, err := k.Reads.Read(ctx, tool, input)
	if refused := round.Refused(""); errors.As(err, &refused) {
		err = round.Refused(fmt.Sprintf(changed.In(k.locale), tool))
	}
	return text, err
}

// searching names the models whose members may use their vendor's own web search.
func (g *game) searching() (names []string) {
	for _, t := range g.config.Teams {
		for _, m := range t.Members {
			called := cmp.Or(g.search.Instead, m.Model)
			name := "web_search of " + called
			if m.AgentType == string(contest.WebSearch) && aggregate.ModelSearches(called) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
