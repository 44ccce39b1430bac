package lambda

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"ringi/infra/local/template"
	"ringi/shared/runtime/clock"
)

const (
	idleStream   = 50 * time.Millisecond  // pause between reads of an idle stream, unless the read itself waits
	newsWithin   = time.Second            // how long one read waits for records
	afterRecords = 100 * time.Millisecond // pause after a batch, so that the next is larger; Lambda's is longer
	gatherEvery  = 250 * time.Millisecond // pause between reads that fill a batch; Lambda reads a shard as often
	waitHeader   = "X-Stack-Wait"         // how long a read waits; only the local streams support it
	firstBackoff = 100 * time.Millisecond
	longBackoff  = 10 * time.Second
)

// StreamReader is the part of DynamoDB Streams that a mapping uses.
type StreamReader interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Stream feeds a function from a table's stream. It runs as many concurrent batches as the mapping allows, and keeps
// the order of each item's changes.
type Stream struct {
	Function string
	Mapping  template.StreamMapping // Source is the stream's ARN
	Filter   Filter                 // parsed from Mapping's Filters
	Reader   StreamReader
	Invoker  Invoker
	// OnFailure receives the report on a batch that was given up; may be nil.
	OnFailure func(ctx context.Context, body string) error
	Log       *slog.Logger
}

func (s *Stream) Run(ctx context.Context) {
	r := &streamRun{Stream: s}
	r.open(ctx)
	defer r.close()
	for ctx.Err() == nil {
		if err := r.read(ctx); ctx.Err() == nil {
			s.Log.Warn("read the stream again", "function", s.Function, "err", err)
			_ = clock.Sleep(ctx, firstBackoff)
		}
	}
}

// streamRun is the state of one reader.
type streamRun struct {
	*Stream
	shard string
	last  string // sequence number of the last record that was passed to a worker

	into    []chan []change // the workers
	running sync.WaitGroup
}

// read reads on from the last position until an error occurs.
func (r *streamRun) read(ctx context.Context) error {
	iterator, err := r.iterator(ctx)
	if err != nil {
		return err
	}
	for {
		records, next, err := r.collect(ctx, iterator)
		if err != nil {
			return err
		}
		if len(records) > 0 {
			if err := r.pass(ctx, records); err != nil {
				return err
			}
			if err := clock.Sleep(ctx, afterRecords); err != nil {
				return err
			}
		}
		iterator = next
	}
}

func (r *streamRun) iterator(ctx context.Context) (*string, error) {
	d, err := r.Reader.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &r.Mapping.Source})
	if err != nil {
		return nil, fmt.Errorf("describe the stream: %w", err)
	}
	if len(d.StreamDescription.Shards) != 1 {
		return nil, fmt.Errorf("the stream has %d shards, the local stack reads one", len(d.StreamDescription.Shards))
	}
	if r.shard == "" { // set once, because workers read it
		r.shard = aws.ToString(d.StreamDescription.Shards[0].ShardId)
	}
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &r.Mapping.Source, ShardId: &r.shard,
		ShardIteratorType: types.ShardIteratorType(r.Mapping.From)}
	if r.last != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &r.last
	}
	out, err := r.Reader.GetShardIterator(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("get a shard iterator: %w", err)
	}
	return out.ShardIterator, nil
}

// collect reads a batch: the records that are available, and those that arrive within the batch window. It returns no
// records if none arrive for a while.
func (r *streamRun) collect(ctx context.Context, iterator *string) ([]types.Record, *string, error) {
	var records []types.Record
	var end time.Time
	for {
		wait := newsWithin
		if len(records) > 0 {
			if clock.Sleep(ctx, min(gatherEvery, end.Sub(time.Now()))) != nil {
				return nil, nil, ctx.Err()
			}
			wait = 0
		}
		began, limit := time.Now(), int32(r.Mapping.BatchSize-len(records))
		out, err := r.Reader.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: &limit},
			waiting(wait))
		if err != nil {
			return nil, nil, fmt.Errorf("get stream records: %w", err)
		}
		if len(out.Records) == 0 && wait > 0 && clock.Sleep(ctx, min(wait, idleStream)-time.Since(began)) != nil {
			return nil, nil, ctx.Err()
		}
		if len(records) == 0 {
			end = time.Now().Add(r.Mapping.Window)
		}
		records, iterator = append(records, out.Records...), out.NextShardIterator
		if len(records) == 0 || len(records) >= r.Mapping.BatchSize || !time.Now().Before(end) {
			return records, iterator, nil
		}
	}
}

// waiting makes a read return as soon as there are records, or empty after d.
func waiting(d time.Duration) func(*dynamodbstreams.Options) {
	return func(o *dynamodbstreams.Options) {
		o.APIOptions = append(o.APIOptions, smithyhttp.AddHeaderValue(waitHeader, strconv.FormatInt(d.Milliseconds(), 10)))
	}
}

// pass filters records, puts the rest into workers and moves the position forward. It returns an error if a record
// can't be read or ctx ends.
func (r *streamRun) pass(ctx context.Context, records []types.Record) error {
	var changes []change
	for _, record := range records {
		c, err := newChange(record, r.Mapping.Source)
		if err != nil {
			return err
		}
		passes, err := r.Filter.Passes(c.text)
		if err != nil {
			return err
		}
		if passes {
			changes = append(changes, c)
		}
	}
	if err := r.put(ctx, changes); err != nil {
		return err
	}
	r.last = aws.ToString(records[len(records)-1].Dynamodb.SequenceNumber)
	return nil
}

