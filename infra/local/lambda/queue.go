package lambda

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/template"
	"ringi/shared/runtime/clock"
)

const (
	longPoll = 20 // seconds
	// unbounded is the number of concurrent invocations if the template sets no maximum. AWS starts with five and
	// increases the number.
	unbounded = 10
)

// Queue feeds a function from a queue. SQS holds back the other messages of a group while one is being handled, so
// groups run concurrently and each keeps its order.
type Queue struct {
	Function string
	Mapping  template.QueueMapping
	URL      string
	Reader   *sqs.Client
	Invoker  Invoker
	Log      *slog.Logger
	// RetryAtOnce makes the messages of a failed batch visible at once, so that tests need not wait a minute for the
	// visibility timeout.
	RetryAtOnce bool
}

// Run receives messages until ctx ends, then waits for the running batches.
func (q *Queue) Run(ctx context.Context) {
	slots := make(chan struct{}, cmp.Or(q.Mapping.Concurrency, unbounded))
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		messages, err := q.receive(ctx)
		if err != nil || len(messages) == 0 {
			<-slots
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				q.Log.Warn("receive again", "function", q.Function, "err", err)
				_ = clock.Sleep(ctx, firstBackoff)
			}
			continue
		}
		under.Go(func() {
			defer func() { <-slots }()
			q.handle(ctx, messages)
		})
	}
}

func (q *Queue) receive(ctx context.Context) ([]types.Message, error) {
	out, err := q.Reader.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q.URL, MaxNumberOfMessages: int32(min(q.Mapping.BatchSize, 10)), WaitTimeSeconds: longPoll,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
	})
	if err != nil {
		return nil, fmt.Errorf("receive messages: %w", err)
	}
	return out.Messages, nil
}

// handle invokes the function and deletes the messages that succeeded. The others become visible again after the
// visibility timeout.
func (q *Queue) handle(ctx context.Context, messages []types.Message) {
	var records []json.RawMessage
	known := map[string]bool{}
	for _, m := range messages {
		records = append(records, q.record(m))
		known[aws.ToString(m.MessageId)] = true
	}
	o, err := batch(ctx, q.Invoker, q.Function, records, q.Mapping.PartialFailures, known)
	if err != nil && ctx.Err() == nil {
		q.Log.Warn("batch failed", "function", q.Function, "messages", len(messages), "request_id", o.id, "err", err)
	}
	if o.failed {
		if q.RetryAtOnce {
			q.release(ctx, messages)
		}
		return
	}
	for _, m := range messages {
		if !slices.Contains(o.items, aws.ToString(m.MessageId)) {
			q.delete(ctx, m)
		}
	}
}

// delete deletes a handled message, even if the mapping is being stopped.
func (q *Queue) delete(ctx context.Context, m types.Message) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if _, err := q.Reader.DeleteMessage(ctx,
		&sqs.DeleteMessageInput{QueueUrl: &q.URL, ReceiptHandle: m.ReceiptHandle}); err != nil {
		q.Log.Warn("delete a message", "function", q.Function, "message_id", aws.ToString(m.MessageId), "err", err)
	}
}

func (q *Queue) release(ctx context.Context, messages []types.Message) {
	for _, m := range messages {
		_, err := q.Reader.ChangeMessageVisibility(ctx,
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &q.URL, ReceiptHandle: m.ReceiptHandle})
		if err != nil && ctx.Err() == nil {
			q.Log.Warn("give a message back", "function", q.Function, "message_id", aws.ToString(m.MessageId), "err", err)
		}
	}
}

// record encodes a message as the function gets it.
func (q *Queue) record(m types.Message) json.RawMessage {
	own := map[string]any{}
	for name, v := range m.MessageAttributes {
		own[name] = map[string]any{
			"stringValue": v.StringValue, "binaryValue": v.BinaryValue, "stringListValues": []string{},
			"binaryListValues": []string{}, "dataType": v.DataType,
		}
	}
	record, _ := json.Marshal(map[string]any{ // marshaling strings and bytes can't fail
		"messageId": m.MessageId, "receiptHandle": m.ReceiptHandle, "body": m.Body, "md5OfBody": m.MD5OfBody,
		"attributes":        m.Attributes,
		"messageAttributes": own, "eventSource": "aws:sqs", "eventSourceARN": q.Mapping.Source, "awsRegion": template.Region,
	})
	return record
}
