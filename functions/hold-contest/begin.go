package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const checkAtOnce = 8

// mostWrong bounds how many mistakes, and how many warnings, of one file are named, since the answer's size is limited
// and one file must not crowd out the others.
const mostWrong = 20

// Budgets reads the limits of a tenant's costs and what has been spent.
type Budgets interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	pipeline.SpentReader
}

// Answer begins the requested contest, unless it was begun before, or describes the contest of a file. Without a
// requested contest or file, Answer lists the contests that the files describe.
func (h *Handler) Answer(ctx context.Context, in store.ContestQuery) (store.ContestResult, error) {
	tenant := in.Tenant
	if in.Begin != nil {
		tenant = in.Begin.Tenant
	}
	w, err := h.Workspace()
	if errors.Is(err, teamconfig.ErrNotSet) {
		return store.ContestResult{NotSet: true}, nil
	}
	if err != nil {
		return store.ContestResult{}, fmt.Errorf("open the files of contests: %w", err)
	}
	if in.Begin != nil {
		return h.begin(ctx, w, *in.Begin, in.Locale)
	}
	s, err := h.read(ctx, tenant, in.Locale)
	if err != nil {
		return store.ContestResult{}, err
	}
	if in.Check != "" {
		if in.Prices != nil {
			s.Prices = in.Prices
		}
		d, _, err := h.described(ctx, w, in.Check, s, in.MaxRounds)
		return store.ContestResult{Contests: []store.Described{d}}, err
	}
	files, more, err := w.Contests()
	if err != nil {
		return store.ContestResult{}, fmt.Errorf("list the files of contests: %w", err)
	}
	out := store.ContestResult{More: more, Contests: make([]store.Described, len(files))}
	failed := make([]error, len(files))
	var wg sync.WaitGroup
	places := make(chan struct{}, checkAtOnce)
	for i, file := range files {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			out.Contests[i], _, failed[i] = h.described(ctx, w, file, s, 0)
		})
	}
	wg.Wait()
	return out, errors.Join(failed...)
}

// workspace is what a workspace's administrators decided.
type workspace struct {
	tenancy.Settings
	tools  []tenancy.ToolPermission
	reader string // the language of whoever reads what is wrong
}

func (h *Handler) read(ctx context.Context, tenant, reader string) (x workspace, err error) {
	x.reader = cmp.Or(reader, language.English)
	if x.Settings, err = h.Budgets.Settings(ctx, tenant); err != nil {
		return x, fmt.Errorf("read the settings: %w", err)
	}
	if x.tools, err = h.Budgets.ToolPermissions(ctx, tenant); err != nil {
		return x, fmt.Errorf("read which tools contests may call: %w", err)
	}
	return x, nil
}

// described reads the file of a contest and opens its models; most bounds its rounds unless it is 0. It returns
// explain.ErrUnavailable when the file or the model secret can't be read now.
func (h *Handler) described(ctx context.Context, w teamconfig.Workspace, file string, s workspace,
	most int) (store.Described, teamconfig.Contest, error) {
	c, found := w.Contest(file, s.reader)
	if most > 0 {
		c = c.Within(most)
	}
	c.Prices = s.Prices
	unopened, err := h.Models.Check(ctx, c, s.reader)
	if err != nil {
		return store.Described{}, c, err
	}
	d := store.Described{File: file, MaxRounds: c.MaxRounds, TeamSeconds: c.TeamTimeoutSeconds,
		Warnings: teamconfig.First(h.Models.Readers(c, s.Settings, s.tools, s.reader), mostWrong, s.reader)}
	d.Wrong, err = teamconfig.Texts(append(found, unopened...), mostWrong, s.reader)
	if err != nil || len(d.Wrong) > 0 {
		return d, c, err // mistakes include names that are too long
	}
	for _, t := range c.Teams {
		d.Teams = append(d.Teams, contest.Entry{TeamID: t.TeamID, TeamName: t.TeamName})
	}
	return d, c, nil
}

// begin begins the contest that a file describes. For an invalid file it returns the mistakes.
func (h *Handler) begin(
	ctx context.Context, w teamconfig.Workspace, x store.Alone, reader string,
) (store.ContestResult, error) {
	s, err := h.read(ctx, x.Tenant, reader)
	if err != nil {
		return store.ContestResult{}, err
	}
	d, config, err := h.described(ctx, w, x.File, s, x.MaxRounds)
	if err != nil || len(d.Wrong) > 0 {
		return store.ContestResult{Contests: []store.Described{d}}, err
	}
	o := contest.Order{
		Execution: x.Execution, Tenant: x.Tenant, Prompt: x.Prompt, Locale: x.Locale, Teams: d.Teams, Budget: x.Budget,
		By:        x.By,
		MaxRounds: config.MaxRounds, TeamTimeoutSeconds: config.TeamTimeoutSeconds,
		TimeoutSeconds: x.Seconds,
	}
	if _, err := contest.Begin(o, h.Now()); err != nil {
		return store.ContestResult{}, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return store.ContestResult{}, fmt.Errorf("write the teams of a contest: %w", err)
	}
	if o.Config, err = h.Contests.KeepConfig(ctx, x.Tenant, x.Execution, text); err != nil {
		return store.ContestResult{}, fmt.Errorf("keep the teams of a contest: %w", err)
	}
	o.MostOfDay = s.MaxCostDay()
	switch err := h.Contests.Begin(ctx, o); {
	case errors.As(err, new(aggregate.ErrFull)):
		return store.ContestResult{OverBudget: true}, nil
	case err != nil && !errors.Is(err, aggregate.ErrExists):
		return store.ContestResult{}, fmt.Errorf("begin a contest: %w", err)
	}
	return store.ContestResult{Begun: true}, nil
}
