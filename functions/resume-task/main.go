// Command resume-task begins a run of the pipeline and continues it after each wait: it reads the rows and returns the
// next state.
//
// It alone asks Slack about people on the way of a run, so whatever needs that is decided here, before L1 is paid:
// whose workspace it is, who asks, whether somebody may approve it, and whether there is a place in the quota. In this
// order: what is refused takes no place.
//
// receive-event reads as little as it can, to answer within Slack's three seconds; what it put may turn out to be
// refused. A request of a workspace that Ringi doesn't serve gets no tenant, no card and no call.
//
// While Slack doesn't say what must be known, the request waits and goes on by itself, however long: nothing is parked
// for it, and the time counts neither as tries nor in another hour's quota.
//
// What nobody could approve is not begun. Settings may change afterwards, so the same is asked before each version, and
// the task is parked with what an administrator can do. While a gate waits people are looked up again, once somebody
// has left and each day: a task ends that nobody may go on with; a rule's stage waits for who stands in for the others.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, keys := store.OpenTasks(cfg, env.Table), secret.OpenSlack(cfg, env.Slack)
	return &Handler{
		Store:  rows,
		Slack:  vault.OpenBot(cfg, keys, env.Credentials, rows, slackWithin),
		Now:    time.Now,
		Secret: keys,
	}, nil
}

// Naming reads the Slack secret, which may name the deployment's first administrator.
type Naming interface {
	TenantAdmin(ctx context.Context) (string, error)
}

type Handler struct {
	Store  *store.TaskStore
	Slack  Slack
	Now    func() time.Time
	Secret Naming

	people people.Requesters
}

// Handle returns the run's next state, which follows from the rows. Before the first layer it accepts or refuses the
// request; no model has been called by then. Once steps are known for which the tenant's rules have a route, it looks
// up whom that asks, and opens their gate. While Slack can't be asked, the run waits.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	ctx = slackapi.For(ctx, in.Ref().Tenant)
	a, err := pipeline.Load(ctx, h.Store, in)
	if err != nil {
		return aggregate.Next{}, err
	}
	if a.Request == nil {
		return aggregate.Next{}, fmt.Errorf("the request is not there yet: %w", aggregate.ErrConflict) // a torn read
	}
	if until := a.Head.PausedUntil; until == nil || !h.Now().Before(*until) {
		if a, err = h.goOn(ctx, a); err != nil {
			return aggregate.Next{}, err
		}
	}
	return a.Next(h.Now()), nil
}

// goOn takes a request on, opens the gate that waits for its route, or looks people up again. The run waits while Slack
// must be asked for that and doesn't answer.
func (h *Handler) goOn(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	ref, run, row, decide := a.Ref(), a.Head.Run, a.Unopened(), h.open
	if row == nil {
		row, decide = a.LooksAgain(), h.look
	}
	switch {
	case a.Waiting():
		after, err := h.take(ctx, a)
		if errors.Is(err, errSilent) {
			return h.wait(ctx, ref, err, func(a *task.Aggregate, until, now time.Time) (aggregate.Change, error) {
				return a.WaitUntil(run, task.Generation{Layer: task.L1}, until, now)
			})
		}
		return after, err
	case row != nil && a.Head.Parked == nil:
		after, err := decide(ctx, a, row)
		if errors.Is(err, errSilent) {
			return h.wait(ctx, ref, err, func(a *task.Aggregate, until, now time.Time) (aggregate.Change, error) {
				return a.PutOff(run, row.Key(), until, now)
			})
		}
		return after, err
	}
	return a, nil
}

