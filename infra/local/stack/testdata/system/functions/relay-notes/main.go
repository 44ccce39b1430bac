// Command relay-notes starts a run and sends a message for each new note.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func main() { lambda.Start(handle) }

func handle(ctx context.Context, e events.DynamoDBEvent) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	for _, r := range e.Records {
		id := r.Change.NewImage["id"].String()
		if id == "poison" {
			return errors.New("a note that nobody can relay")
		}
		_, err := sfn.NewFromConfig(cfg).StartExecution(ctx, &sfn.StartExecutionInput{
			StateMachineArn: aws.String(os.Getenv("STATE_MACHINE_ARN")), Name: aws.String(id + "-1"),
			Input: aws.String(`{"tenant":"t","task":"` + id + `","run":1}`),
		})
		if err != nil {
			return err
		}
		_, err = sqs.NewFromConfig(cfg).SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: aws.String(os.Getenv("QUEUE_URL")), MessageBody: &id, MessageGroupId: &id,
			MessageDeduplicationId: &r.EventID,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
