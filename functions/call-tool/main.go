// Command call-tool calls a vendor's tool once, where people or the settings approved the call, with the workspace's
// credentials.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/tool/github"
	"ringi/shared/tool/runner"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Results
	boot.Credentials
	boot.Vendors
	GitHubURL     string `env:"GITHUB_API_URL,optional" doc:"GitHub's API, for sources; only the local stack sets it"`
	OutboundAllow string `env:"OUTBOUND_ALLOW,optional" doc:"inner addresses that may be called, as host:port"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	slack := secret.OpenSlack(cfg, env.Slack)
	rows, results := store.OpenConversations(cfg, env.Table), large.Open(cfg, env.Results)
	all := store.OpenAll(cfg, env.Table)
	bot, calls := vault.OpenBot(cfg, slack, env.Credentials, all, slackWithin), store.CallsOf(all)
	tasks := store.TasksOf(rows.KindStore.Store)
	held := vault.ForTools(cfg, tasks, env.Credentials, env.Vendors, env.OutboundAllow)
	tools, catalog, err := runner.Open(ctx, env.Vendors, env.OutboundAllow, held, slack)
	if err != nil {
		return nil, err
	}
	return &Handler{
		Store: rows, Results: results, Tools: tools, Catalog: catalog, App: held.App, GitHub: github.At(env.GitHubURL),
		Now: time.Now, NewID: aggregate.NewID,
		PollEvery: pollEvery,
		Stays: func(ctx context.Context, tenant, team, user string) (bool, error) {
			return people.Stays(slackapi.For(ctx, tenant), bot, team, user)
		},
		Calls: calls, Finder: decide.Finder{Store: calls, Slack: bot, Known: &people.Requesters{}, Within: lookUpWithin},
	}, nil
}

const (
	// claimSpare is how much longer a claim's lease lasts than the call's timeout, so that the result can be stored and
	// committed.
	claimSpare = 20 * time.Second
	// commitWithin before the lease's end, storing a result stops, so that the call's end can still be committed.
	commitWithin = 8 * time.Second
	// pollEvery is how often the head is read during a read, which ends when its action is cancelled.
	pollEvery = 3 * time.Second
	// mostTries is how often a claim is tried anew because an administrator changed something meanwhile.
	mostTries = 3
)

// Reasons for a failed call that the domain doesn't have.
const (
	reasonForbidden  aggregate.Reason = "tool_forbidden"
	reasonOther      aggregate.Reason = "tool_changed"
	reasonConstraint aggregate.Reason = "tool_constraint"
	reasonArguments  aggregate.Reason = "tool_arguments"
	reasonUnlisted   aggregate.Reason = "read_unlisted"
	reasonFailed     aggregate.Reason = "tool_failed"
	reasonNotKept    aggregate.Reason = "result_not_kept"
)

type Store interface {
	pipeline.Conversations
	ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error)
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	NoteToolChanged(ctx context.Context, p tenancy.ToolPermission, now time.Time) error
}

// Results opens payloads, and stores what tools returned.
type Results interface {
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
	KeepCallResult(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
}

type Handler struct {
	Store     Store
	Results   Results
	Tools     tool.Runner
	Catalog   *tool.Catalog
	App       func(ctx context.Context, tenant string) (github.App, error)
	GitHub    github.Config
	Now       func() time.Time
	NewID     func() string
	PollEvery time.Duration

	// Of calls that outside agents ask for.
	Calls  Calls
	Finder decide.Finder
	// Stays asks Slack whether somebody is still a full member of a workspace.
	Stays func(ctx context.Context, tenant, team, user string) (bool, error)
}

// job is the call of one action under one claim.
type job struct {
	making
	session *conversation.Conversation
	action  *conversation.Action
	payload conversation.Payload // of a pull request, set by prepare
}

func (h *Handler) making(in pipeline.Input, locale string) making {
	return making{Handler: h, in: in, locale: locale, invocation: h.NewID()}
}

// Handle makes the conversation's approved call, if there is one, at most once, and returns the run's next state.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	if in.Kind == call.Kind.Name {
		return h.outside(ctx, in)
	}
	a, err := pipeline.Load(ctx, h.Store, in)
	if err != nil {
		return aggregate.Next{}, err
	}
	if next := a.Next(h.Now()); next.State != conversation.StateCall {
		return pipeline.Rest(ctx, h.Store, in, h.Now, next)
	}
	x := a.Current()
	if x == nil || x.Status == conversation.ActionPending {
		return h.look(ctx, in, a)
	}
	j := &job{making: h.making(in, a.Conversation.Locale), session: a.Conversation, action: x}
	if x.Status == conversation.ActionExecuting && x.Claim != nil { // its lease expired
		j.log(ctx, conversation.Result{Error: conversation.ReasonUnknown},
			errors.New("its invocation ended without a result"))
		return j.conclude(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Crashed(h.Now()) })
	}
	return j.begin(ctx)
}

// begin claims the call and makes it. What keeps it from being called fails the action.
func (j *job) begin(ctx context.Context) (aggregate.Next, error) {
	var err error
	for range mostTries {
		why, failed := j.prepare(ctx)
		if failed != nil {
			return aggregate.Next{}, failed
		}
		if why != (refusal{}) {
			return j.refuse(ctx, why)
		}
		if err = j.claim(ctx); !errors.Is(err, aggregate.ErrSettings) {
			break
		}
	}
	switch {
	case errors.Is(err, conversation.ErrBase):
		j.cause = err
		return j.refuse(ctx, refusal{reason: conversation.ReasonBase})
	case err != nil:
		return aggregate.Next{}, err
	}
	if j.action.Pushed != nil {
		return j.push(ctx)
	}
	return j.call(ctx)
}

// refuse fails the action before its claim.
func (j *job) refuse(ctx context.Context, why refusal) (aggregate.Next, error) {
	r := conversation.Result{Status: conversation.ActionFailed, Error: why.reason, ErrorDetail: why.detail}
	j.log(ctx, r, j.cause)
	return j.conclude(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.FailApproved(j.in.Run, j.action.ActionID, r, j.Now())
	})
}

func (j *job) conclude(ctx context.Context, decide conversation.Decision) (aggregate.Next, error) {
	return pipeline.Conclude(ctx, j.Store, j.in, j.Now, decide)
}

// claim commits that this invocation makes the call. The commit fails with aggregate.ErrSettings if an administrator
// changed what prepare read.
func (j *job) claim(ctx context.Context) error {
	on := []aggregate.Owned{{Key: tenancy.ToolKey(j.permission.ToolName), Rev: j.permission.Rev,
		Err: aggregate.ErrSettings},
		tenancy.SettingsAt(j.settings.Rev)} // these list reads and sources
	until := j.Now().Add(j.within(ctx) + claimSpare)
	x, err := pipeline.Claimed(ctx, j.Store, j.in.Ref(), j.action.ActionID, j.invocation,
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.ClaimCall(j.in.Run, j.invocation, until, j.Now(), on...)
		})
	if err != nil {
		return err
	}
	j.action = x
	return nil
}

// log logs the action's end in one line. cause is for operators; it names no argument and no result.
func (j *job) log(ctx context.Context, r conversation.Result, cause error) {
	id, agent, action := j.in.Ref().ID, j.session.AgentID, j.action.ActionID
	if r.Error == "" {
		conversation.Log(ctx, conversation.EventCompleted, id, agent, action, "status", r.Status, "tool", j.action.Tool)
		return
	}
	text := "the call failed"
	if cause != nil {
		text = cause.Error()
	}
	conversation.LogError(ctx, conversation.EventCompleted, id, agent, action, string(r.Error), text, "tool",
		j.action.Tool)
}
