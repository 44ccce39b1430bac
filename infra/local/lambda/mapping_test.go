package lambda_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"ringi/infra/local/lambda"
	"ringi/infra/local/moto"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// probe is a function that records its batches and returns planned answers.
type probe struct {
	mu      sync.Mutex
	batches []string // the marks of each call's records
	running int
	peak    int
	answer  func(call int, marks []string) (string, bool)
	hold    chan struct{}       // calls wait until it is closed; may be nil
	release func(handle string) // makes a failed message visible in its queue
}

func (p *probe) Invoke(_ context.Context, _ string, payload []byte) (lambda.Result, error) {
	var event struct {
		Records []struct {
			MessageID     string `json:"messageId"`
			ReceiptHandle string
			Body          string
			Dynamodb      struct {
				Keys           map[string]map[string]string
				SequenceNumber string
			}
		}
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return lambda.Result{}, err
	}
	var marks, ids []string
	for _, r := range event.Records {
		mark, id := r.Body, r.MessageID
		if mark == "" {
			mark, id = r.Dynamodb.Keys["SK"]["S"], r.Dynamodb.SequenceNumber
		}
		marks, ids = append(marks, mark), append(ids, id)
	}
	p.mu.Lock()
	p.batches = append(p.batches, strings.Join(marks, " "))
	call := len(p.batches)
	p.running++
	p.peak = max(p.peak, p.running)
	p.mu.Unlock()
	if p.hold != nil {
		<-p.hold
	}
	p.mu.Lock()
	p.running--
	p.mu.Unlock()
	answer, failed := `{}`, false
	if p.answer != nil {
		answer, failed = p.answer(call, marks)
	}
	for i, mark := range marks {
		if handle := event.Records[i].ReceiptHandle; handle != "" && strings.Contains(answer, "<"+mark+">") {
			p.release(handle)
		}
		answer = strings.ReplaceAll(answer, "<"+mark+">", ids[i])
	}
	return lambda.Result{Payload: []byte(answer), Failed: failed, RequestID: "r"}, nil
}

func (p *probe) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.batches...)
}

func config(t *testing.T) aws.Config {
	return aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(moto.ForTests(t)),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

// run runs f in the background until the test ends.
func run(t *testing.T, f func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
}

func filter(t *testing.T, patterns []string) lambda.Filter {
	t.Helper()
	return expect.Value(lambda.ParseFilter(patterns))(t)
}

func fails(marks ...string) string {
	var items []string
	for _, m := range marks {
		items = append(items, `{"itemIdentifier":"<`+m+`>"}`)
	}
	return `{"batchItemFailures":[` + strings.Join(items, ",") + `]}`
}

// first returns answer for the first call and later for all others.
func first(answer, later string) func(int, []string) (string, bool) {
	return func(call int, _ []string) (string, bool) {
		if call == 1 {
			return answer, false
		}
		return later, false
	}
}

// refuses fails each batch that contains the mark.
func refuses(mark string) func(int, []string) (string, bool) {
	return func(_ int, marks []string) (string, bool) {
		return `{"errorType":"Internal"}`, slices.Contains(marks, mark)
	}
}

// table creates a table with rows and returns its stream's ARN.
func table(t *testing.T, db *dynamodb.Client, rows []string) string {
	t.Helper()
	name := aws.String(strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
	out := expect.Value(db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: "S"},
			{AttributeName: aws.String("SK"), AttributeType: "S"}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: "HASH"},
			{AttributeName: aws.String("SK"), KeyType: "RANGE"}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"},
	}))(t)
	for _, row := range rows {
		item := map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "p"}, "SK": &types.AttributeValueMemberS{Value: row},
			"type": &types.AttributeValueMemberS{Value: row[:1]},
		}
		expect.Value(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: item}))(t)
	}
	return aws.ToString(out.TableDescription.LatestStreamArn)
}

func TestStream(t *testing.T) {
	cfg := config(t)
	tests := []struct {
		name, rows string
		mapping    template.StreamMapping
		answer     func(int, []string) (string, bool)
		want       []string // the expected batches
		lost       []string // the reports to the failure destination
	}{
		{name: "in batches, in order", rows: "a1 a2 a3", mapping: template.StreamMapping{BatchSize: 2, Retries: -1},
			want: []string{"a1 a2", "a3"}},
		{
			name: "filtered", rows: "a1 b1 a2 c1",
			mapping: template.StreamMapping{BatchSize: 10, Retries: -1,
				Filters: []string{`{"dynamodb":{"NewImage":{"type":{"S":["a","c"]}}}}`}}, want: []string{"a1 a2 c1"},
		},
		{
			name: "again from the lowest that failed", rows: "a1 a2 a3 a4", mapping: template.StreamMapping{BatchSize: 10,
				Retries: -1, PartialFailures: true},
			answer: first(fails("a4", "a2"), `{"batchItemFailures":[]}`), want: []string{"a1 a2 a3 a4", "a2 a3 a4"},
		},
		{
			name: "whole again for an unknown identifier", rows: "a1 a2", mapping: template.StreamMapping{BatchSize: 10,
				Retries: -1, PartialFailures: true},
			answer: first(`{"batchItemFailures":[{"itemIdentifier":""}]}`, `null`), want: []string{"a1 a2", "a1 a2"},
		},
		{name: "given up after its retries", rows: "a1 a2 a3", mapping: template.StreamMapping{BatchSize: 2, Retries: 1},
			answer: refuses("a1"), want: []string{"a1 a2", "a1 a2", "a3"}, lost: []string{"RetryAttemptsExhausted 2"}},
		{name: "halved until the bad one is alone", rows: "a1 a2 a3 a4",
			mapping: template.StreamMapping{BatchSize: 10, Retries: 0, Bisect: true}, answer: refuses("a2"),
			want: []string{"a1 a2 a3 a4", "a1 a2", "a1", "a2", "a3 a4"}, lost: []string{"RetryAttemptsExhausted 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &probe{answer: tt.answer}
			m := tt.mapping
			m.From, m.Source = "TRIM_HORIZON", table(t, dynamodb.NewFromConfig(cfg), strings.Fields(tt.rows))
			var lost losses
			s := &lambda.Stream{Function: "F", Mapping: m, Filter: filter(t, m.Filters), Region: "us-east-1",
				Reader: dynamodbstreams.NewFromConfig(cfg), Invoker: p, Log: slog.New(slog.DiscardHandler), Now: time.Now,
				OnFailure: lost.hear}
			run(t, s.Run)
			expect.Eventually(t, "the last batch", func() bool { return len(p.seen()) >= len(tt.want) })
			expect.Same(t, tt.want, p.seen())
			lost.mu.Lock()
			defer lost.mu.Unlock()
			expect.Same(t, tt.lost, lost.said)
		})
	}
}

