//go:build slack

package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/slack-go/slack"
)

func init() { clients = append(clients, slackClient) }

// slackClient reads the secret with the bot's token and makes a Slack client with it.
func slackClient(ctx context.Context, cfg aws.Config) (any, error) {
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
	return slack.New(keys.BotToken, slack.OptionAPIURL(keys.APIURL)), nil
}
