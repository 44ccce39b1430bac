// Command run-round plays one round of one team of a contest, or the rest of an unfinished one.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated/invoke"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool/mcp"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
	boot.Credentials
	SandboxFunction string `env:"SANDBOX_FUNCTION,optional" doc:"the function that runs commands; without it none are run"`
	Programs        string `env:"SANDBOX_PROGRAMS,optional" doc:"where commands' programs are; for the local stack only"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s, values := store.OpenAll(cfg, env.Table), large.Open(cfg, env.Results)
	h := &Handler{
		Store:   store.ContestsOf(s, values),
		Models:  modelsOf(provider.Wires{Config: provider.New(cfg, env.Models), Instead: env.Model}),
		Prompts: func(ref aggregate.Ref) model.Keep { return values.Prompts(ref) },
		Search: func(ctx context.Context, tenant string) (bool, error) {
			x, err := s.Settings(ctx, tenant)
			return x.ContestSearch, err
		},
		Instead: env.Model,
		Reads:   newReads(cfg, env, s).Open,
		Now:     time.Now,
	}
	if env.SandboxFunction != "" {
		h.Sandbox = round.Isolated(invoke.New(cfg, env.SandboxFunction), env.Programs)
	}
	return h, nil
}

// modelsOf opens wires at a workspace's own prices.
func modelsOf(w provider.Wires) func(own []tenancy.ModelPrice) round.Models {
	return func(own []tenancy.ModelPrice) round.Models {
		w.Prices = own
		return w
	}
}

// newReads calls MCP servers only: members have none of Ringi's own tools.
func newReads(cfg aws.Config, env environment, s *store.Store) round.Source {
	credentials, out := vault.New(s, vault.EnvelopeAt(cfg, env.CredentialsKeyID)),
		outbound.Allowing(env.OutboundAllow).Client()
	credentials.Outbound = out.Transport
	return round.Source{Rows: s, Credentials: credentials, Client: mcp.Client{HTTP: out}, Now: time.Now}
}
