// Command answer-message has an agent answer all waiting messages of a conversation, in one turn of its model.
//
// A turn answers what waited when it began, twenty messages at most. Who may not ask is refused before a model is paid,
// and what a model needs to know (who is an app, what was said in the thread before, the text of attachments) is found
// out before too.
//
// The agent reads its files within a turn: 12 rounds of 8 calls, 256 KiB of results. Each answer that reads is
// committed with its cost before it is read for (ReadOn); so another try goes on from there, nothing is paid for twice,
// and nothing is read for a turn that was stopped. The tools are taken away for the last call, with a budget used up,
// or with less than a minute left. An answer that reads and proposes has its proposal refused: it comes after the
// reads.
//
// A proposal is completed here: base, the changes of each line, the version of a tool. What can't be made, or is over
// what people can read, goes back to the model in the same turn, by field and limit.
//
// What is sent is counted from above in tokens, against what the agent's model takes. What alone is too large is left
// out and said; older messages are folded into a summary. A refusal for length is folded to half, and tried once more.
package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
	boot.Slack
	boot.Credentials
	ReadFileFunction string `env:"READ_FILE_FUNCTION" doc:"the function that reads the text of attachments"`

	Sandbox  string `env:"SANDBOX" doc:"on or off: whether agents may run what people approved"`
	Programs string `env:"SANDBOX_PROGRAMS,optional" doc:"where commands' programs are; for the local stack only"`
}

// namesWithin bounds each call to Slack for a person's name.
const namesWithin = 5 * time.Second

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenConversations(cfg, env.Table)
	models := provider.New(cfg, env.Models)
	slack := vault.OpenBot(cfg, secret.OpenSlack(cfg, env.Slack), env.Credentials, store.TasksOf(rows.KindStore.Store),
		namesWithin)
	names, asking, payloads := &people.Names{}, &people.Requesters{}, large.Open(cfg, env.Results)
	files := large.OpenVersions(cfg, env.ResultsBucket)
	return &Handler{
		Store: rows, Payloads: payloads, Files: files, Attachments: files.Attached(),
		Text:    payloads.Texts(cfg, env.ReadFileFunction),
		Prompts: func(ref aggregate.Ref) model.Keep { return payloads.Prompts(ref) },
		Catalog: sync.OnceValues(tool.Builtin),
		Allow:   strings.Split(env.OutboundAllow, ","), Sandbox: env.Sandbox == "on",
		Programs: env.Programs, Now: time.Now,
		Open: func(ctx context.Context, d agent.Definition, s tenancy.Settings) (model.Wire, error) {
			return models.OpenAgent(ctx, d, env.Model, s)
		},
		File: func(ctx context.Context, ref aggregate.Ref, id string, most int) (slackapi.File, error) {
			return slack.File(slackapi.For(ctx, ref.Tenant), id, most)
		},
		Thread: func(ctx context.Context, ref aggregate.Ref, channel, thread, before string,
			n int) ([]slackapi.Said, error) {
			return slack.Before(slackapi.For(ctx, ref.Tenant), channel, thread, before, n)
		},
		Rest: time.Second,
		Who: func(ctx context.Context, ref aggregate.Ref, team, user string) (aggregate.Actor, error) {
			return asking.Requester(slackapi.For(ctx, ref.Tenant), slack, team, user, time.Now())
		},
		Approvable: func(ctx context.Context, ref aggregate.Ref, o aggregate.Origin, s tenancy.Settings,
			askers []string) error {
			return asking.Somebody(slackapi.For(ctx, ref.Tenant), slack, o, s, time.Now(), askers...)
		},
		Names: func(ctx context.Context, ref aggregate.Ref, team string, ids ...string) map[string]string {
			return names.Of(slackapi.For(ctx, ref.Tenant), slack, team, time.Now(), ids...)
		},
	}, nil
}
