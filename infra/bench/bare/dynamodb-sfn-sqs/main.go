// Command dynamodb-sfn-sqs is a bare handler with clients of DynamoDB, Step Functions and SQS.
package main

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(handler.With(dynamodb.NewFromConfig), handler.With(sfn.NewFromConfig), handler.With(sqs.NewFromConfig))
}
