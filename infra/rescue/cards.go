package main

import (
	"context"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// letters is a queue of dead letters.
type letters struct {
	sqs *sqs.Client
	url string
}

// hidden is for how many seconds a letter that is being dealt with is not given to others.
const hidden = 60

// each hands every letter to do and deletes it afterwards; an error leaves the
// letter where it is and ends it.
func (l letters) each(ctx context.Context, do func(types.Message) error) (n int, err error) {
	for {
		got, err := l.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &l.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 2, VisibilityTimeout: hidden,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameMessageGroupId},
		})
		if err != nil {
			return n, fmt.Errorf("receive dead letters: %w", err)
		}
		if len(got.Messages) == 0 {
			return n, nil
		}
		for _, m := range got.Messages {
			if err := do(m); err != nil {
				return n, fmt.Errorf("dead letter %s: %w", aws.ToString(m.MessageId), err)
			}
			if _, err := l.sqs.DeleteMessage(ctx,
				&sqs.DeleteMessageInput{QueueUrl: &l.url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return n, fmt.Errorf("delete dead letter %s: %w", aws.ToString(m.MessageId), err)
			}
			n++
		}
	}
}

// cards moves dead cards back to the card queue. Drawing twice is harmless, so is
// moving twice.
type cards struct {
	sqs      *sqs.Client
	from, to string
	out      io.Writer
}

func (c *cards) move(ctx context.Context) error {
	n, err := letters{c.sqs, c.from}.each(ctx, func(m types.Message) error {
		_, err := c.sqs.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &c.to, MessageBody: m.Body, MessageDeduplicationId: m.MessageId,
			MessageGroupId: aws.String(m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]),
		})
		return err
	})
	fmt.Fprintf(c.out, "%d cards are in the queue again\n", n)
	return err
}
