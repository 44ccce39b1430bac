package main

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/secret/vendors"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/tool/github"
)

type environment struct {
	boot.Table
	boot.Slack
	boot.Results
	boot.Credentials
	boot.Vendors
	GitHubURL     string `env:"GITHUB_API_URL,optional" doc:"GitHub's API, for sources; only the local stack sets it"`
	OutboundAllow string `env:"OUTBOUND_ALLOW,optional" doc:"endpoints outside of the public internet that may be called, as host:port with commas between; only the local stack sets any"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	read := sync.OnceValues(tool.Builtin)
	go read() // parallel to reading the secret
	slack := secret.OpenSlack(cfg, env.Slack)
	slack.Preload(ctx)
	catalog, err := read()
	if err != nil {
		return nil, err
	}
	rows, results := store.OpenConversations(cfg, env.Table), large.Open(cfg, env.Results)
	results.Living = rows.Living
	tools, err := vendors.Open(cfg, vendors.Environment{Key: env.Credentials, Vendors: env.Vendors,
		Allow: env.OutboundAllow}, catalog, store.TasksOf(rows.Of.Store), slack)
	if err != nil {
		return nil, err
	}
	held := vault.New(store.TasksOf(rows.Of.Store), vault.Envelope{KMS: kms.NewFromConfig(cfg),
		KeyID: env.CredentialsKeyID})
	return &Handler{
		Store: rows, Results: results, Tools: tools, Catalog: catalog, App: held.App, GitHub: github.At(env.GitHubURL),
		Now: time.Now, NewID: aggregate.NewID,
		PollEvery: pollEvery,
	}, nil
}
