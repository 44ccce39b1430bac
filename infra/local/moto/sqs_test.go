package moto_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/moto"
	"ringi/shared/runtime/expect"
)

type fifo struct {
	t   *testing.T
	c   *sqs.Client
	url *string
}

func startFIFO(t *testing.T) *fifo {
	t.Helper()
	expect.Patience(t)
	c := sqs.NewFromConfig(config(moto.StartForTest(t)))
	q := expect.Value(c.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("cards.fifo"), Attributes: map[string]string{"FifoQueue": "true", "VisibilityTimeout": "60",
			"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"},
	}))(t)
	return &fifo{t: t, c: c, url: q.QueueUrl}
}

func (q *fifo) send(group, id string) error {
	_, err := q.c.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: q.url,
		MessageBody: aws.String(group + id), MessageGroupId: &group, MessageDeduplicationId: &id})
	return err
}

// receive returns a message's body and a function that deletes the message. The body is "" if there is none.
func (q *fifo) receive(seconds int32) (string, func()) {
	q.t.Helper()
	out := expect.Value(q.c.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: q.url,
		WaitTimeSeconds: seconds}))(q.t)
	if len(out.Messages) == 0 {
		return "", nil
	}
	return aws.ToString(out.Messages[0].Body), func() {
		if _, err := q.c.DeleteMessage(context.Background(), &sqs.DeleteMessageInput{QueueUrl: q.url,
			ReceiptHandle: out.Messages[0].ReceiptHandle}); err != nil {
			q.t.Error(err)
		}
	}
}

func TestWaitingReceiveSeesAGroupBecomeFree(t *testing.T) {
	q := startFIFO(t)
	for _, id := range []string{"1", "2"} {
		expect.NoError(t, q.send("a", id))
	}
	first, done := q.receive(1)
	if blocked, _ := q.receive(0); first != "a1" || blocked != "" {
		t.Fatalf("received %q, then %q of the same group", first, blocked)
	}
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		<-time.After(100 * time.Millisecond) // gives the receive below time to start waiting
		done()
	}()
	begin := time.Now()
	second, _ := q.receive(20)
	<-freed
	took := time.Since(begin)
	expect.That(t, second == "a2" && took <= 19*time.Second, "received %q after %v", second, took)
}

func TestDeduplicationOutlivesTheMessage(t *testing.T) {
	q := startFIFO(t)
	for range 2 {
		expect.NoError(t, q.send("a", "same"))
		if body, done := q.receive(0); body != "" {
			done()
		}
	}
	expect.NoError(t, q.send("b", "same"))
	expect.NoError(t, q.send("a", "same"))
	if body, done := q.receive(0); body != "bsame" {
		t.Errorf("received %q, want the other group's", body)
	} else {
		done()
	}
	if body, _ := q.receive(0); body != "" {
		t.Errorf("received the repeated %q", body)
	}
}

func TestNoMessageIsLostWhileOthersAreDeleted(t *testing.T) {
	q := startFIFO(t)
	const senders, each = 4, 25
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				err := q.send(fmt.Sprint("g", s), fmt.Sprint("-", i))
				expect.That(t, err == nil, "%v", err)
			}
		})
	}
	seen := map[string]bool{}
	expect.Eventually(t, "all messages arrive", func() bool {
		if body, done := q.receive(1); body != "" {
			seen[body] = true
			done()
		}
		return len(seen) == senders*each
	})
	all.Wait()
}

// SQS keeps the trace header that an SDK sends from a Lambda function, by which Lambda finds loops.
func TestAMessageKeepsTheTraceOfItsSender(t *testing.T) {
	q := startFIFO(t)
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "F")
	t.Setenv("_X_AMZN_TRACE_ID", "Root=1-6a000000-000000000000000000000000;Lineage=2:0000abcd:2")
	expect.NoError(t, q.send("a", "1"))
	expect.Value(q.c.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: q.url,
		Entries: []types.SendMessageBatchRequestEntry{
			{Id: aws.String("1"), MessageBody: aws.String("b1"), MessageGroupId: aws.String("b"),
				MessageDeduplicationId: aws.String("1")},
		}}))(t)
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "")
	os.Unsetenv("AWS_LAMBDA_FUNCTION_NAME")
	expect.NoError(t, q.send("c", "1"))
	for _, want := range []string{os.Getenv("_X_AMZN_TRACE_ID"), os.Getenv("_X_AMZN_TRACE_ID"), ""} {
		out := expect.Value(q.c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: q.url,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}}))(t)
		expect.Must(t, len(out.Messages) == 1, "%d messages", len(out.Messages))
		expect.Is(t, out.Messages[0].Attributes["AWSTraceHeader"], want, "the trace of "+aws.ToString(out.Messages[0].Body))
	}
}
