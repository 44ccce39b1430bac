// Command dynamodb-models is a bare handler with clients of DynamoDB and the models' vendors.
package main

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/llm"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), llm.Clients)
}
