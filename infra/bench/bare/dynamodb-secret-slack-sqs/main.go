// Command dynamodb-secret-slack-sqs is a bare handler with: DynamoDB, the Slack secret, Slack, SQS.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/slack-go/slack"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(func(ctx context.Context, cfg aws.Config) (any, error) {
		out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SLACK_SECRET_ID"))})
		if err != nil {
			return nil, err
		}
		var keys struct {
			BotToken string `json:"bot_token"`
		}
		if err := json.Unmarshal([]byte(aws.ToString(out.SecretString)), &keys); err != nil {
			return nil, err
		}
		return []any{dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg), slack.New(keys.BotToken, slack.OptionAPIURL(os.Getenv("SLACK_API_URL")))}, nil
	})
}
