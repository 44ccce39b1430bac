// Command fetch-source fetches the files with which a conversation begins from their repository at GitHub.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/secret/vault"
	"ringi/shared/store/conversations"
	"ringi/shared/store/tasks"
	"ringi/shared/store/versions"
	"ringi/shared/tool/github"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	config.Table
	config.Results
	config.Credentials
	GitHubURL string `env:"GITHUB_API_URL,optional" doc:"GitHub's API, for sources; only the local stack sets it"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := conversations.Open(cfg, env.Table)
	held := vault.New(tasks.Of(rows.Of.Store), vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: env.CredentialsKeyID})
	files := versions.Open(cfg, env.ResultsBucket)
	files.Living = rows.Living
	return &Handler{
		Store: rows, App: held.App, GitHub: github.At(env.GitHubURL), Files: files, Now: time.Now,
	}, nil
}
