// Command execute-process is the fourth layer: it calls the tools of the approved steps.
//
// Each turn: claim, call, result. The claim of the next step is part of the result's commit, so a step costs one
// commit. Permissions are read before the first claim; what refuses a claim is found by the next turn.
//
// A call gets its tool's whole timeout. With less time left than that and 15 s nothing is claimed, and the run goes
// round to a fresh invocation. The lease ends 15 s after the call's deadline, so nobody takes a slow call for a dead
// one. Who meets another's live lease pauses until it ends.
//
// Large arguments and results are kept in memory for references (16 MiB) and in the bucket for everything else. A
// reference that finds null is not called: null means all there is, and nobody stamped that.
//
// Before a gate and before a claim constraints are held against resolved values, and the hash of the resolved arguments
// against the gate's. Write calls have no automatic retries. A cancel is looked for every 3 s, from the head's row.
//
// With executor managed, a session of Claude Managed Agents goes through the steps, and Ringi stays between it and the
// tools: each call that it asks for must be the next approved step with the approved arguments. It is polled for up to
// 100 s, then the run pauses. Each of Ringi's calls to it ends before its lease. Its cost is charged when it is closed,
// before a retry opens another and before the task rests.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool/runner"
)

func main() {
	boot.BoundMemory()
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

// slackWithin bounds the calls that ask Slack who may approve a step.
const slackWithin = 6 * time.Second

type environment struct {
	boot.Table
	boot.Slack
	boot.Models
	boot.Results
	boot.Credentials
	boot.Vendors
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	slack, s := secret.OpenSlack(cfg, env.Slack), store.OpenTasks(cfg, env.Table)
	tools, catalog, err := runner.Open(ctx, env.Vendors, env.OutboundAllow,
		vault.ForTools(cfg, s, env.Credentials, env.Vendors, env.OutboundAllow), slack)
	if err != nil {
		return nil, err
	}
	models, asking := provider.New(cfg, env.Models), people.Requesters{}
	bot := vault.OpenBot(cfg, slack, env.Credentials, s, slackWithin)
	return &Handler{
		Approvable: func(ctx context.Context, ref aggregate.Ref, o aggregate.Origin, s tenancy.Settings, asker string) error {
			ctx, cancel := context.WithTimeout(slackapi.For(ctx, ref.Tenant), slackWithin)
			defer cancel()
			return asking.Somebody(ctx, bot, o, s, time.Now(), asker)
		},
		Store: s, Results: large.Open(cfg, env.Results),
		Tools: tools, Catalog: catalog, Open: models.Open, Model: env.Model,
		Now: time.Now, NewID: aggregate.NewID,
		Sessions: newSessions(models), PollEvery: pollEvery, PollFor: 100 * time.Second, HoldFor: 30 * time.Second,
	}, nil
}

func newSessions(c provider.Config) *provider.Managed {
	return provider.NewManaged(provider.ManagedConfig{
		BaseURL: c.At[aggregate.Anthropic], HTTP: c.Vendor, Refused: c.Secret.Forget,
		Key: func(ctx context.Context) (string, error) {
			s, err := c.Secret.Get(ctx)
			return s.Anthropic, err
		},
	})
}
