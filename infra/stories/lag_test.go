package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// lag is a proxy of the table that answers queries of an index with old data: from a second table, which follows the
// first's stream late.
type lag struct {
	endpoint string
	table    string // the second
	behind   time.Duration
	frozen   atomic.Bool // the second table stops following
	asked    atomic.Int64
}

var byFunction = regexp.MustCompile("Credential=[A-Za-z]+/")

// ServeHTTP forwards a call, to the second table if it queries an index.
func (l *lag) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked is gone
	}
	var query map[string]json.RawMessage
	signed := r.Header.Get("Authorization")
	if json.Unmarshal(body, &query) == nil && query["IndexName"] != nil {
		l.asked.Add(1)
		signed = byFunction.ReplaceAllString(signed, "Credential=local/") // no role knows the second table
		query["TableName"], _ = json.Marshal(l.table)
		body, _ = json.Marshal(query)
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, l.endpoint, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	req.Header = r.Header.Clone()
	req.Header.Set("Authorization", signed)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // the caller may have disconnected
}

// lags keeps an index that is behind until the test ends, and returns a store that reads it.
func (w *world) lags(t *testing.T, behind time.Duration) (*lag, *store.TaskStore) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &lag{endpoint: w.AWSEndpoint, table: w.TableName + "-behind-" + behind.String(), behind: behind}
	about := expect.Value(w.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &w.TableName}))(t)
	in := &dynamodb.CreateTableInput{TableName: &l.table, KeySchema: about.Table.KeySchema,
		AttributeDefinitions: about.Table.AttributeDefinitions, BillingMode: types.BillingModePayPerRequest}
	for _, x := range about.Table.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{IndexName: x.IndexName,
			KeySchema: x.KeySchema, Projection: x.Projection})
	}
	expect.Value(w.db.CreateTable(ctx, in))(t)
	next := w.latest(t, *about.Table.LatestStreamArn)
	done := make(chan error, 1)
	go func() { done <- w.follow(ctx, l, next) }()
	proxy := httptest.NewServer(l)
	t.Cleanup(func() {
		cancel()
		err := <-done
		expect.That(t, err == nil || errors.Is(err, context.Canceled), "follow the stream: %v", err)
		proxy.Close()
		_, err = w.db.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &l.table})
		expect.That(t, err == nil, "%v", err)
	})
	return l, store.NewTasks(dynamodb.NewFromConfig(w.AWS, func(o *dynamodb.Options) { o.BaseEndpoint = &proxy.URL }),
		w.TableName)
}

// latest returns an iterator at the end of the stream.
func (w *world) latest(t *testing.T, stream string) *string {
	t.Helper()
	c := dynamodbstreams.NewFromConfig(w.AWS)
	about := expect.Value(c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &stream}))(t)
	at := expect.Value(c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: &stream,
		ShardId: about.StreamDescription.Shards[0].ShardId, ShardIteratorType: streams.ShardIteratorTypeLatest}))(t)
	return at.ShardIterator
}

// follow writes the stream's records into the second table, late. It skips rows of no index, and audit rows: there are
// many, and the tests don't query them.
func (w *world) follow(ctx context.Context, l *lag, next *string) error {
	type change struct {
		at     time.Time
		record streams.Record
	}
	var waiting []change
	c := dynamodbstreams.NewFromConfig(w.AWS)
	for {
		out, err := c.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
		if err != nil {
			return err
		}
		next = out.NextShardIterator
		for _, r := range out.Records {
			pk, ok := r.Dynamodb.Keys["PK"].(*streams.AttributeValueMemberS)
			if ok && strings.HasPrefix(pk.Value, "TASK#") && (indexed(r.Dynamodb.OldImage) || indexed(r.Dynamodb.NewImage)) {
				waiting = append(waiting, change{time.Now(), r})
			}
		}
		for len(waiting) > 0 && time.Since(waiting[0].at) > l.behind && !l.frozen.Load() {
			if err := w.apply(ctx, l, waiting[0].record); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
		if err := clock.Sleep(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// indexed reports whether a row stands in an index.
func indexed(row map[string]streams.AttributeValue) bool {
	return row["GSI1PK"] != nil || row["GSI2PK"] != nil || row["GSI3PK"] != nil
}

func (w *world) apply(ctx context.Context, l *lag, r streams.Record) error {
	if r.Dynamodb.NewImage == nil {
		key, err := attributevalue.FromDynamoDBStreamsMap(r.Dynamodb.Keys)
		if err == nil {
			_, err = w.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &l.table, Key: key})
		}
		return err
	}
	row, err := attributevalue.FromDynamoDBStreamsMap(r.Dynamodb.NewImage)
	if err == nil {
		_, err = w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &l.table, Item: row})
	}
	return err
}

