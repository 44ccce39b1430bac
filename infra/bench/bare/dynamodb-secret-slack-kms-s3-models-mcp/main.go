// Command dynamodb-secret-slack-kms-s3-models-mcp is a bare handler with: DynamoDB, the Slack secret, Slack, KMS, S3,
// the models' vendors, MCP.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/llm"
	"ringi/infra/bench/bare/slack"
)

func main() {
	handler.Start(func(ctx context.Context, cfg aws.Config) (any, error) {
		client, err := slack.Client(ctx, cfg)
		if err != nil {
			return nil, err
		}
		call := func(ctx context.Context) error {
			s, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx,
				&mcp.StreamableClientTransport{}, nil)
			if err == nil {
				_, err = s.CallTool(ctx, &mcp.CallToolParams{})
			}
			return err
		}
		return append(llm.Clients(cfg), dynamodb.NewFromConfig(cfg), kms.NewFromConfig(cfg), s3.NewFromConfig(cfg), client,
			call), nil
	})
}