// look looks people up again for a gate that waits for them, and trusts no answer from before.
func (h *Handler) look(ctx context.Context, a *task.Aggregate, row task.Gated) (*task.Aggregate, error) {
	g := a.GateAt(row.Key()).Circulating()
	st := circulation.Walk(g)
	return pipeline.Under(ctx, h.Store, a.Head.TenantID, func(s tenancy.Settings) (*task.Aggregate, error) {
		asking, cancel := context.WithTimeout(ctx, slackWithin)
		defer cancel()
		in := decide.Places{Slack: h.Slack, Known: &people.Requesters{}, Team: a.Request.TeamID, Now: h.Now()}
		left, no := []string(nil), (*aggregate.Refusal)(nil)
		err := in.Resolve(asking, func(d *decide.Directory) error {
			left, no = nil, nil
			for _, p := range st.Owes() {
				if !d.Full(p.User) {
					left = append(left, p.User)
				}
			}
			switch stage := st.CurrentStage(); {
			case !d.Full(a.Head.Requester):
				no = &aggregate.Refusal{Why: task.ReasonAskerLeft, Detail: a.Head.Requester}
			case stage == nil: // a route of a later release
			case stage.Mode == circulation.ModeSettings:
				return in.Known.Somebody(asking, h.Slack, a.Request.Origin(), s, h.Now(), a.Askers()...)
			case stage.Mode == circulation.ModeChannel && d.Empty(a.Request.Channel, g.Askers):
				return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}
			}
			return nil
		})
		if _, nobody := errors.AsType[aggregate.ErrNotAllowed](err); nobody {
			no, err = &aggregate.Refusal{Why: task.ReasonNobodyLeft}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("who is still there: %w: %w", errSilent, err)
		}
		return h.commit(ctx, a, "look people up again",
			func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
				return a.Looked(run, row, left, no, s, now)
			})
	})
}

// take decides about a request by these questions in order: does Ringi serve the workspace, may the person ask, could
// somebody approve it, may the tenant's rules let it pass, and do the limits on tasks allow it?
func (h *Handler) take(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	a, err := h.ensureTenant(ctx, a)
	if err != nil || !a.Waiting() {
		return a, err
	}
	by, err := h.requester(ctx, a)
	if err != nil {
		return nil, err
	}
	s, err := h.Store.Settings(ctx, a.Head.TenantID)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	if a, err = h.refuseRequester(ctx, a, by); err != nil || !a.Waiting() {
		return a, err
	}
	if a, err = h.refuseUndecidable(ctx, a, s); err != nil || !a.Waiting() {
		return a, err
	}
	return h.accept(ctx, a, by, s)
}

// errSilent means that Slack could not be asked something that must be known before a request is accepted, or a gate
// opens along a route.
var errSilent = errors.New("slack doesn't say")

// wait commits when to ask Slack again, as pipeline.RetryDelay or Slack says. It never gives up: the task continues
// once Slack answers.
func (h *Handler) wait(ctx context.Context, of aggregate.Ref, why error,
	put func(a *task.Aggregate, until, now time.Time) (aggregate.Change, error)) (*task.Aggregate, error) {
	slog.WarnContext(ctx, "waits for Slack", "task_id", of.ID, "err", why)
	var limited slackapi.RateLimited
	errors.As(why, &limited)
	after, err := h.Store.Decide(ctx, of, func(a *task.Aggregate) (aggregate.Change, error) {
		now := h.Now()
		rest := pipeline.RetryDelay(limited.RetryAfter, now.Sub(a.TryingSince()), pipeline.MinRetryDelay)
		return put(a, now.Add(rest), now)
	})
	if err != nil {
		return nil, fmt.Errorf("put the task off: %w", err)
	}
	return after, nil
}

// open looks up whom the rules ask about what a gate asks, and opens it along their route. If the rules refuse it, or
// nobody is found, the task ends. If there are no rules any more, the gate opens as the settings say, and that of a
// step under the rule of the steps. It returns errSilent if Slack can't be asked.
func (h *Handler) open(ctx context.Context, a *task.Aggregate, row task.Gated) (*task.Aggregate, error) {
	return pipeline.Under(ctx, h.Store, a.Head.TenantID, func(s tenancy.Settings) (*task.Aggregate, error) {
		about, on, err := h.about(ctx, a, row, s)
		if err != nil {
			return nil, err
		}
		find := decide.Finder{Store: h.Store, Slack: h.Slack, Known: &h.people, Within: slackWithin}
		found, more, err := find.Find(ctx, a.Head.TenantID, a.Request.TeamID, s, h.Now(), about)
		if p, is := row.(*task.Process); is && err == nil && found.Refused == nil {
			found.Refused, err = h.outsider(ctx, a.Request.TeamID, task.Recipients(p.Steps, a.Head.Requester))
		}
		if errors.Is(err, explain.ErrUnverified) {
			err = fmt.Errorf("who is asked: %w: %w", errSilent, err)
		}
		if err != nil {
			return nil, err
		}
		on = append(on, more...)
		return h.commit(ctx, a, "open a gate", func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			if found.Refused != nil {
				return a.RefuseByRule(run, *found.Refused, s, now, on...)
			}
			return a.Open(run, row.Key(), found.Opening, s, now, on...)
		})
	})
}

