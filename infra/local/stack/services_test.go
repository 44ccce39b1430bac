package stack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

type fifo struct {
	t   *testing.T
	c   *sqs.Client
	url *string
}

func startFIFO(t *testing.T) *fifo {
	t.Helper()
	c := sqs.NewFromConfig(config(process.MotoForTests(t)))
	q := expect.Value(c.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String(t.Name() + ".fifo"), Attributes: map[string]string{"FifoQueue": "true",
			"VisibilityTimeout": "60", "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"},
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
		_, err := q.c.DeleteMessage(context.Background(), &sqs.DeleteMessageInput{QueueUrl: q.url,
			ReceiptHandle: out.Messages[0].ReceiptHandle})
		expect.That(q.t, err == nil, "%v", err)
	}
}

func TestWaitingReceiveSeesAGroupBecomeFree(t *testing.T) {
	q := startFIFO(t)
	for _, id := range []string{"1", "2"} {
		expect.NoError(t, q.send("a", id))
	}
	first, done := q.receive(1)
	blocked, _ := q.receive(0)
	expect.Must(t, first == "a1" && blocked == "", "received %q, then %q of the same group", first, blocked)
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
	for _, group := range []string{"a", "b"} {
		for _, want := range []string{group + "same", ""} { // sent again, it is not received again
			expect.NoError(t, q.send(group, "same"))
			body, done := q.receive(0)
			expect.Is(t, body, want)
			if done != nil {
				done()
			}
		}
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
	for len(seen) < senders*each {
		body, done := q.receive(20)
		expect.Must(t, body != "", "%d messages of %d arrived", len(seen), senders*each)
		seen[body] = true
		done()
	}
	all.Wait()
}

// waiting is a state machine whose only state sends its task token to a queue and waits.
const waiting = `{"StartAt":"Ask","States":{"Ask":{"Type":"Task",
"Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",
"Parameters":{"QueueUrl":%q,"MessageBody":{"token.$":"$$.Task.Token"}},"TimeoutSeconds":60,"End":true}}}`

type machine struct {
	t     *testing.T
	sfn   *sfn.Client
	sqs   *sqs.Client
	arn   string
	queue string
}

func startMachine(t *testing.T) *machine {
	t.Helper()
	cfg := config(process.MotoForTests(t))
	m := &machine{t: t, sfn: sfn.NewFromConfig(cfg), sqs: sqs.NewFromConfig(cfg)}
	q := expect.Value(m.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(t.Name())}))(t)
	m.queue = aws.ToString(q.QueueUrl)
	made := expect.Value(m.sfn.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String(t.Name()),
		RoleArn:    aws.String("arn:aws:iam::123456789012:role/local"),
		Definition: aws.String(fmt.Sprintf(waiting, m.queue))}))(t)
	m.arn = aws.ToString(made.StateMachineArn)
	return m
}

func (m *machine) start(name string) (string, error) {
	out, err := m.sfn.StartExecution(context.Background(), &sfn.StartExecutionInput{StateMachineArn: &m.arn, Name: &name,
		Input: aws.String(`{}`)})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ExecutionArn), nil
}

func (m *machine) token() string {
	m.t.Helper()
	out, err := m.sqs.ReceiveMessage(m.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &m.queue, WaitTimeSeconds: 10})
	expect.Must(m.t, err == nil && len(out.Messages) == 1, "no token: %v", err)
	var token string
	if _, err := fmt.Sscanf(aws.ToString(out.Messages[0].Body), `{"token": %q}`, &token); err != nil {
		m.t.Fatalf("token in %s: %v", aws.ToString(out.Messages[0].Body), err)
	}
	return token
}

func (m *machine) becomes(arn string, want types.ExecutionStatus) {
	m.t.Helper()
	expect.Eventually(m.t, "the execution is "+string(want), func() bool {
		return expect.Value(m.sfn.DescribeExecution(m.t.Context(),
			&sfn.DescribeExecutionInput{ExecutionArn: &arn}))(m.t).Status == want
	})
}

func TestTokenTakesOneAnswer(t *testing.T) {
	m := startMachine(t)
	arn := expect.Value(m.start("one"))(t)
	token := m.token()
	answer := func(token string) error {
		return expect.Err(m.sfn.SendTaskSuccess(context.Background(), &sfn.SendTaskSuccessInput{TaskToken: &token,
			Output: aws.String(`{}`)}))
	}
	var taken atomic.Int32
	expect.AtOnce(16, func(int) {
		if err := answer(token); err == nil {
			taken.Add(1)
		} else {
			expect.That(t, errors.As(err, new(*types.TaskTimedOut)), "a late answer: %v", err)
		}
	})
	expect.Is(t, taken.Load(), 1, "answers taken")
	m.becomes(arn, types.ExecutionStatusSucceeded)
	err := answer(token)
	expect.That(t, errors.As(err, new(*types.TaskTimedOut)), "an answer after the end: %v", err)
	err = answer("nobody's")
	expect.That(t, errors.As(err, new(*types.InvalidToken)), "an unknown token: %v", err)
}

func TestStopEndsAWaitingRun(t *testing.T) {
	m := startMachine(t)
	arn := expect.Value(m.start("stopped"))(t)
	token := m.token()
	expect.Value(m.sfn.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn}))(t)
	m.becomes(arn, types.ExecutionStatusAborted)
	_, err := m.sfn.SendTaskSuccess(t.Context(), &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(`{}`)})
	expect.That(t, errors.As(err, new(*types.TaskTimedOut)), "answer to a stopped run: %v", err)
	err = expect.Err(m.start("stopped"))
	expect.That(t, errors.As(err, new(*types.ExecutionAlreadyExists)), "start an ended name: %v", err)
}

func TestOneNameIsOneRun(t *testing.T) {
	m := startMachine(t)
	expect.AtOnce(10, func(int) {
		_, err := m.start("same")
		expect.That(t, err == nil, "%v", err)
	})
	out := expect.Value(m.sfn.ListExecutions(t.Context(), &sfn.ListExecutionsInput{StateMachineArn: &m.arn}))(t)
	expect.That(t, len(out.Executions) == 1, "%d runs, want 1", len(out.Executions))
}

// Otherwise the message would stay invisible until its visibility timeout.
func TestAMessageIsNotHandedToAReceiverThatIsGone(t *testing.T) {
	q := startFIFO(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := q.c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.url, WaitTimeSeconds: 20})
	expect.Must(t, err != nil, "an empty queue has a message")
	expect.NoError(t, q.send("a", "1"))
	body, _ := q.receive(5)
	expect.Is(t, body, "a1")
}

func TestAStartThatCannotBeMadeSaysWhy(t *testing.T) {
	t.Setenv("RINGI_LOCAL_DIR", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	err := expect.Err(process.Moto(t.Context(), process.MotoOptions{}))
	expect.Fails(t, err, process.ErrMissing)
	expect.Has(t, err.Error(), "install python3")
	// This Python makes environments, but its pip fails, as it does without a network.
	bin := t.TempDir()
	script := `#!/bin/sh
case "$*" in
*"-m venv "*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
"-c "*) echo 0 ;;
*"-m pip "*) echo "ERROR: No matching distribution found for moto" >&2; exit 1 ;;
esac
`
	expect.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	err = expect.Err(process.Moto(t.Context(), process.MotoOptions{}))
	expect.That(t, err != nil && strings.Contains(err.Error(), "pip could not install moto") &&
		strings.Contains(err.Error(), "No matching distribution"), "got %v", err)
}
