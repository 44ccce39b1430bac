// Package secret reads the deployment's own secrets. Tenants' credentials are in
// shared/secret/vault.
package secret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// SlackSecret is what Slack gives an app: what its calls are signed with, and what
// ours carry. Neither may be logged; printing one shows nothing.
type SlackSecret struct {
	SigningSecret string
	BotToken      string
	AppID         string // which app's; empty when nobody said: then any app's that signs with the secret
}

// String keeps the secret out of logs and errors.
func (SlackSecret) String() string { return "(hidden)" }

// GoString is String.
func (s SlackSecret) GoString() string { return s.String() }

// MarshalJSON keeps the secret out of JSON logs.
func (s SlackSecret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Reader reads one secret's value.
type Reader interface {
	GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput, opts ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Slack reads the Slack secret, JSON with signing_secret, bot_token and perhaps app_id. A function
// calls it once, when it starts. Its errors say which member is missing, and never a value.
func Slack(ctx context.Context, r Reader, id string) (SlackSecret, error) {
	if id == "" {
		return SlackSecret{}, errors.New("read the Slack secret: SLACK_SECRET_ID is empty")
	}
	out, err := r.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return SlackSecret{}, fmt.Errorf("read the Slack secret: %w", err)
	}
	if out.SecretString == nil {
		return SlackSecret{}, errors.New("read the Slack secret: it is binary, not JSON text")
	}
	var s struct {
		SigningSecret string `json:"signing_secret"`
		BotToken      string `json:"bot_token"`
		AppID         string `json:"app_id"`
	}
	if json.Unmarshal([]byte(*out.SecretString), &s) != nil { // the error would quote the secret
		return SlackSecret{}, errors.New("read the Slack secret: it is not JSON with signing_secret and bot_token")
	}
	if s.SigningSecret == "" {
		return SlackSecret{}, errors.New("read the Slack secret: signing_secret is empty")
	}
	if s.BotToken == "" {
		return SlackSecret{}, errors.New("read the Slack secret: bot_token is empty")
	}
	return SlackSecret(s), nil
}
