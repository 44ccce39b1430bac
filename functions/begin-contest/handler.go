package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/model/contestfiles"
	"ringi/shared/model/teamconfig"
	"ringi/shared/store/contests"
)

const checkAtOnce = 8

// mostWrong bounds how many mistakes of one file are named, since the answer's size is limited and one file must not
// crowd out the others.
const mostWrong = 20

type Contests interface {
	KeepConfig(ctx context.Context, tenant, execution string, config json.RawMessage) (aggregate.Blob, error)
	Begin(ctx context.Context, o contest.Order) error
}

// Budgets reads the limits of a tenant's costs and what has been spent.
type Budgets interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	pipeline.SpentReader
}

// Handler reads the files of contests. No other function that the console calls may read them.
type Handler struct {
	Contests  Contests
	Budgets   Budgets
	Workspace contestfiles.Opener
	Model     string // replaces every model of the files unless empty
	Now       func() time.Time
}

// Handle begins the requested contest, unless it was begun before, or describes the contest of a file. Without a
// requested contest or file, Handle lists the contests that the files describe.
func (h *Handler) Handle(ctx context.Context, in contests.Asked) (contests.Answered, error) {
	tenant := in.Tenant
	if in.Begin != nil {
		tenant = in.Begin.Tenant
	}
	w, err := h.Workspace(ctx, tenant)
	if errors.Is(err, teamconfig.ErrNotSet) {
		return contests.Answered{NotSet: true}, nil
	}
	if err != nil {
		return contests.Answered{}, fmt.Errorf("open the files of contests: %w", err)
	}
	if in.Begin != nil {
		return h.begin(ctx, w, *in.Begin)
	}
	if in.Check != "" {
		d, _, err := h.described(w, in.Check)
		return contests.Answered{Contests: []contests.Described{d}}, err
	}
	files, more, err := w.Contests()
	if err != nil {
		return contests.Answered{}, fmt.Errorf("list the files of contests: %w", err)
	}
	out := contests.Answered{More: more, Contests: make([]contests.Described, len(files))}
	failed := make([]error, len(files))
	var wg sync.WaitGroup
	places := make(chan struct{}, checkAtOnce)
	for i, file := range files {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			out.Contests[i], _, failed[i] = h.described(w, file)
		})
	}
	wg.Wait()
	return out, errors.Join(failed...)
}

// described reads the file of a contest. It returns errorclass.ErrUnavailable when the file can't be read now.
func (h *Handler) described(w teamconfig.Workspace, file string) (contests.Described, teamconfig.Contest, error) {
	c, found := w.Contest(file)
	d := contests.Described{File: file, MinRounds: c.MinRounds, MaxRounds: c.MaxRounds, TeamSeconds: c.TeamTimeoutSeconds}
	for _, f := range found {
		switch {
		case errors.Is(f.Err, errorclass.ErrUnavailable):
			return d, c, fmt.Errorf("read %.200s: %w", f.File, f.Err)
		case !f.Warning:
			d.Wrong = append(d.Wrong, f.String())
		}
	}
	if n := len(d.Wrong) - mostWrong; n > 0 {
		d.Wrong = append(d.Wrong[:mostWrong], fmt.Sprintf("and %d more", n))
	}
	if len(d.Wrong) > 0 {
		return d, c, nil // mistakes include names that are too long
	}
	for _, t := range c.Teams {
		d.Teams = append(d.Teams, contest.Entry{TeamID: t.TeamID, TeamName: t.TeamName})
	}
	return d, c, nil
}

// begin begins the contest that a file describes. For an invalid file it returns the mistakes.
func (h *Handler) begin(ctx context.Context, w teamconfig.Workspace, x contests.Alone) (contests.Answered, error) {
	d, config, err := h.described(w, x.File)
	if err != nil || len(d.Wrong) > 0 {
		return contests.Answered{Contests: []contests.Described{d}}, err
	}
	config.MaxRounds = min(config.MaxRounds, x.MaxRounds)
	config.MinRounds = min(config.MinRounds, config.MaxRounds)
	o := contest.Order{
		Execution: x.Execution, Tenant: x.Tenant, Prompt: x.Prompt, Locale: x.Locale, Teams: d.Teams, Budget: x.Budget,
		By:        x.By,
		MaxRounds: config.MaxRounds, MinRounds: config.MinRounds, TeamTimeoutSeconds: config.TeamTimeoutSeconds,
		TimeoutSeconds: x.Seconds,
	}
	if _, err := contest.Begin(o, h.Now()); err != nil {
		return contests.Answered{}, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return contests.Answered{}, fmt.Errorf("write the teams of a contest: %w", err)
	}
	if o.Config, err = h.Contests.KeepConfig(ctx, x.Tenant, x.Execution, text); err != nil {
		return contests.Answered{}, fmt.Errorf("keep the teams of a contest: %w", err)
	}
	if o.MostOfDay, err = h.mostOfDay(ctx, x.Tenant); err != nil {
		return contests.Answered{}, err
	}
	switch err := h.Contests.Begin(ctx, o); {
	case errors.As(err, new(aggregate.ErrFull)):
		return contests.Answered{OverBudget: true}, nil
	case err != nil && !errors.Is(err, aggregate.ErrExists):
		return contests.Answered{}, fmt.Errorf("begin a contest: %w", err)
	}
	return contests.Answered{Begun: true}, nil
}

// mostOfDay returns how much the tenant may still spend today.
func (h *Handler) mostOfDay(ctx context.Context, tenant string) (aggregate.MicroUSD, error) {
	s, err := h.Budgets.Settings(ctx, tenant)
	if err != nil {
		return 0, fmt.Errorf("read the settings: %w", err)
	}
	return pipeline.MostOfDay(ctx, h.Budgets, tenant, s, h.Now())
}
