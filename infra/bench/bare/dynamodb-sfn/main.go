// Command dynamodb-sfn is a bare handler with clients of DynamoDB and Step Functions.
package main

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), handler.With(sfn.NewFromConfig))
}