// outsider refuses steps that send a message to somebody who isn't of the workspace. It returns explain.ErrUnverified
// if Slack can't be asked.
func (h *Handler) outsider(ctx context.Context, team string, recipients []string) (*aggregate.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	for _, to := range recipients {
		is, err := people.Standing{ID: to}, error(nil)
		if strings.Contains(to, "@") {
			is, err = h.people.ByMail(ctx, h.Slack, team, strings.ToLower(to), h.Now())
		}
		by, silent := h.people.Requester(ctx, h.Slack, team, is.ID, h.Now())
		if err = cmp.Or(err, silent); err != nil {
			return nil, fmt.Errorf("%w: who gets a message: %w", explain.ErrUnverified, err)
		}
		if by.Team != team {
			return &aggregate.Refusal{Why: task.ReasonNoRecipient, Detail: to}, nil
		}
	}
	return nil, nil
}

// about is what the rules are asked about for a gate, with the rows of the tools on which that depends.
func (h *Handler) about(ctx context.Context, a *task.Aggregate, row task.Gated, s tenancy.Settings) (*decide.About,
	[]aggregate.Owned, error) {
	if step, is := row.(*task.StepGate); is { // its calls are known, also from arguments that aren't in rows
		calls := step.Calls
		if len(calls) == 0 {
			calls = []rules.Call{{}} // it may do anything
		}
		return decide.AboutSteps(a, calls, a.Settled(a.Execution()), s), nil, nil
	}
	permissions, err := h.Store.ToolPermissions(ctx, a.Head.TenantID)
	if err != nil {
		return nil, nil, fmt.Errorf("read the tool permissions: %w", err)
	}
	calls, on := decide.CallsOf(a.Head.TenantID, a.Process().Steps, permissions)
	return decide.AboutSteps(a, calls, nil, s), on, nil
}

// Slack says which workspace the app's token belongs to, and who people are.
type Slack interface {
	people.Grouped
	Team(ctx context.Context) (string, error)
	Self(ctx context.Context) (slackapi.Self, error)
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

// refuseUndecidable ends a request that nobody could approve under the settings s. If these require no approval of
// policy and steps it doesn't: execute-process checks a step's gate itself. It returns errSilent when Slack can't be
// asked.
func (h *Handler) refuseUndecidable(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (
	*task.Aggregate, error) {
	if !a.WillAsk(s) {
		return a, nil
	}
	asking, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	err := h.people.Somebody(asking, h.Slack, a.Request.Origin(), s, h.Now(), a.Head.Requester)
	if err == nil {
		return a, nil
	}
	nobody, undecidable := errors.AsType[aggregate.ErrNotAllowed](err)
	if !undecidable {
		return nil, fmt.Errorf("who may approve: %w: %w", errSilent, err)
	}
	return h.commit(ctx, a, "turn away what nobody could approve",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.Refuse(run, task.ReasonUndecidable(nobody.Rule), now)
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
	t = tenancy.Tenant{ID: a.Head.TenantID, Name: team, TeamID: team}
	if self, err := h.Slack.Self(within); err == nil {
		t.BotUserID, t.BotID = self.User, self.Bot
		t.Name = cmp.Or(language.First(self.Name, tenancy.MaxTenantName), team)
	}
	if t.Admins, err = h.admins(ctx); err != nil {
		return nil, err
	}
	if t, err = h.Store.Bootstrap(ctx, t, h.Now()); err != nil {
		return nil, fmt.Errorf("make the tenant: %w", err)
	}
	h.noteBot(within, t)
	return a, nil
}

// admins returns a new tenant's first administrator, whom the Slack secret names as it does for the console, or nobody.
func (h *Handler) admins(ctx context.Context) ([]string, error) {
	named, err := h.Secret.TenantAdmin(ctx)
	if errors.Is(err, secret.ErrMissing) {
		return []string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("who administers: %w", err)
	}
	if err := (tenancy.Tenant{Name: named, Admins: []string{named}}).Validate(); err != nil {
		slog.ErrorContext(ctx, "tenant_admin of the Slack secret is no Slack user id", "err", err)
		return []string{}, nil
	}
	return []string{named}, nil
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
