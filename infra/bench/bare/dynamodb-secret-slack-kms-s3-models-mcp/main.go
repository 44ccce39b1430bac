// Command dynamodb-secret-slack-kms-s3-models-mcp is a bare handler with: DynamoDB, the Slack secret, Slack, KMS, S3, the models' vendors, MCP.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/slack-go/slack"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/models"
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
		call := func(ctx context.Context) error {
			s, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{}, nil)
			if err == nil {
				_, err = s.CallTool(ctx, &mcp.CallToolParams{})
			}
			return err
		}
		return append(models.Clients(cfg), dynamodb.NewFromConfig(cfg), kms.NewFromConfig(cfg), s3.NewFromConfig(cfg), slack.New(keys.BotToken, slack.OptionAPIURL(os.Getenv("SLACK_API_URL"))), call), nil
	})
}
