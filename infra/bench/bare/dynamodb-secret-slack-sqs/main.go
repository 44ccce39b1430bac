// Command dynamodb-secret-slack-sqs is a bare handler with clients of DynamoDB, Slack and its secret, and SQS.
package main

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/slack"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), handler.With(sqs.NewFromConfig), slack.Client)
}
