// Command dynamodb-secret-slack-kms-models-mcp is a bare handler with clients of DynamoDB, Slack and its secret, KMS,
// the models' vendors and MCP.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/llm"
	"ringi/infra/bench/bare/slack"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), handler.With(kms.NewFromConfig), llm.Clients,
		slack.Client, func(context.Context, aws.Config) (any, error) { return call, nil })
}

func call(ctx context.Context) error {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{}, nil)
	if err == nil {
		_, err = s.CallTool(ctx, &mcp.CallToolParams{})
	}
	return err
}
