// Command hold-contest checks the files that describe contests, and ends contests: it stops the teams that still play,
// and summarizes their results.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Results
	Model         string `env:"MODEL,optional" doc:"the model, in place of that of a workspace's settings"`
	ModelSecretID string `env:"MODEL_SECRET_ID" doc:"the secret with the keys of models"`
	Workspace     string `env:"MIXSEEK_WORKSPACE,optional" doc:"files of contests: s3://bucket/prefix or a folder"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenAll(cfg, env.Table)
	return &Handler{
		Contests:  store.ContestsOf(rows, large.Open(cfg, env.Results)),
		Settings:  rows,
		Workspace: teamconfig.For(cfg, env.Workspace),
		Models: teamconfig.Models{Instead: env.Model,
			Keys: &secret.Models{Reader: secret.ReaderAt(cfg), ID: env.ModelSecretID}},
		Now: time.Now,
	}, nil
}

// Handler reads the files of contests. No other function that the console calls may read them.
type Handler struct {
	Contests  *store.ContestStore
	Settings  Settings
	Workspace func() (teamconfig.Workspace, error)
	Models    teamconfig.Models
	Now       func() time.Time
}

// Handle closes the contest whose run CloseContest names, or answers the console, which names none.
func (h *Handler) Handle(ctx context.Context, in json.RawMessage) (any, error) {
	var run pipeline.Input
	if err := json.Unmarshal(in, &run); err != nil {
		return nil, fmt.Errorf("read which contest is closed: %w", err)
	}
	if run.Kind != "" {
		return pipeline.Edge(h.Close)(ctx, run)
	}
	var q store.ContestQuery
	if err := json.Unmarshal(in, &q); err != nil {
		return nil, fmt.Errorf("read what the console asks: %w", err)
	}
	return h.Check(ctx, q)
}

// Close ends the contest as its rows say, whichever of its teams' branches failed. The relay then informs the
// requester.
func (h *Handler) Close(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Contests.Settle(ctx, in.Ref(), in.Run)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("settle the contest: %w", err)
	}
	if a.Summary == nil {
		return aggregate.Next{State: aggregate.StateFinish, Outcome: "settled"}, nil
	}
	slog.InfoContext(ctx, "settled", "execution_id", a.Head.ExecutionID, "status", a.Summary.Status,
		"failed_teams", len(a.Summary.FailedTeams), "cost_usd", a.Contest.Usage.Cost.String(),
		"calls", a.Contest.Usage.Calls)
	return aggregate.Next{State: aggregate.StateFinish, Outcome: string(a.Summary.Status)}, nil
}

// mostWrong bounds how many mistakes of a file are named, since the answer's size is limited.
const mostWrong = 20

// Settings reads what a tenant's administrators decided.
type Settings interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
}

// Check says what is wrong with the file of a contest and with its models. It returns explain.ErrUnavailable when the
// file or the model secret can't be read now.
func (h *Handler) Check(ctx context.Context, in store.ContestQuery) (store.ContestResult, error) {
	w, err := h.Workspace()
	if errors.Is(err, teamconfig.ErrNotSet) {
		return store.ContestResult{NotSet: true}, nil
	}
	if err != nil {
		return store.ContestResult{}, fmt.Errorf("open the files of contests: %w", err)
	}
	s := tenancy.Settings{Prices: in.Prices}
	if s.Prices == nil {
		if s, err = h.Settings.Settings(ctx, in.Tenant); err != nil {
			return store.ContestResult{}, fmt.Errorf("read the settings: %w", err)
		}
	}
	s.DraftContest.File, s.DraftContest.MaxRounds = in.File, in.MaxRounds
	_, wrong, err := h.Models.Open(ctx, w, s, mostWrong, cmp.Or(in.Locale, language.English))
	return store.ContestResult{Wrong: wrong}, err
}
