package lambda_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// probe is a function that records its batches and returns planned answers.
type probe struct {
	mu      sync.Mutex
	batches []string // the marks of each call's records
	ids     []string // of all records
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
	p.batches, p.ids = append(p.batches, strings.Join(marks, " ")), append(p.ids, ids...)
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
	return aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(process.MotoForTests(t)),
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
	t.Parallel()
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
			s := &lambda.Stream{Function: "F", Mapping: m, Filter: filter(t, m.Filters),
				Reader: dynamodbstreams.NewFromConfig(cfg), Invoker: p, Log: slog.New(slog.DiscardHandler), OnFailure: lost.hear}
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
	q := &lambda.Queue{Function: "F", Mapping: m, URL: aws.ToString(out.QueueUrl), Reader: c,
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
	for _, tt := range []struct {
		name, messages string
		mapping        template.QueueMapping
		answer         func(int, []string) (string, bool)
		want           []string // the expected batches
	}{
		{"one by one, a group in order", "a1 a2 a3", template.QueueMapping{BatchSize: 1}, nil, []string{"a1", "a2", "a3"}},
		{"what failed comes back, in order", "a1 a2 a3", template.QueueMapping{BatchSize: 10, PartialFailures: true},
			first(fails("a2", "a3"), `{"batchItemFailures":[]}`), []string{"a1 a2 a3", "a2 a3"}},
		{"a failed batch comes back", "a1", template.QueueMapping{BatchSize: 1},
			func(call int, _ []string) (string, bool) { return `{"errorType":"Internal"}`, call == 1 }, []string{"a1", "a1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &probe{answer: tt.answer}
			url := startQueue(t, c, p, tt.mapping, strings.Fields(tt.messages)...)
			emptied(t, c, url, p, len(tt.want))
			expect.Same(t, tt.want, p.seen())
		})
	}
	t.Run("groups side by side up to the maximum", func(t *testing.T) {
		p := &probe{hold: make(chan struct{})}
		url := startQueue(t, c, p, template.QueueMapping{BatchSize: 1, Concurrency: 2}, "a1", "b1", "c1")
		expect.Eventually(t, "two at once", func() bool { return len(p.seen()) == 2 })
		close(p.hold)
		emptied(t, c, url, p, 3)
		expect.That(t, p.peak == 2 && len(p.seen()) == 3, "at most %d ran at once, of %q", p.peak, p.seen())
	})
}

// changing is a stream in which the items of one partition change in turn.
type changing struct {
	lambda.StreamReader
	items, changes int
}

func (c changing) DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
	...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return &dynamodbstreams.DescribeStreamOutput{
		StreamDescription: &streamtypes.StreamDescription{Shards: []streamtypes.Shard{{ShardId: aws.String("s")}}}}, nil
}

func (c changing) GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
	...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String("0")}, nil
}

func (c changing) GetRecords(_ context.Context, in *dynamodbstreams.GetRecordsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	out := &dynamodbstreams.GetRecordsOutput{}
	n, _ := strconv.Atoi(*in.ShardIterator)
	for ; n < c.changes && len(out.Records) < int(*in.Limit); n++ {
		at := time.Now()
		out.Records = append(out.Records, streamtypes.Record{Dynamodb: &streamtypes.StreamRecord{
			Keys: map[string]streamtypes.AttributeValue{
				"SK": &streamtypes.AttributeValueMemberS{Value: fmt.Sprint(n % c.items)}},
			SequenceNumber: aws.String(fmt.Sprint(n)), ApproximateCreationDateTime: &at}})
	}
	out.NextShardIterator = aws.String(fmt.Sprint(n))
	return out, nil
}

// As in AWS, an item's changes keep their order. Changes of other items in the partition may overtake them.
func TestTheItemsOfAPartitionAreHandledSideBySideEachInOrder(t *testing.T) {
	const items, changes = 20, 2000
	p, handled := &probe{hold: make(chan struct{})}, map[int]int{}
	run(t, (&lambda.Stream{Function: "F", Mapping: template.StreamMapping{From: "TRIM_HORIZON", BatchSize: 50, Parallel: 4,
		Retries: -1}, Reader: changing{items: items, changes: changes}, Invoker: p, Log: slog.New(slog.DiscardHandler)}).Run)
	expect.Eventually(t, "two at once", func() bool { return len(p.seen()) >= 2 })
	close(p.hold)
	expect.Eventually(t, "all changes are seen", func() bool {
		return len(strings.Fields(strings.Join(p.seen(), " "))) >= changes
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.ids {
		n := expect.Value(strconv.Atoi(id))(t)
		was, known := handled[n%items]
		expect.That(t, !known && n < items || n == was+items, "change %d of an item comes after %d", n, was)
		handled[n%items] = n
	}
	expect.That(t, len(p.ids) == changes && p.peak <= 4, "%d changes, %d calls at once", len(p.ids), p.peak)
}

func TestFilterPasses(t *testing.T) {
	const record = `{"eventName":"MODIFY","n":5,"tags":["a","b"],"gone":null,` +
		`"dynamodb":{"NewImage":{"type":{"S":"head"},"rev":{"N":"12"}}}}`
	for pattern, want := range map[string]bool{
		`{"eventName":["INSERT","MODIFY"]}`:                        true,
		`{"dynamodb":{"NewImage":{"type":{"S":["head","wait"]}}}}`: true,
		`{"dynamodb":{"NewImage":{"type":{"S":["wait"]}}}}`:        false,
		`{"eventName":["MODIFY"],"n":[6]}`:                         false,
		`{"dynamodb":{"NewImage":{"rev":{"N":[12]}}}}`:             false, // text is no number
		`{"tags":["b"]}`:                                    true,
		`{"nowhere":[null]}`:                                false,
		`{"eventName":[{"prefix":"MOD"}]}`:                  true,
		`{"eventName":["INSERT",{"prefix":"OD"}]}`:          false,
		`{"n":[{"prefix":""}]}`:                             false,
		`{"dynamodb":["head"]}`:                             false,
		`{"eventName":["INSERT"]} {"eventName":["MODIFY"]}`: true, // alternatives
		"": true,
	} {
		f := expect.Value(lambda.ParseFilter(strings.Fields(pattern)))(t)
		got, err := f.Passes([]byte(record))
		expect.That(t, err == nil && got == want, "%s: %v, %v; want %v", pattern, got, err, want)
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`{"a":[1]`:                          "unexpected end",
		`null`:                              "no object",
		`{"a":1}`:                           "values stand in lists",
		`{"a":[]}`:                          "plain values and prefix only",
		`{"a":["x",{"prefix":1}]}`:          "a: the local stack's filters know plain values and prefix only",
		`{"a":{"b":[{"exists":false}]}}`:    "a: b: the local stack's filters know plain values and prefix only",
		`{"$or":[{"a":["x"]},{"b":["x"]}]}`: "$or: the local stack's filters",
	} {
		_, err := lambda.ParseFilter([]string{pattern})
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want %q in it", pattern, err, want)
	}
}