// indexStandsStill: the index keeps saying that a gate waits, past its time, and that its task is due. The
// sweeper doesn't change the task, whatever its state; a person who decides at a gate that the list still shows is told
// who decided first.
func (w *world) indexStandsStill(t *testing.T) {
	l, old := w.lags(t, 0)
	w.variant(t, "request", func(p *play) {
		p.asks(month)
		p.Eventually("the gate is open", func() bool {
			return p.Shows(driver.PromptCard, "approve_prompt") && len(p.Load().Waits) == 1
		})
		prompt := p.Load().Prompt().ID
		listed := func() bool {
			page, err := old.Waiting(context.Background(), p.Ref.Tenant, "", store.MaxPage)
			if err != nil {
				failf("%w", err)
			}
			return slices.ContainsFunc(page.Items, func(x store.WaitingItem) bool { return x.ID == prompt })
		}
		func() {
			p.sweeping.Lock() // a sweep would make it due later
			defer p.sweeping.Unlock()
			p.due()
			expect.Must(p.t, expect.Holds(context.Background(), patience, p.Poll, func() bool {
				return p.isDue(old) && listed()
			}), "the index doesn't say that it is due and waits")
			l.frozen.Store(true)
		}()
		sweeps := func() {
			before, met := p.Load().Head, p.met(sweeper, "DynamoDB.Query")
			for range 2 {
				p.sweep()
			}
			if p.met(sweeper, "DynamoDB.Query") < met+2 {
				failf("the sweeper did not look at the task")
			}
			if after := p.Load().Head; after.Run != before.Run || after.Restarts != before.Restarts {
				failf("the sweeper made run %d of run %d", after.Run, before.Run)
			}
		}
		p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
		p.passes(p.Ref, task.PromptKey(1), "SET terms.decide_by = :past", "attribute_exists(PK)", nil)
		sweeps()
		p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
		sweeps()
		p.Eventually("the work is done", func() bool { return p.Shows(driver.ExecutionCard, "✅ 実行完了") })
		p.untilAtRest()
		rev := p.Load().Head.Rev
		sweeps()
		if !listed() {
			failf("the index does not stand still")
		}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka}
		_, err := old.Decide(context.Background(), p.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
			return decide.Approve(a, prompt, by, aggregate.Policy{}, time.Now())
		})
		if decided := (aggregate.ErrDecided{}); !errors.As(err, &decided) || decided.By != webapi.Suzuki {
			failf("deciding what the list shows: %w", err)
		}
		if now := p.Load().Head.Rev; now != rev {
			failf("an ended task moved from rev %d to %d", rev, now)
		}
		l.frozen.Store(false)
		p.Eventually("the index has caught up", func() bool { return !p.isDue(old) && !listed() })
	}, func(t *trace) { t.lag, t.unattended = l, false })
}

// isDue reports whether an index says that the task is due.
func (p *play) isDue(s *store.TaskStore) bool {
	for shard := range store.Shards {
		for ref, err := range s.Due(context.Background(), shard, time.Now()) {
			if err != nil {
				failf("%w", err)
			}
			if ref == p.Ref {
				return true
			}
		}
	}
	return false
}
