// Command bare is a Lambda function without its work: it makes clients, and echoes events. Functions are measured
// beside it. It links the clients of DynamoDB and Slack, and with the build tags mcp and models those.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/slack-go/slack"
)

// made keeps the clients alive, and what a build tag links.
var made []any

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	made = append(made, dynamodb.NewFromConfig(cfg))
	if id := os.Getenv("SLACK_SECRET_ID"); id != "" { // like the function beside it
		client, err := slackClient(context.Background(), cfg, id)
		if err != nil {
			log.Fatal(err)
		}
		made = append(made, client)
	}
	lambda.Start(func(_ context.Context, event json.RawMessage) (json.RawMessage, error) { return event, nil })
}

// slackClient reads the secret with the bot's token and makes a Slack client with it.
func slackClient(ctx context.Context, cfg aws.Config, id string) (*slack.Client, error) {
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: &id})
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
