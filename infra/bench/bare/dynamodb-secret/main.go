// Command dynamodb-secret is a bare handler with a client of DynamoDB and the Slack secret.
package main

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), handler.Secret)
}
