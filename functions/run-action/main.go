// Command run-action executes an approved action. It writes files itself, and executes commands in a sandbox.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/outbound"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Results
	SandboxFunction string `env:"SANDBOX_FUNCTION,optional" doc:"the function that runs commands; without it none are run"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, files := store.OpenConversations(cfg, env.Table), large.OpenVersions(cfg, env.ResultsBucket)
	h := &Handler{
		Store: rows, Payloads: large.Open(cfg, env.Results), Files: files,
		Now: time.Now, NewID: aggregate.NewID, PollEvery: pollEvery, FlushEvery: flushEvery, RedrawEvery: redrawEvery,
	}
	if env.SandboxFunction != "" {
		h.Sandbox = outbound.SandboxAt(cfg, env.SandboxFunction)
	}
	return h, nil
}

const (
	// leaseSpare is how much longer a claim lasts than the command: it is for fetching, packing and uploading the
	// workspace, and for the commit.
	leaseSpare = 75 * time.Second
	// commitSpare is the part of leaseSpare that remains for this function after the sandbox has ended.
	commitSpare = 20 * time.Second
	// writeWithin bounds the writing of files.
	writeWithin = 40 * time.Second
	// compareWithin bounds the computing of what an action changed. resultSpare is what it leaves of the claim: the
	// files of a result that comes later are not taken.
	compareWithin, resultSpare = 12 * time.Second, 8 * time.Second
	// pollEvery is how often the head is read during a command, to see whether the action was cancelled.
	pollEvery = 3 * time.Second
	// flushEvery is how often output is saved, and redrawEvery how often the card shows it.
	flushEvery, redrawEvery = time.Second, 5 * time.Second
	// tailLines is how many of the last lines the agent sees.
	tailLines = 60
)

// Reasons for a failed action that the domain doesn't have.
const (
	reasonSandboxOff aggregate.Reason = "sandbox_off"
	reasonRefused    aggregate.Reason = "workspace_refused"
	reasonMissing    aggregate.Reason = "missing_command"
	reasonSignal     aggregate.Reason = "signal"
)

type Store interface {
	pipeline.Conversations
	AppendLog(ctx context.Context, ref aggregate.Ref, action string, lines []conversation.LogEntry, gone []int) error
	Redraw(ctx context.Context, ref aggregate.Ref) error
}

// Files stores workspaces. *large.Versions implements it.
type Files interface {
	Get(ctx context.Context, of aggregate.Ref, version string) (*files.Tree, error)
	Put(ctx context.Context, of aggregate.Ref, t *files.Tree) (version string, err error)
	Take(ctx context.Context, of aggregate.Ref, action string) (version string, err error)
	Cancel(ctx context.Context, of aggregate.Ref, action string) error
	Difference(ctx context.Context, of aggregate.Ref, base, version string) ([]files.Change, error)
	Lend(ctx context.Context, of aggregate.Ref, on conversation.On, until time.Time, o *isolated.Order) error
}

type Handler struct {
	Store    Store
	Payloads aggregate.Opener
	Files    Files
	Sandbox  isolated.Runner // nil: commands can't be executed here
	Now      func() time.Time
	NewID    func() string

	PollEvery, FlushEvery, RedrawEvery time.Duration
}

// job is the execution of one action under one claim.
type job struct {
	*Handler
	ref        aggregate.Ref
	session    *conversation.Conversation
	action     *conversation.Action
	payload    conversation.Payload
	invocation string
	cause      error // the failure's cause, for the log only
	noted      []any // further attributes for the log
}

// Handle executes the conversation's approved action, if there is one, at most once, and returns the run's next state.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	ref := in.Ref()
	a, err := pipeline.Load(ctx, h.Store, in)
	if err != nil {
		return aggregate.Next{}, err
	}
	if next := a.Next(h.Now()); next.State != conversation.StateAct {
		return pipeline.Rest(ctx, h.Store, in, h.Now, next)
	}
	x := a.Current()
	if x.Status == conversation.ActionExecuting && x.Claim != nil { // its lease expired
		conversation.LogError(ctx, conversation.EventCompleted, ref.ID, a.Conversation.AgentID, x.ActionID, "OUTCOME_UNKNOWN",
			"its invocation ended without a result")
		return h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Crashed(h.Now()) })
	}
	j := &job{Handler: h, ref: ref, session: a.Conversation, action: x, invocation: h.NewID()}
	why, err := j.prepare(ctx)
	if err != nil {
		return aggregate.Next{}, err
	}
	if why != nil {
		return j.refuse(ctx, in, *why)
	}
	if err := j.claim(ctx, in.Run); errors.Is(err, conversation.ErrBase) {
		return j.refuse(ctx, in, j.says(conversation.ReasonBase, "", err))
	} else if err != nil {
		return aggregate.Next{}, err
	}
	conversation.Log(ctx, conversation.EventStarted, ref.ID, a.Conversation.AgentID, x.ActionID, "type", x.ActionType)
	do := j.run
	if x.ActionType == conversation.CodeGenerate {
		do = j.write
	}
	r, err := do(ctx)
	switch { // after an error other than isolated.ErrNotBegun, nobody knows what was done
	case errors.Is(err, isolated.ErrNotBegun):
		_, released := h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Release(x.ActionID, j.invocation, h.Now())
		})
		return aggregate.Next{}, errors.Join(fmt.Errorf("%w: %w", explain.ErrUnavailable, err), released)
	case err != nil:
		boot.Count(boot.RunFailed, 1)
		conversation.LogError(ctx, conversation.EventCompleted, ref.ID, a.Conversation.AgentID, x.ActionID,
			string(conversation.ReasonUnknown), err.Error())
		return h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Lost(x.ActionID, j.invocation, h.Now())
		})
	}
	j.logged(ctx, r)
	return h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, j.invocation, r, h.Now())
	})
}

// refuse fails the action before its claim.
func (j *job) refuse(ctx context.Context, in pipeline.Input, r conversation.Result) (aggregate.Next, error) {
	r.Status = conversation.ActionFailed
	j.logged(ctx, r)
	return j.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.FailApproved(in.Run, j.action.ActionID, r, j.Now())
	})
}

// decide commits the outcome of an action and returns the next state.
func (h *Handler) decide(ctx context.Context, in pipeline.Input, decide conversation.Decision) (aggregate.Next, error) {
	return pipeline.Conclude(ctx, h.Store, in, h.Now, decide)
}

// prepare reads the payload, or returns why the action can't be executed.
func (j *job) prepare(ctx context.Context) (why *conversation.Result, err error) {
	text, err := j.Payloads.Open(ctx, j.ref, j.action.Payload)
	if err != nil {
		return nil, fmt.Errorf("open the payload: %w", err)
	}
	if aggregate.HashOf(string(text)) != j.action.Payload.Hash() {
		r := j.says(conversation.ReasonChanged, "", errors.New("the payload is not what was approved"))
		return &r, nil
	}
	p, problems := conversation.ReadKept(j.action.ActionType, text)
	problems = append(problems, files.Unstampable(p.Changes)...)
	switch {
	case problems != nil:
	case p.AttachmentsVersion != j.action.AttachmentsVersion:
		problems = []string{"its row names other attachments"}
	case *p.Base != j.action.Base:
		problems = []string{"its row names other files"}
	}
	if problems != nil {
		r := j.says(conversation.ReasonUnread, "", errors.New(problems[0]))
		return &r, nil
	}
	j.payload = p
	if j.action.ActionType != conversation.CodeGenerate && j.Sandbox == nil {
		return &conversation.Result{Error: reasonSandboxOff}, nil
	}
	return nil, nil
}

func (j *job) lease() time.Duration {
	if j.action.ActionType == conversation.CodeGenerate {
		return writeWithin + commitSpare
	}
	return time.Duration(j.payload.TimeoutSeconds)*time.Second + leaseSpare
}

// claim commits that this invocation executes the action.
func (j *job) claim(ctx context.Context, run int) error {
	until := j.Now().Add(j.lease())
	x, err := pipeline.Claimed(ctx, j.Store, j.ref, j.action.ActionID, j.invocation,
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Claim(run, j.invocation, until, j.Now())
		})
	if err != nil {
		return err
	}
	j.action = x
	return nil
}
