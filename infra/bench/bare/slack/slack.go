// Package slack makes what a function that calls Slack makes at its start.
package slack

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	sdk "github.com/slack-go/slack"

	"ringi/infra/bench/bare/handler"
)

// Client reads the secret with the bot's token and makes a Slack client with it.
func Client(ctx context.Context, cfg aws.Config) (any, error) {
	out, err := handler.Secret(ctx, cfg)
	if err != nil {
		return nil, err
	}
	var keys struct {
		BotToken string `json:"bot_token"`
		APIURL   string `json:"api_url"`
	}
	secret := out.(*secretsmanager.GetSecretValueOutput).SecretString
	if err := json.Unmarshal([]byte(aws.ToString(secret)), &keys); err != nil {
		return nil, err
	}
	return sdk.New(keys.BotToken, sdk.OptionAPIURL(keys.APIURL)), nil
}
