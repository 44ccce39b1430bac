package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/modelname"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/managed"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/config"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/bots"
	"ringi/shared/secret/oauth"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/installed"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/large"
	"ringi/shared/store/tasks"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

// slackWithin bounds the calls that ask Slack which workspace the deployment's token belongs to, and who may approve a
// step.
const slackWithin = 6 * time.Second

type environment struct {
	config.Table
	config.Slack
	config.Models
	config.Results
	config.Spending
	config.Credentials
	FreeeTokenURL  string `env:"FREEE_TOKEN_URL" doc:"where freee's access tokens are renewed"`
	GoogleTokenURL string `env:"GOOGLE_TOKEN_URL" doc:"where Google's access tokens are renewed"`
	FreeeAPIURL    string `env:"FREEE_API_URL" doc:"freee's API, up to and including /hr"`
	SheetsAPIURL   string `env:"SHEETS_API_URL" doc:"Google Sheets' API, without /v4"`
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
	s := tasks.Open(cfg, env.Table)
	if err := s.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	tools, err := newTools(cfg, env, catalog, s, slack)
	if err != nil {
		return nil, err
	}
	models := provider.New(cfg, env.Models)
	return &Handler{
		Approvable: approvable(bots.Open(cfg, slack, env.Credentials, s, slackWithin)),
		Store:      s, Results: large.Open(cfg, env.Results),
		Tools: tools, Catalog: catalog,
		Open:  models.Open,
		Model: env.Model,
		Now:   time.Now, NewID: aggregate.NewID,
		Sessions: newSessions(models), PollEvery: pollEvery, PollFor: 100 * time.Second, HoldFor: 30 * time.Second,
	}, nil
}

// approvable asks Slack, within slackWithin, whether somebody may approve what a person asked for.
func approvable(slack people.Groups) func(context.Context, aggregate.Ref, aggregate.Origin, tenancy.Settings,
	string) error {
	var asking people.Requesters
	return func(ctx context.Context, ref aggregate.Ref, o aggregate.Origin, s tenancy.Settings, asker string) error {
		ctx, cancel := context.WithTimeout(slackapi.For(ctx, ref.Tenant), slackWithin)
		defer cancel()
		return asking.Somebody(ctx, slack, o, s, time.Now(), asker)
	}
}

func newSessions(c provider.Config) *managed.Client {
	return managed.New(managed.Config{
		BaseURL: c.At[modelname.Anthropic], HTTP: c.Vendor, Refused: c.Secret.Forget,
		Key: func(ctx context.Context) (string, error) {
			s, err := c.Secret.Get(ctx)
			return s.Anthropic, err
		},
	})
}

func newTools(cfg aws.Config, env environment, catalog *tool.Catalog, s *tasks.Store,
	slack *secret.Slack) (*runner.Runner, error) {
	credentials := vault.New(s, vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: env.CredentialsKeyID},
		oauth.Freee("", env.FreeeTokenURL), oauth.Google("", env.GoogleTokenURL))
	credentials.Outbound = outbound.Allowing(env.OutboundAllow).Client().Transport
	ours := installed.Home{Slack: slackapi.With(slack, slackWithin), Rows: s}
	return runner.New(catalog, runner.Config{
		FreeeURL: env.FreeeAPIURL, SheetsURL: env.SheetsAPIURL,
		Credentials: credentials,
		Slack: func(ctx context.Context, tenant string) (string, string, error) {
			bot, address, err := slack.Bot(ctx)
			if err != nil && !errors.Is(err, secret.ErrMissing) { // a tenant may have its own bot
				return "", "", err
			}
			token, err := credentials.SlackToken(ctx, tenant, bot, ours.Own)
			return token, address, err
		},
		SlackRefused: slack.Refused,
		Company:      credentials.Company,
		Outbound:     outbound.Allowing(env.OutboundAllow).Client(),
		Now:          time.Now, Log: slog.Default(),
	})
}
