// Command dynamodb-secret-slack is a bare handler with clients of DynamoDB, Slack and its secret.
package main

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/slack"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), slack.Client)
}
