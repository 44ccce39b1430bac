package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/legible"
)

// Slack says which workspace the app's token belongs to, and who people are.
type Slack interface {
	people.Grouped
	Team(ctx context.Context) (string, error)
	Self(ctx context.Context) (slackapi.Self, error)
	OpenDM(ctx context.Context, user string) (channel string, err error)
}

const slackWithin = 6 * time.Second

// decision is a decision on a task that a run makes.
type decision = func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error)

// commit makes a run's decision on the loaded task, and returns the task after that commit. doing describes it in
// errors.
func (h *Handler) commit(
	ctx context.Context, a *task.Aggregate, doing string, decide decision,
) (*task.Aggregate, error) {
	run := a.Head.Run
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return decide(a, run, h.Now())
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if e := after.Head.Ended; e != nil {
		slog.InfoContext(ctx, "refused", "task_id", after.Head.TaskID, "tenant", after.Head.TenantID, "reason", e.Reason,
			"limit", e.Detail)
	}
	return after, nil
}

// refuseRequester ends the request of a person who may not ask.
func (h *Handler) refuseRequester(ctx context.Context, a *task.Aggregate, by aggregate.Actor) (*task.Aggregate, error) {
	if c, err := a.RefuseOutsider(a.Head.Run, by, h.Now()); err == nil && c.Empty() {
		return a, nil
	}
	return h.commit(ctx, a, "turn the requester away",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.RefuseOutsider(run, by, now)
		})
}

// undecidable returns the rule by which nobody could approve the request under the settings s. It is
// "" if somebody could, or if the settings require no approval of policy and steps: execute-process checks a step's
// gate itself. It returns errSilent when Slack can't be asked.
func (h *Handler) undecidable(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (aggregate.Rule, error) {
	if !a.WillAsk(s) {
		return "", nil
	}
	asking, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	err := h.people.Somebody(asking, h.Slack, a.Request.Origin(), s, h.Now(), a.Head.Requester)
	nobody, undecidable := errors.AsType[aggregate.ErrNotAllowed](err)
	if err != nil && !undecidable {
		return "", fmt.Errorf("who may approve: %w: %w", errSilent, err)
	}
	return nobody.Rule, nil
}

// refuseUndecidable ends a request that nobody could approve under the settings s.
func (h *Handler) refuseUndecidable(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (
	*task.Aggregate, error) {
	rule, err := h.undecidable(ctx, a, s)
	if err != nil || rule == "" {
		return a, err
	}
	return h.commit(ctx, a, "turn away what nobody could approve",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.Refuse(run, task.ReasonUndecidable(rule), now)
		})
}

// accept lets the request become a task within the limits of the settings s, or refuses it if one is reached.
func (h *Handler) accept(ctx context.Context, a *task.Aggregate, by aggregate.Actor, s tenancy.Settings) (
	*task.Aggregate, error) {
	after, err := h.commit(ctx, a, "accept the request",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.Accept(run, by, s, now)
		})
	if full, is := errors.AsType[aggregate.ErrFull](err); is {
		return h.commit(ctx, a, "accept the request",
			func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
				return a.RefuseFull(run, full, now)
			})
	}
	return after, err
}

// requester identifies the person who asks. If Slack can't be asked it returns errSilent, and the request waits.
func (h *Handler) requester(ctx context.Context, a *task.Aggregate) (aggregate.Actor, error) {
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	by, err := h.people.Requester(ctx, h.Slack, a.Request.TeamID, a.Request.User, h.Now())
	if err != nil {
		return by, fmt.Errorf("who requests: %w: %w", errSilent, err)
	}
	return by, nil
}

// ensureTenant creates the tenant's row at the first request from the deployment's workspace. It refuses a request from
// any other workspace; then only the request's own rows remain.
func (h *Handler) ensureTenant(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	within, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	t, err := h.Store.Tenant(ctx, a.Head.TenantID)
	if err == nil {
		h.noteBot(within, t)
		return a, nil
	}
	if !errors.Is(err, aggregate.ErrNotFound) {
		return nil, fmt.Errorf("look for the tenant: %w", err)
	}
	own, err := slackapi.HomeWorkspace{Slack: h.Slack}.Own(within, a.Head.TenantID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSilent, err)
	}
	if !own {
		return h.refuseWorkspace(ctx, a)
	}
	team := a.Request.TeamID
	t = tenancy.Tenant{ID: a.Head.TenantID, Name: team, TeamID: team, Admins: []string{}}
	if self, err := h.Slack.Self(within); err == nil {
		t.BotUserID, t.BotID, t.Name = self.User, self.Bot, cmp.Or(legible.First(self.Name, tenancy.MaxTenantName), team)
	}
	if admin := h.admin(ctx); admin != "" {
		t.Admins = append(t.Admins, admin)
	}
	if t, err = h.Store.Bootstrap(ctx, t, h.Now()); err != nil {
		return nil, fmt.Errorf("make the tenant: %w", err)
	}
	h.noteBot(within, t)
	return a, nil
}

// admin returns a new tenant's first administrator, or "". The Slack secret names them, as it does for the console;
// without it the template's parameter does.
func (h *Handler) admin(ctx context.Context) string {
	named, err := h.Secret.TenantAdmin(ctx)
	if err != nil {
		if !errors.Is(err, secret.ErrMissing) {
			slog.WarnContext(ctx, "the first administrator is the parameter's", "err", err)
		}
		return h.Admin
	}
	if err := (tenancy.Tenant{Name: named, Admins: []string{named}}).Validate(); err != nil {
		slog.ErrorContext(ctx, "tenant_admin of the Slack secret is no Slack user id", "err", err)
		return h.Admin
	}
	return named
}

func (h *Handler) refuseWorkspace(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	after, err := h.commit(ctx, a, "refuse an unknown workspace",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.Refuse(run, task.ReasonWorkspace, now)
		})
	if err != nil {
		return nil, err
	}
	slog.WarnContext(ctx, "a request of a workspace that is none of ours", "task_id", a.Head.TaskID,
		"team", a.Request.TeamID)
	return after, nil
}

// noteBot saves the bot's ids. If it fails, a later request tries again.
func (h *Handler) noteBot(ctx context.Context, t tenancy.Tenant) {
	self, err := h.Slack.Self(ctx)
	if err == nil {
		err = h.Store.NoteBot(ctx, t, self.User, self.Bot, h.Now())
	}
	if err != nil {
		slog.WarnContext(ctx, "whose workspace it is is not noted", "tenant", t.ID, "err", err)
	}
}
