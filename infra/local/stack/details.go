package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store"
)

// UsageView sums up a task's model calls.
type UsageView struct {
	Calls    int64 `json:"calls"`
	Input    int64 `json:"input_tokens"`
	Cached   int64 `json:"cached_tokens"`
	Output   int64 `json:"output_tokens"`
	Cost     int64 `json:"cost_micro_usd"` // of calls with a known price
	Unpriced int64 `json:"unpriced_calls,omitempty"`
}

// add adds a row of type usage.
func (u *UsageView) add(item map[string]types.AttributeValue) error {
	var one UsageView
	if err := attributevalue.UnmarshalMapWithOptions(item, &one,
		func(o *attributevalue.DecoderOptions) { o.TagKey = "json" }); err != nil {
		return fmt.Errorf("read the usage %s: %w", plain(item["SK"]), err)
	}
	u.Calls, u.Input, u.Cached, u.Output = u.Calls+one.Calls, u.Input+one.Input, u.Cached+one.Cached, u.Output+one.Output
	u.Cost, u.Unpriced = u.Cost+one.Cost, u.Unpriced+one.Unpriced
	return nil
}

// refOf finds a task by its id. Its first run has the tenant. It returns ErrNoTask if the task has no runs.
func (s *Stack) refOf(ctx context.Context, taskID string) (aggregate.Ref, error) {
	runs := sfn.NewFromConfig(config(s.moto.URL))
	if taskID == "" {
		return aggregate.Ref{}, ErrNoTask
	}
	arns, err := s.runsOf(ctx, runs, taskID)
	if err != nil {
		return aggregate.Ref{}, fmt.Errorf("list the runs of %s: %w", taskID, err)
	}
	if len(arns) == 0 {
		return aggregate.Ref{}, ErrNoTask
	}
	_, ref, err := readRun(ctx, runs, arns[0])
	if err != nil {
		return aggregate.Ref{}, fmt.Errorf("read a run of %s: %w", taskID, err)
	}
	return ref, nil
}

// Row returns one row of a task, without the tokens that answer runs. It returns ErrNoTask if there is no such row.
func (s *Stack) Row(ctx context.Context, taskID, key string) (any, error) {
	ref, err := s.refOf(ctx, taskID)
	if err != nil {
		return nil, err
	}
	partition, known := store.Kinds().Partition(ref)
	if !known {
		return nil, ErrNoTask
	}
	out, err := dynamodb.NewFromConfig(config(s.tables.URL)).GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.TableName, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: partition},
			"SK": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		return nil, fmt.Errorf("read the row %s: %w", key, err)
	}
	if len(out.Item) == 0 {
		return nil, ErrNoTask
	}
	var all map[string]any
	if err := attributevalue.UnmarshalMap(out.Item, &all); err != nil {
		return nil, fmt.Errorf("read the row %s: %w", key, err)
	}
	delete(all, "token")
	delete(all, "task_token")
	return all, nil
}

// maxShown is how many bytes of an object the page shows.
const maxShown = 1 << 20

// Object returns an object of this task from the bucket: a result, arguments, or a model's input. It returns ErrNoTask
// if the key is not the task's.
func (s *Stack) Object(ctx context.Context, taskID, key string) (any, error) {
	ref, err := s.refOf(ctx, taskID)
	if err != nil {
		return nil, err
	}
	if _, own, _ := strings.Cut(key, "/"); !strings.HasPrefix(own, ref.Tenant+"/"+ref.ID+"/") {
		return nil, ErrNoTask
	}
	out, err := bucketClient(config(s.moto.URL)).GetObject(ctx, &s3.GetObjectInput{Bucket: &s.BucketName, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, maxShown))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	if json.Valid(text) {
		return json.RawMessage(text), nil
	}
	return string(text), nil
}
