// Command run-round plays one round of one team of a contest, or the rest of an unfinished one.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool/mcp"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
	boot.Credentials
	SandboxFunction string `env:"SANDBOX_FUNCTION,optional" doc:"the function that runs commands; without it none are run"`
	Programs        string `env:"SANDBOX_PROGRAMS,optional" doc:"where commands' programs are; for the local stack only"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s, values := store.OpenAll(cfg, env.Table), large.Open(cfg, env.Results)
	h := &Handler{
		Store:   store.ContestsOf(s, values),
		Models:  modelsOf(provider.Wires{Config: provider.New(cfg, env.Models), Instead: env.Model}),
		Prompts: func(ref aggregate.Ref) model.Keep { return values.Prompts(ref) },
		Search: func(ctx context.Context, tenant string) (bool, error) {
			x, err := s.Settings(ctx, tenant)
			return x.ContestSearch, err
		},
		Instead: env.Model,
		Reads:   newReads(cfg, env, s).Open,
		Now:     time.Now,
	}
	if env.SandboxFunction != "" {
		h.Sandbox = round.Isolated(outbound.SandboxAt(cfg, env.SandboxFunction), env.Programs)
	}
	return h, nil
}

// modelsOf opens wires at a workspace's own prices.
func modelsOf(w provider.Wires) func(own []tenancy.ModelPrice) round.Models {
	return func(own []tenancy.ModelPrice) round.Models {
		w.Prices = own
		return w
	}
}

// newReads calls MCP servers only: members have none of Ringi's own tools.
func newReads(cfg aws.Config, env environment, s *store.Store) round.Source {
	credentials, out := vault.New(s, vault.EnvelopeAt(cfg, env.CredentialsKeyID)),
		outbound.Allowing(env.OutboundAllow).Client()
	credentials.Outbound = out.Transport
	return round.Source{Rows: s, Credentials: credentials, Client: mcp.Client{HTTP: out}, Now: time.Now}
}

// StateRound is the state that plays a team's next round, or the rest of an unfinished one.
const StateRound = "RunRound"

type Handler struct {
	Store *store.ContestStore
	// Models opens models at a workspace's own prices.
	Models func(own []tenancy.ModelPrice) round.Models
	// Prompts stores the requests to models; if it is nil, they are not stored.
	Prompts func(ref aggregate.Ref) model.Keep
	// Sandbox runs the code of members; if it is nil, members run none.
	Sandbox round.Sandbox
	// Search reports whether a tenant lets members of contests search the web; if it is nil, none may.
	Search func(ctx context.Context, tenant string) (bool, error)
	// Instead is the model that replaces every other; empty: none.
	Instead string
	// Reads opens the tools that a tenant allows in contests; if it is nil, there are none.
	Reads func(ctx context.Context, tenant, locale string) (round.Reads, error)
	Now   func() time.Time
}

// team is one team's part in a contest, as this invocation loaded it.
type team struct {
	*Handler
	contest *contest.Aggregate
	work    *contest.Work
	config  teamconfig.Contest
	own     teamconfig.Team
}

// Handle plays at most one round of the team in.Team, and says whether the team continues. If time runs out, the next
// invocation finishes that with the models' answers so far.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := pipeline.Load(ctx, h.Store.KindStore, in)
	if err != nil {
		return aggregate.Next{}, err
	}
	if a.Head.OverAt != nil { // CloseContest stops its teams
		return finished("contest_over"), nil
	}
	w, err := h.Store.Enter(ctx, a, in.Team)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("enter team %d: %w", in.Team, err)
	}
	if w.Team == nil {
		return aggregate.Next{}, fmt.Errorf("the team's row is not there yet: %w", aggregate.ErrConflict) // a torn read
	}
	if w.Team.Status != contest.TeamRunning {
		return finished(string(w.Team.Status)), nil
	}
	t := &team{Handler: h, contest: a, work: w}
	if exit := w.Next(h.Now()); exit != "" {
		return t.end(ctx, exit, contest.ReasonOf(exit), "")
	}
	if err := t.read(ctx); err != nil {
		return aggregate.Next{}, err
	}
	return t.play(ctx)
}

func finished(outcome string) aggregate.Next {
	return aggregate.Next{State: aggregate.StateFinish, Outcome: outcome}
}

func (t *team) read(ctx context.Context) error {
	text, err := t.Store.Values.Open(ctx, t.contest.Ref(), t.contest.Contest.Config)
	if err != nil {
		return fmt.Errorf("open the configuration: %w", err)
	}
	if err := json.Unmarshal(text, &t.config); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	i := slices.IndexFunc(t.config.Teams, func(x teamconfig.Team) bool { return x.TeamID == t.work.Team.TeamID })
	if i < 0 {
		return fmt.Errorf("the configuration has no team %.50q", t.work.Team.TeamID)
	}
	t.own = t.config.Teams[i]
	return nil
}

func (t *team) play(ctx context.Context) (aggregate.Next, error) {
	play, err := t.next(ctx)
	if err != nil {
		return aggregate.Next{}, err
	}
	runner, err := t.runner(ctx)
	if err != nil {
		return aggregate.Next{}, err
	}
	out, err := runner.Round(ctx, play)
	if err != nil {
		return t.broken(ctx, play.Number, err)
	}
	slog.InfoContext(ctx, "scored", "execution_id", out.Result.ExecutionID, "team_id", out.Result.TeamID,
		"round_number", play.Number, "score", out.Result.EvaluationScore, "exit_reason", out.Exit)
	return t.save(ctx, out)
}

func (t *team) runner(ctx context.Context) (round.Runner, error) {
	reads, err := t.reads(ctx)
	k := t.contest.Contest
	return round.Runner{
		Models: t.keeping(), May: t.may, Stands: t.stands, Sandbox: t.Sandbox, Reads: reads, Search: t.search(),
		Now:  t.Now,
		Kept: store.Kept{Store: t.Store, Team: t.work.Ref(), Execution: k.ExecutionID, ChargedTo: k.ForID},
	}, err
}

// broken says how the team goes on after a round that came to no end.
func (t *team) broken(ctx context.Context, number int, err error) (aggregate.Next, error) {
	k := t.contest.Contest
	log := slog.With("execution_id", k.ExecutionID, "team_id", t.work.Team.TeamID, "round_number", number)
	var ended *round.Error
	switch {
	case errors.Is(err, round.ErrAgain):
		log.InfoContext(ctx, "goes on in another invocation")
		return aggregate.Next{State: StateRound}, nil
	case errors.Is(err, aggregate.ErrMoved): // another invocation plays the same round
		log.WarnContext(ctx, "another invocation plays the round", "err", err)
		return aggregate.Next{State: StateRound}, nil
	case errors.Is(err, round.ErrStopped):
		return finished("contest_over"), nil
	case errors.As(err, &ended):
		log.WarnContext(ctx, "the team ends", "exit_reason", ended.Exit, "agent", ended.Agent, "kind", ended.Kind)
		return t.end(ctx, ended.Exit, why(ended), ended.Sentence(k.Locale))
	}
	return aggregate.Next{}, fmt.Errorf("play round %d: %w", number, err)
}

// keeping opens models whose requests are stored as sent: the leader's, members' and the evaluator's.
func (t *team) keeping() round.Models {
	models := t.Models(t.config.Prices)
	if t.Prompts == nil {
		return models
	}
	return keeping{models, t.Prompts(t.contest.Ref())}
}

type keeping struct {
	round.Models
	keep model.Keep
}

func (k keeping) Open(name string) (model.Wire, error) {
	w, err := k.Models.Open(name)
	if err != nil {
		return nil, err
	}
	return model.Keeping(w, k.keep), nil
}

func (t *team) next(ctx context.Context) (round.Play, error) {
	history, err := t.Store.History(ctx, t.work)
	if err != nil {
		return round.Play{}, fmt.Errorf("read the team's rounds: %w", err)
	}
	k, own := t.contest.Contest, t.work.Team
	play := round.Play{
		Execution: k.ExecutionID, Team: t.own, Evaluator: t.config.Evaluator, Prompt: k.UserPrompt,
		Number: own.Rounds + 1, MaxRounds: own.MaxRounds, History: history, Until: own.DeadlineAt, Locale: k.Locale,
	}
	if k.ForKind == task.Kind.Name { // people approve it on a card
		play.Accept = fits
	}
	return play, nil
}

// fits says why a policy can't be approved: its card can't show all of it, or it mentions too many people.
func fits(policy string) (problems []string) {
	if !card.PromptFits(policy) {
		problems = append(problems,
			"it can't be shown whole to the people who approve it: write less, in fewer lines, and in plain words")
	}
	if n := len(task.Mentioned(policy)); n > task.MaxMentioned {
		problems = append(problems,
			fmt.Sprintf("it mentions %d people as <@…>, the limit is %d: name fewer", n, task.MaxMentioned))
	}
	return problems
}

// may is checked before every call of a model: the contest must be open under this run, and the team must have budget
// left.
func (t *team) may(ctx context.Context) error {
	if err := t.stands(ctx); err != nil {
		return err
	}
	spent, err := t.Store.Spent(ctx, t.work.Ref())
	if err != nil {
		return fmt.Errorf("read what the team has spent: %w", err)
	}
	if spent >= t.work.Team.Budget {
		return round.ErrBudget
	}
	return nil
}

// stands returns round.ErrStopped if the contest is over, or another run's.
func (t *team) stands(ctx context.Context) error {
	over, err := t.Store.Over(ctx, t.contest.Ref(), t.contest.Head.Run)
	if err != nil {
		return fmt.Errorf("read the contest's head: %w", err)
	}
	if over {
		return round.ErrStopped
	}
	return nil
}

// save writes a scored round. If the round can't be written, save ends the team.
func (t *team) save(ctx context.Context, out round.Outcome) (aggregate.Next, error) {
	w, err := t.Store.SaveRound(ctx, t.work.Ref(), store.Played{ScoredRound: out.ScoredRound, Once: true})
	switch {
	case errors.As(err, new(*contest.DatabaseWriteError)):
		return t.end(ctx, contest.PartialFailure, contest.ReasonWrite, "")
	case errors.Is(err, aggregate.ErrMoved): // another invocation was faster
		return aggregate.Next{State: StateRound}, nil
	case err != nil:
		return aggregate.Next{}, fmt.Errorf("save the round: %w", err)
	}
	t.work = w
	if out.Exit != "" {
		return t.end(ctx, out.Exit, "", "")
	}
	return aggregate.Next{State: StateRound}, nil
}

// end stops the team. If the team has scored a round that this invocation doesn't know, another invocation was faster,
// and end does nothing.
func (t *team) end(
	ctx context.Context, exit contest.ExitReason, reason aggregate.Reason, sentence string,
) (aggregate.Next, error) {
	w, err := t.Store.EndAt(ctx, t.work, exit, reason, sentence)
	if errors.Is(err, aggregate.ErrMoved) {
		return aggregate.Next{State: StateRound}, nil
	}
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("end the team: %w", err)
	}
	return finished(string(w.Team.Status)), nil
}

// why returns the reason, for people, that a round ended its team.
func why(e *round.Error) aggregate.Reason {
	switch {
	case e.Agent == round.Leader:
		return contest.ReasonLeader
	case e.Agent == round.Evaluator:
		return contest.ReasonEvaluator
	case errors.Is(e, round.ErrUnread):
		return contest.ReasonWrite
	}
	return contest.ReasonOf(e.Exit)
}

// search lets the team's members search the web while the tenant's settings do.
func (t *team) search() round.Search {
	if t.Search == nil {
		return round.Search{}
	}
	return round.Search{Instead: t.Instead, Allowed: func(ctx context.Context) (bool, error) {
		return t.Search(ctx, t.contest.Head.TenantID)
	}}
}

// reads returns the tools of the team's reading members, or nil if no member reads.
func (t *team) reads(ctx context.Context) (round.Reads, error) {
	reading := func(m teamconfig.Member) bool { return m.AgentType == string(contest.WebSearch) }
	if t.Reads == nil || !slices.ContainsFunc(t.own.Members, reading) {
		return nil, nil
	}
	r, err := t.Reads(ctx, t.contest.Head.TenantID, t.contest.Contest.Locale)
	if err != nil {
		return nil, fmt.Errorf("open the tools of members that read: %w", err)
	}
	return r, nil
}
