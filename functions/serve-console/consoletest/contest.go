package consoletest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// Beginner stands in for the function that reads the contest files.
type Beginner struct {
	W      *World
	Down   bool
	NotSet bool
	Begun  []store.Alone
	More   int // warnings of configs/contest.toml beside the one that is named
	// Checked is the last question about one file.
	Checked store.ContestQuery
	// MostOfDay limits the day's budget; 0: no limit.
	MostOfDay aggregate.MicroUSD
}

func (b *Beginner) Ask(ctx context.Context, asked store.ContestQuery) (store.ContestResult, error) {
	if b.Down {
		return store.ContestResult{}, explain.ErrUnavailable
	}
	teams := []contest.Entry{{TeamID: "a", TeamName: "堅実"}, {TeamID: "b", TeamName: "速攻"}}
	if x := asked.Begin; x != nil {
		b.Begun = append(b.Begun, *x)
		if x.File != "configs/contest.toml" {
			return store.ContestResult{}, nil
		}
		err := b.W.Console.Contests.Begin(ctx, contest.Order{Execution: x.Execution, Tenant: x.Tenant, Prompt: x.Prompt,
			Locale: x.Locale, Teams: teams, MaxRounds: x.MaxRounds, TeamTimeoutSeconds: 300,
			TimeoutSeconds: x.Seconds, Budget: x.Budget, By: x.By, MostOfDay: b.MostOfDay})
		if errors.As(err, new(aggregate.ErrFull)) {
			return store.ContestResult{OverBudget: true}, nil
		}
		if errors.Is(err, aggregate.ErrExists) {
			err = nil
		}
		return store.ContestResult{Begun: err == nil}, err
	}
	all := []store.Described{
		{File: "configs/contest.toml", Teams: teams, MaxRounds: 3, TeamSeconds: 300,
			Warnings: []string{"team: <b>x</b> can't read anything"}},
		{File: "configs/old.toml", Wrong: []string{"configs/old.toml: max_rounds: must be 1 to 10, got <b>99</b>"},
			Warnings: []string{"old: x can use only the listed tools"}},
	}
	if b.More > 0 {
		all[0].Warnings = append(all[0].Warnings, fmt.Sprintf("and %d more", b.More))
	}
	if asked.Check != "" {
		b.Checked = asked
		all = slices.DeleteFunc(all, func(d store.Described) bool { return d.File != asked.Check })
	}
	return store.ContestResult{NotSet: b.NotSet, Contests: all}, nil
}

type Contest struct {
	*World
	ID string
}

// Compete begins a contest of two teams, for the task by if by is not nil.
func (w *World) Compete(prompt string, by *aggregate.Ref) *Contest {
	w.T.Helper()
	k := &Contest{w, contest.NewID()}
	o := contest.Order{Execution: k.ID, Tenant: w.Tenant.ID, Prompt: prompt, Locale: "ja", MaxRounds: 3,
		TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		Teams: []contest.Entry{{TeamID: "team-a", TeamName: "堅実"}, {TeamID: "team-b", TeamName: "<b>速攻</b>"}},
		By:    aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}}
	if by != nil {
		o.For, o.ForRow, o.Title, o.Prompt = by, task.PromptKey(1), prompt, "<data>"+prompt+"</data>"
	}
	expect.NoError(w.T, w.Console.Contests.Begin(w.T.Context(), o))
	return k
}

// Plays adds a round of the team at a place.
func (k *Contest) Plays(place, round int, score float64, text string) {
	k.T.Helper()
	a := expect.Value(k.Console.Contests.Load(k.T.Context(), contest.Ref(k.Tenant.ID, k.ID)))(k.T)
	w := expect.Value(k.Console.Contests.Enter(k.T.Context(), a, place))(k.T)
	e := a.Contest.Teams[place-1]
	said := contest.MemberSubmission{AgentName: "analyst", AgentType: contest.Plain, Content: "調べました",
		Status: contest.Success, Timestamp: k.Now()}
	p := storetest.Round(k.ID, e, round, text, score, k.Now())
	p.Result.EvaluationFeedback, p.Result.ExecutionTimeSeconds = "Relevance (0.90): 要点がそろっています。", 5.2
	p.Result.Usage = contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}
	p.Record.Submissions = []contest.MemberSubmission{said}
	p.Metrics = []contest.MetricScore{{MetricName: "Relevance", Score: 100 * score, EvaluatorComment: "要点がそろっています。"}}
	expect.Value(k.Console.Contests.SaveRound(k.T.Context(), w.Ref(), p))(k.T)
}

func (k *Contest) Ends(place int, exit contest.ExitReason, why aggregate.Reason) {
	k.T.Helper()
	a := expect.Value(k.Console.Contests.Load(k.T.Context(), contest.Ref(k.Tenant.ID, k.ID)))(k.T)
	w := expect.Value(k.Console.Contests.Enter(k.T.Context(), a, place))(k.T)
	expect.Value(k.Console.Contests.End(k.T.Context(), w.Ref(), exit, why))(k.T)
}

func (k *Contest) Page() string { return "/console/contests/" + k.ID }
