// Package vendors makes the runner that calls tools with the credentials of tenants.
package vendors

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

// slackWithin bounds the calls that ask Slack which workspace the deployment's token belongs to.
const slackWithin = 6 * time.Second

// Environment is the configuration of a function that calls tools.
type Environment struct {
	Key     boot.Credentials
	Vendors boot.Vendors
	Allow   string // endpoints outside of the public internet, as config.Models has them
}

// Open makes a runner of the catalog's tools. It opens and renews the sealed credentials of the rows in s.
func Open(cfg aws.Config, env Environment, catalog *tool.Catalog, s *store.TaskStore,
	slack *secret.Slack) (*runner.Runner, error) {
	credentials := vault.New(s, vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: env.Key.CredentialsKeyID},
		vault.FreeeOAuth("", env.Vendors.FreeeTokenURL), vault.GoogleOAuth("", env.Vendors.GoogleTokenURL))
	credentials.Outbound = outbound.Allowing(env.Allow).Client().Transport
	ours := slackapi.HomeWorkspaces{Slack: slackapi.With(slack, slackWithin), Rows: s}
	return runner.New(catalog, runner.Config{
		FreeeURL: env.Vendors.FreeeAPIURL, SheetsURL: env.Vendors.SheetsAPIURL,
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
		Outbound:     outbound.Allowing(env.Allow).Client(),
		Now:          time.Now, Log: slog.Default(),
	})
}
