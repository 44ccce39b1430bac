// Command serve-gate serves outside agents, which bear a key: it has people approve their calls of tools, by
// MCP and by a REST API.
package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/calls"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

func main() {
	boot.Run(newDoor, (*door).serve)
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Results
	boot.Credentials
	boot.Vendors
	OutboundAllow string `env:"OUTBOUND_ALLOW,optional" doc:"inner addresses that may be called, as host:port"`
}

func newDoor(_ context.Context, cfg aws.Config, env environment) (*door, error) {
	catalog := &tool.Catalog{} // empty until ready
	ready := sync.OnceValue(func() error {
		all, err := tool.Builtin()
		if err == nil {
			*catalog = *all
		}
		return err
	})
	go ready() // while the first request comes and its key is looked up
	all := store.OpenAll(cfg, env.Table)
	bot := sync.OnceValue(func() people.Users { // it only looks people up
		return vault.OpenBot(cfg, secret.OpenSlack(cfg, env.Slack), env.Credentials, all, slackWithin)
	})
	return &door{
		Stays: func(ctx context.Context, tenant, team, user string) (bool, error) {
			return people.Stays(slackapi.For(ctx, tenant), bot(), team, user)
		},
		Calls: calls.Calls{Store: store.CallsOf(all), Catalog: catalog, Now: time.Now},
		Keys:  all, Results: large.Open(cfg, env.Results),
		Ready: ready,
		Tools: sync.OnceValues(func() (Tools, error) {
			held := vault.ForTools(cfg, store.TasksOf(all), env.Credentials, env.Vendors, env.OutboundAllow)
			return runner.New(catalog, runner.Config{FreeeURL: env.FreeeAPIURL, SheetsURL: env.SheetsAPIURL,
				Credentials: held, Company: held.Company, Outbound: outbound.Allowing(env.OutboundAllow).Client(),
				Slack: func(context.Context, string) (token, address string, err error) { return "", "", errNoSlack },
				Now:   time.Now, Log: slog.Default()})
		}),
	}, nil
}

// errNoSlack: none of the tools that only read is Slack's.
var errNoSlack = errors.New("the door calls no tool of Slack's")