// losses records the reports to a failure destination.
type losses struct {
	mu   sync.Mutex
	said []string
}

func (l *losses) hear(_ context.Context, body string) error {
	var said struct {
		RequestContext     struct{ Condition string }
		DDBStreamBatchInfo struct{ BatchSize int }
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := json.Unmarshal([]byte(body), &said)
	l.said = append(l.said, fmt.Sprint(said.RequestContext.Condition, " ", said.DDBStreamBatchInfo.BatchSize))
	return err
}

// startQueue creates a queue whose messages p handles. A message's first character is its group.
func startQueue(t *testing.T, c *sqs.Client, p *probe, m template.QueueMapping, messages ...string) *string {
	t.Helper()
	name := strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(t.Name()) + ".fifo"
	out := expect.Value(c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name,
		Attributes: map[string]string{"FifoQueue": "true", "VisibilityTimeout": "60"}}))(t)
	for i, body := range messages {
		expect.Value(c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: out.QueueUrl, MessageBody: aws.String(body),
			MessageGroupId: aws.String(body[:1]), MessageDeduplicationId: aws.String(fmt.Sprint(i))}))(t)
	}
	p.release = func(handle string) {
		_, err := c.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: out.QueueUrl,
			ReceiptHandle: &handle})
		expect.That(t, err == nil, "%v", err)
	}
	q := &lambda.Queue{Function: "F", Mapping: m, URL: aws.ToString(out.QueueUrl), Region: "us-east-1", Reader: c,
		Invoker: p, Log: slog.New(slog.DiscardHandler), RetryAtOnce: true}
	run(t, q.Run)
	return out.QueueUrl
}

// emptied waits for this many batches and an empty queue. The queue's two counts are not taken at the same time, so a
// message that just became visible may be in neither.
func emptied(t *testing.T, c *sqs.Client, url *string, p *probe, batches int) {
	t.Helper()
	expect.Eventually(t, "an empty queue", func() bool {
		if len(p.seen()) < batches {
			return false
		}
		out, err := c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url,
			AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		return err == nil && out.Attributes["ApproximateNumberOfMessages"] == "0" &&
			out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
	})
}

func TestQueue(t *testing.T) {
	c := sqs.NewFromConfig(config(t))
	t.Run("one by one, a group in order", func(t *testing.T) {
		p := &probe{}
		url := startQueue(t, c, p, template.QueueMapping{BatchSize: 1}, "a1", "a2", "a3")
		emptied(t, c, url, p, 3)
		expect.Same(t, []string{"a1", "a2", "a3"}, p.seen())
	})
	t.Run("groups side by side up to the maximum", func(t *testing.T) {
		p := &probe{hold: make(chan struct{})}
		url := startQueue(t, c, p, template.QueueMapping{BatchSize: 1, Concurrency: 2}, "a1", "b1", "c1")
		expect.Eventually(t, "two at once", func() bool { return len(p.seen()) == 2 })
		close(p.hold)
		emptied(t, c, url, p, 3)
		expect.That(t, p.peak == 2 && len(p.seen()) == 3, "at most %d ran at once, of %q", p.peak, p.seen())
	})
	t.Run("what failed comes back, in order", func(t *testing.T) {
		p := &probe{answer: first(fails("a2", "a3"), `{"batchItemFailures":[]}`)}
		url := startQueue(t, c, p, template.QueueMapping{BatchSize: 10, PartialFailures: true}, "a1", "a2", "a3")
		emptied(t, c, url, p, 2)
		expect.Same(t, []string{"a1 a2 a3", "a2 a3"}, p.seen())
	})
	t.Run("a failed batch comes back", func(t *testing.T) {
		p := &probe{answer: func(call int, marks []string) (string, bool) { return `{"errorType":"Internal"}`, call == 1 }}
		url := startQueue(t, c, p, template.QueueMapping{BatchSize: 1}, "a1")
		emptied(t, c, url, p, 2)
		expect.Same(t, []string{"a1", "a1"}, p.seen())
	})
}

func TestScheduleRunsAtItsRate(t *testing.T) {
	p := &probe{}
	s := &lambda.Schedule{Function: "F", Schedule: template.Schedule{Event: "Tick", Every: 20 * time.Millisecond},
		Region: "us-east-1", Account: "1", Invoker: p, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	_, err := s.Fire(t.Context())
	expect.That(t, err == nil && len(p.seen()) == 1, "fired: %v, %d calls", err, len(p.seen()))
	run(t, s.Run)
	expect.Eventually(t, "three ticks", func() bool { return len(p.seen()) >= 4 })
}
