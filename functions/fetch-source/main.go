// Command fetch-source fetches the files with which a conversation begins from their repository at GitHub.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool/github"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Results
	boot.Credentials
	GitHubURL string `env:"GITHUB_API_URL,optional" doc:"GitHub's API, for sources; only the local stack sets it"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenConversations(cfg, env.Table)
	held := vault.New(store.TasksOf(rows.Of.Store), vault.Envelope{KMS: kms.NewFromConfig(cfg),
		KeyID: env.CredentialsKeyID})
	files := large.OpenVersions(cfg, env.ResultsBucket)
	files.Living = rows.Living
	return &Handler{
		Store: rows, App: held.App, GitHub: github.At(env.GitHubURL), Files: files, Now: time.Now,
	}, nil
}
