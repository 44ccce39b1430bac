package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/aggregate"
	"ringi/shared/home"
	"ringi/shared/model/managed"
	"ringi/shared/model/provider"
	"ringi/shared/outbound"
	"ringi/shared/result"
	"ringi/shared/secret"
	"ringi/shared/secret/oauth"
	"ringi/shared/secret/vault"
	"ringi/shared/slackapi"
	"ringi/shared/store"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

// slackWithin bounds the call that asks Slack which workspace the deployment's token belongs to.
const slackWithin = 6 * time.Second

func newHandler(ctx context.Context, cfg aws.Config) (*Handler, error) {
	read := sync.OnceValues(tool.Builtin)
	go read() // beside the read of the secret
	slack := secret.NewSlack(secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID"))
	slack.Preload(ctx)
	catalog, err := read()
	if err != nil {
		return nil, err
	}
	s := store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME"))
	tools, err := newTools(cfg, catalog, s, slack)
	if err != nil {
		return nil, err
	}
	// Path style: a bucket's name need not resolve as a host.
	bucket := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	models := provider.FromEnvironment(cfg)
	return &Handler{
		Store: s, Results: result.Store{S3: bucket, Bucket: os.Getenv("RESULTS_BUCKET")},
		Tools: tools, Catalog: catalog,
		Open:  models.Open,
		Model: os.Getenv("MODEL"),
		Now:   time.Now, NewID: aggregate.NewID,
		Sessions: newSessions(models), PollEvery: pollEvery, PollFor: 100 * time.Second, HoldFor: 30 * time.Second,
	}, nil
}

func newSessions(c provider.Config) *managed.Client {
	return managed.New(managed.Config{
		BaseURL: c.AnthropicURL, HTTP: c.Vendor, Refused: c.Secret.Forget,
		Key: func(ctx context.Context) (string, error) {
			s, err := c.Secret.Get(ctx)
			return s.Anthropic, err
		},
	})
}

func newTools(cfg aws.Config, catalog *tool.Catalog, s *store.Store, slack *secret.Slack) (*runner.Runner, error) {
	credentials := vault.New(s, vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: os.Getenv("CREDENTIALS_KEY_ID")},
		oauth.Freee("", os.Getenv("FREEE_TOKEN_URL")), oauth.Google("", os.Getenv("GOOGLE_TOKEN_URL")))
	client, err := slackapi.With(slack, slackWithin)
	if err != nil {
		return nil, err
	}
	ours := home.Home{Slack: client, Rows: s}
	return runner.New(catalog, runner.Config{
		FreeeURL: os.Getenv("FREEE_API_URL"), SheetsURL: os.Getenv("SHEETS_API_URL"),
		Credentials: credentials,
		Slack: func(ctx context.Context, tenant string) (string, string, error) {
			bot, address, err := slack.Bot(ctx)
			if err != nil && !errors.Is(err, secret.ErrMissing) { // a tenant may have a bot of its own
				return "", "", err
			}
			token, err := credentials.SlackToken(ctx, tenant, bot, ours.Own)
			return token, address, err
		},
		SlackRefused: slack.Refused,
		Company:      credentials.Company,
		Outbound:     outbound.FromEnvironment().Client(),
		Now:          time.Now, Log: slog.Default(),
	})
}
