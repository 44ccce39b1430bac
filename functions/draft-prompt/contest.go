package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/teamconfig"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// contest leaves the first draft to a contest if the settings want one; what is drafted after a rejection, the
// settings' model drafts. When the contest has a best submission, it opens the
// version's gate with it. done is false if the settings' model must draft instead: no contest is wanted, or no team has
// a submission that people could approve. after is the task as it is then.
func (h *Handler) contest(ctx context.Context, in pipeline.Input, a *task.Aggregate) (
	after *task.Aggregate, next aggregate.Next, done bool, err error) {
	if next := a.Next(h.Now()); next.State != task.StateDraftPrompt {
		return a, next, true, nil
	}
	s, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return a, next, false, fmt.Errorf("read the settings: %w", err)
	}
	switch p := a.Prompt(); {
	case p.Contest.Over():
		next, done, err = h.submitted(ctx, in, a, s)
		return a, next, done, err
	case !s.DraftContest.Enabled, p.Version > 1:
		return a, next, false, nil
	}
	budget, err := h.budget(ctx, a, s)
	if err != nil || budget == 0 {
		return a, next, false, err
	}
	order, err := h.order(ctx, a, s, budget)
	if wrong, is := errors.AsType[notForTeams](err); is {
		a, err = h.skip(ctx, in, s, wrong)
		return a, next, false, err
	}
	if err != nil {
		return a, next, false, err
	}
	text, err := json.Marshal(order)
	if err != nil {
		return a, next, false, fmt.Errorf("write the order of a contest: %w", err)
	}
	asked := task.Contest{ExecutionID: order.Execution, File: s.DraftContest.File, Order: aggregate.JSON(text),
		Budget: budget, MostOfDay: s.MaxCostDay(),
		Until: h.Now().Add(time.Duration(order.TimeoutSeconds) * time.Second).UTC()}
	a, err = h.Store.Decide(ctx, in.Ref(), in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.AskContest(in.Run, asked, h.Now())
	}))
	if errors.As(err, new(aggregate.ErrFull)) { // the day's budget has been used up meanwhile
		a, err = h.skip(ctx, in, s, notForTeams{why: task.ContestNoBudget})
		return a, next, false, err
	}
	if err != nil {
		return a, next, false, fmt.Errorf("ask for a contest: %w", err)
	}
	return a, a.Next(h.Now()), true, nil
}

// skip records why the version is not left to a contest. For a mistake in the contest's files an alarm rings.
func (h *Handler) skip(ctx context.Context, in pipeline.Input, s tenancy.Settings, wrong notForTeams) (
	*task.Aggregate, error) {
	skipped := false // the first time that the step is here
	a, err := h.Store.Decide(ctx, in.Ref(), in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
		c, err := a.SkipContest(in.Run, s.DraftContest.File, wrong.why, wrong.detail, h.Now())
		skipped = !c.Empty()
		return c, err
	}))
	if err == nil && skipped && wrong.why == task.ContestFiles {
		slog.ErrorContext(ctx, "the files of a contest can't be used", "tenant", in.Tenant, "task_id", in.Task, "err", wrong)
	}
	return a, err
}

