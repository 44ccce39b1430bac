package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated/invoke"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

type environment struct {
	boot.Table
	boot.Results
	SandboxFunction string `env:"SANDBOX_FUNCTION,optional" doc:"the function that runs commands; without it none are run"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, files := store.OpenConversations(cfg, env.Table), large.OpenVersions(cfg, env.ResultsBucket)
	files.Living = rows.Living
	h := &Handler{
		Store: rows, Payloads: large.Open(cfg, env.Results), Files: files,
		Now: time.Now, NewID: aggregate.NewID, PollEvery: pollEvery, FlushEvery: flushEvery, RedrawEvery: redrawEvery,
	}
	if env.SandboxFunction != "" {
		h.Sandbox = invoke.New(cfg, env.SandboxFunction)
	}
	return h, nil
}