// deliver invokes the function until all changes are handled or given up.
func (r *streamRun) deliver(ctx context.Context, changes []change) error {
	invoked, failed := 0, 0
	for len(changes) > 0 {
		if old := r.tooOld(changes); old > 0 {
			r.giveUp(ctx, changes[:old], "RecordAgeExceeded", invoked, "")
			changes = changes[old:]
			continue
		}
		o, err := r.invoke(ctx, changes)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		invoked += o.requests
		if err != nil {
			r.Log.Warn("batch failed", "function", r.Function, "records", len(changes), "request_id", o.id, "err", err)
		}
		if !o.failed && len(o.items) == 0 {
			return nil
		}
		if !o.failed {
			// All changes from the lowest failed sequence number on are delivered again.
			at := slices.IndexFunc(changes, func(c change) bool { return slices.Contains(o.items, c.sequence) })
			if at > 0 {
				changes, failed = changes[at:], 0
			}
		} else if r.Mapping.Bisect && len(changes) > 1 {
			// Halving a batch does not count as a retry.
			half := len(changes) / 2
			if err := r.deliver(ctx, changes[:half]); err != nil {
				return err
			}
			changes, failed = changes[half:], 0
			continue
		}
		failed++
		if r.Mapping.Retries >= 0 && failed > r.Mapping.Retries {
			r.giveUp(ctx, changes, "RetryAttemptsExhausted", invoked, o.id)
			return nil
		}
		if clock.Sleep(ctx, min(firstBackoff<<min(failed-1, 10), longBackoff)) != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (r *streamRun) invoke(ctx context.Context, changes []change) (outcome, error) {
	records, known := make([]json.RawMessage, len(changes)), map[string]bool{}
	for i, c := range changes {
		records[i], known[c.sequence] = c.text, true
	}
	return batch(ctx, r.Invoker, r.Function, records, r.Mapping.PartialFailures, known)
}

// tooOld counts the leading changes that exceed the maximum age.
func (r *streamRun) tooOld(changes []change) int {
	if r.Mapping.MaximumAge == 0 {
		return 0
	}
	limit := time.Now().Add(-r.Mapping.MaximumAge)
	i := slices.IndexFunc(changes, func(c change) bool { return !c.at.Before(limit) })
	if i < 0 {
		return len(changes)
	}
	return i
}

// giveUp reports the changes that the function could not handle to the failure destination. As in Lambda, the report
// has their position in the stream but not their content.
func (r *streamRun) giveUp(ctx context.Context, changes []change, condition string, invoked int, requestID string) {
	first, last := changes[0], changes[len(changes)-1]
	r.Log.Error("changes given up", "function", r.Function, "records", len(changes), "condition", condition, "from",
		first.sequence, "to", last.sequence)
	if r.OnFailure == nil {
		return
	}
	body, err := json.Marshal(map[string]any{
		"version":   "1.0",
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano),
		"requestContext": map[string]any{
			"requestId": requestID, "functionArn": r.Function, "condition": condition, "approximateInvokeCount": invoked,
		},
		"DDBStreamBatchInfo": map[string]any{
			"shardId": r.shard, "startSequenceNumber": first.sequence, "endSequenceNumber": last.sequence,
			"batchSize": len(changes), "streamArn": r.Mapping.Source,
			"approximateArrivalOfFirstRecord": first.at.UTC().Format(time.RFC3339),
			"approximateArrivalOfLastRecord":  last.at.UTC().Format(time.RFC3339),
		},
	})
	if err == nil {
		err = r.OnFailure(ctx, string(body))
	}
	if err != nil {
		r.Log.Error("tell the failure destination", "function", r.Function, "err", err)
	}
}

// waitingAtWorker is how many reads may wait at one worker before the stream is no longer read.
const waitingAtWorker = 16

// open starts the workers, as many as the mapping's batches at a time. Lambda keeps the order of changes to one item,
// and no other order (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html): each item always uses the same
// worker.
func (r *streamRun) open(ctx context.Context) {
	for range max(1, r.Mapping.Parallel) {
		worker := make(chan []change, waitingAtWorker)
		r.into = append(r.into, worker)
		r.running.Go(func() { r.carry(ctx, worker) })
	}
}

// close waits until the workers have delivered all their changes, or ctx ends.
func (r *streamRun) close() {
	for _, worker := range r.into {
		close(worker)
	}
	r.running.Wait()
}

// put distributes the changes of one read to the workers.
func (r *streamRun) put(ctx context.Context, changes []change) error {
	each := make([][]change, len(r.into))
	for _, c := range changes {
		h := fnv.New32a()
		h.Write([]byte(c.item)) // never fails
		i := h.Sum32() % uint32(len(each))
		each[i] = append(each[i], c)
	}
	for i, some := range each {
		if len(some) == 0 {
			continue
		}
		select {
		case r.into[i] <- some:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// carry delivers a worker's changes, batch after batch, until the worker is closed or ctx ends.
func (r *streamRun) carry(ctx context.Context, worker <-chan []change) {
	for changes := range worker {
		for len(worker) > 0 { // what was read meanwhile
			changes = append(changes, <-worker...)
		}
		for batch := range slices.Chunk(changes, r.Mapping.BatchSize) {
			if r.deliver(ctx, batch) != nil {
				return
			}
		}
	}
}