// budget returns the most that a contest may cost: the settings' budget, but no more than the day and the month have
// left, and half of what the task has left, since the task still has to be planned and executed. 0 means that nothing
// is left.
func (h *Handler) budget(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (aggregate.MicroUSD, error) {
	left, err := pipeline.WithinBudgets(ctx, h.Store, a.Head.TenantID, s, h.Now())
	switch over := (task.StopError{}); {
	case errors.As(err, &over):
		return 0, nil
	case err != nil:
		return 0, err
	}
	most := s.DraftContest.Budget()
	if left > 0 {
		most = min(most, left)
	}
	if limit := s.MaxCost(); limit > 0 {
		most = min(most, max(0, limit-a.Spent())/2)
	}
	return most, nil
}

// notForTeams says why teams can't draft: task.ContestTooLong, task.ContestNoBudget, or task.ContestFiles with what is
// wrong with the contest's files.
type notForTeams struct{ why, detail string }

func (e notForTeams) Error() string { return fmt.Sprintf("not for teams: %s %s", e.why, e.detail) }

// order returns the order for the version's contest, or a notForTeams.
func (h *Handler) order(ctx context.Context, a *task.Aggregate, s tenancy.Settings, budget aggregate.MicroUSD) (
	o contest.Order, err error) {
	s.Locale = a.Language(s.Locale)
	config, err := h.config(ctx, s)
	switch {
	case errors.Is(err, explain.ErrUnavailable):
		return o, fmt.Errorf("read the files of a contest: %w", err)
	case err != nil:
		return o, notForTeams{task.ContestFiles, err.Error()}
	}
	bounds, err := h.bounds(ctx, a.Head.TenantID)
	if err != nil {
		return o, err
	}
	ref := a.Ref()
	o = contest.Order{
		Execution: contest.IDFor(ref, a.Prompt().Key()), Tenant: ref.Tenant, Title: a.Task.Title,
		Locale:    s.Locale,
		MaxRounds: config.MaxRounds, TeamTimeoutSeconds: config.TeamTimeoutSeconds,
		TimeoutSeconds: s.DraftContest.Seconds,
		Budget:         budget, For: ref, ForRow: a.Prompt().Key(),
	}
	for _, t := range config.Teams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: t.TeamID, TeamName: t.TeamName})
	}
	input, err := h.input(ctx, s, a, bounds)
	if err != nil {
		return o, err
	}
	if o.Prompt, err = model.Contested(input); err != nil {
		return o, err
	}
	switch {
	case len(o.Prompt) > contest.MaxPrompt:
		return o, notForTeams{why: task.ContestTooLong}
	case budget < aggregate.MicroUSD(len(o.Teams)):
		return o, notForTeams{why: task.ContestNoBudget}
	}
	if _, err := contest.Begin(o, h.Now()); err != nil {
		return o, notForTeams{task.ContestFiles, err.Error()}
	}
	text, err := json.Marshal(config)
	if err == nil {
		o.Config, err = h.Contests.Values.KeepContest(ctx, contest.Ref(ref.Tenant, o.Execution), text, store.MaxInline)
	}
	if err != nil {
		err = fmt.Errorf("keep the teams of a contest: %w", err)
	}
	return o, err
}

// mostWrong is how many mistakes of a contest's files are named.
const mostWrong = 5

// config reads the files of a contest, with the limit and the prices of the settings, and asks whether its models can
// be called. It returns explain.ErrUnavailable for a failure to read that may pass.
func (h *Handler) config(ctx context.Context, s tenancy.Settings) (teamconfig.Contest, error) {
	w, err := h.Workspace()
	if err != nil {
		return teamconfig.Contest{}, err
	}
	c, wrong, err := h.Models.Open(ctx, w, s, mostWrong, s.Locale)
	if err == nil && len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "\n"))
	}
	return c, err
}

// submitted opens the gate with the best submission that its card can show.
func (h *Handler) submitted(ctx context.Context, in pipeline.Input, a *task.Aggregate,
	s tenancy.Settings) (next aggregate.Next, done bool, err error) {
	x := a.Prompt().Contest
	if len(x.Entries) == 0 {
		return next, false, nil
	}
	summary, err := h.Contests.Summary(ctx, in.Tenant, x.ExecutionID)
	if err != nil {
		return next, false, fmt.Errorf("read what a contest came to: %w", err)
	}
	for _, e := range x.Entries {
		for _, r := range summary.TeamResults {
			content := r.SubmissionContent
			if r.TeamID != e.TeamID || aggregate.HashOf(content) != e.Hash || !card.Stampable(content) {
				continue
			}
			next, err := pipeline.CommitGate(ctx, h.Store, in, a, aggregate.Usage{}, s, h.Now(),
				func(a *task.Aggregate, s tenancy.Settings) (aggregate.Change, error) {
					return a.FinishContest(in.Run, e.TeamID, content, s, h.Now())
				})
			return next, true, err
		}
	}
	return next, false, nil
}
