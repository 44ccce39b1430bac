//go:build slack

package main

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/slack-go/slack"
)

func init() { read = slackClient }

// slackClient reads the secret with the bot's token and makes a Slack client with it.
func slackClient(ctx context.Context, cfg aws.Config) (any, error) {
	out, err := secret(ctx, cfg)
	if err != nil {
		return nil, err
	}
	var keys struct {
		BotToken string `json:"bot_token"`
		APIURL   string `json:"api_url"`
	}
	text := out.(*secretsmanager.GetSecretValueOutput).SecretString
	if err := json.Unmarshal([]byte(aws.ToString(text)), &keys); err != nil {
		return nil, err
	}
	return slack.New(keys.BotToken, slack.OptionAPIURL(keys.APIURL)), nil
}
