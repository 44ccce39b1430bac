// Package slack has what a function that calls Slack does at its start.
package slack

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	sdk "github.com/slack-go/slack"
)

// Client reads the secret with the bot's token, and makes a client with it.
func Client(ctx context.Context, cfg aws.Config) (*sdk.Client, error) {
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SLACK_SECRET_ID"))})
	if err != nil {
		return nil, err
	}
	var keys struct {
		BotToken string `json:"bot_token"`
		APIURL   string `json:"api_url"`
	}
	if err := json.Unmarshal([]byte(aws.ToString(out.SecretString)), &keys); err != nil {
		return nil, err
	}
	return sdk.New(keys.BotToken, sdk.OptionAPIURL(keys.APIURL)), nil
}
