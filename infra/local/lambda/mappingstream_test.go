package lambda

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// changing is a stream in which the items of one partition change in turn.
type changing struct{ items, changes int }

func (c changing) DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
	...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return &dynamodbstreams.DescribeStreamOutput{
		StreamDescription: &types.StreamDescription{Shards: []types.Shard{{ShardId: aws.String("s")}}}}, nil
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
		key := map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "p"}, "SK": &types.AttributeValueMemberS{Value: fmt.Sprint("item",
				n%c.items)},
		}
		at := time.Now()
		out.Records = append(out.Records, types.Record{Dynamodb: &types.StreamRecord{Keys: key,
			SequenceNumber: aws.String(fmt.Sprint(n)), ApproximateCreationDateTime: &at}})
	}
	out.NextShardIterator = aws.String(fmt.Sprint(n))
	return out, nil
}

// orderly is a function that checks the order of each item's changes and counts concurrent calls.
type orderly struct {
	mu            sync.Mutex
	last          map[string]int
	running, peak int
	seen          int
	wrong         []string
	two           chan struct{} // closed once two calls run at the same time
}

func (o *orderly) Invoke(_ context.Context, _ string, payload []byte) (Result, error) {
	var event struct {
		Records []struct {
			Dynamodb struct {
				Keys           map[string]map[string]string
				SequenceNumber string
			}
		}
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return Result{}, err
	}
	o.mu.Lock()
	if o.running++; o.running == 2 && o.peak < 2 {
		close(o.two)
	}
	o.peak = max(o.peak, o.running)
	o.mu.Unlock()
	select {
	case <-o.two:
	case <-time.After(10 * time.Second): // there is only one worker
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range event.Records {
		item := r.Dynamodb.Keys["SK"]["S"]
		n, _ := strconv.Atoi(r.Dynamodb.SequenceNumber)
		if was, known := o.last[item]; known && n <= was {
			o.wrong = append(o.wrong, fmt.Sprintf("%s: %d after %d", item, n, was))
		}
		o.last[item] = n
	}
	o.seen += len(event.Records)
	o.running--
	return Result{Payload: []byte(`{}`)}, nil
}

// As in AWS, an item's changes keep their order. Changes of other items in the partition may overtake them.
func TestTheItemsOfAPartitionAreHandledSideBySideEachInOrder(t *testing.T) {
	const items, changes = 20, 2000
	o := &orderly{last: map[string]int{}, two: make(chan struct{})}
	s := &Stream{
		Function: "F", Mapping: template.StreamMapping{From: "TRIM_HORIZON", BatchSize: 50, Parallel: 4,
			Retries: -1}, Reader: changing{items, changes}, Invoker: o,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	expect.Eventually(t, "all changes are seen", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.seen >= changes
	})
	cancel()
	<-ended
	expect.That(t, len(o.wrong) == 0 && o.seen == changes && o.peak >= 2 && o.peak <= 4,
		"%d changes of %d were told, %d calls at once at the most, out of order: %v", o.seen, changes, o.peak, o.wrong)
}

func TestFilterPasses(t *testing.T) {
	const record = `{"eventName":"MODIFY","n":5,"tags":["a","b"],"gone":null,` +
		`"dynamodb":{"NewImage":{"type":{"S":"head"},"rev":{"N":"12"}}}}`
	tests := []struct {
		name, pattern string
		want          bool
	}{
		{"value in a list", `{"eventName":["INSERT","MODIFY"]}`, true},
		{"nested list, as the relay's", `{"dynamodb":{"NewImage":{"type":{"S":["head","wait"]}}}}`, true},
		{"nested list without it", `{"dynamodb":{"NewImage":{"type":{"S":["wait"]}}}}`, false},
		{"all keys must match", `{"eventName":["MODIFY"],"n":[6]}`, false},
		{"text is no number", `{"dynamodb":{"NewImage":{"rev":{"N":[12]}}}}`, false},
		{"one element of a list", `{"tags":["b"]}`, true},
		{"absent is not null", `{"nowhere":[null]}`, false},
		{"a prefix", `{"eventName":[{"prefix":"MOD"}]}`, true},
		{"another prefix", `{"eventName":["INSERT",{"prefix":"OD"}]}`, false},
		{"a prefix of what is no text", `{"n":[{"prefix":""}]}`, false},
		{"an object is no value", `{"dynamodb":["head"]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := expect.Value(ParseFilter([]string{tt.pattern}))(t)
			got, err := f.Passes([]byte(record))
			expect.That(t, err == nil && got == tt.want, "%s: %v, %v; want %v", tt.pattern, got, err, tt.want)
		})
	}
}

func TestFiltersAreAlternatives(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		want     bool
	}{
		{nil, true},
		{[]string{`{"a":[1]}`, `{"a":[2]}`}, true},
		{[]string{`{"a":[1]}`, `{"a":[3]}`}, false},
	} {
		f := expect.Value(ParseFilter(tt.patterns))(t)
		got, err := f.Passes([]byte(`{"a":2}`))
		expect.That(t, err == nil && got == tt.want, "%q: %v, %v", tt.patterns, got, err)
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`{"a":[1]`:                          "unexpected end",
		`[1]`:                               "cannot unmarshal array",
		`null`:                              "no object",
		`{"a":1}`:                           "values stand in lists",
		`{"a":[]}`:                          "plain values and prefix only",
		`{"a":[[1]]}`:                       "plain values and prefix only",
		`{"a":["x",{"prefix":1}]}`:          "a: the local stack's filters know plain values and prefix only",
		`{"a":{"b":[{"exists":false}]}}`:    "a: b: the local stack's filters know plain values and prefix only",
		`{"$or":[{"a":["x"]},{"b":["x"]}]}`: "$or: the local stack's filters",
	} {
		_, err := ParseFilter([]string{pattern})
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want %q in it", pattern, err, want)
	}
}
