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
	"ringi/shared/store/kinds"
)

// UsageView is what a task's calls of models took, all together.
type UsageView struct {
	Calls    int64 `json:"calls"`
	Input    int64 `json:"input_tokens"`
	Cached   int64 `json:"cached_tokens"`
	Output   int64 `json:"output_tokens"`
	Cost     int64 `json:"cost_micro_usd"` // of the calls whose price is known
	Unpriced int64 `json:"unpriced_calls,omitempty"`
}

// add counts a row of the type usage.
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

// refOf is a task by its id: its first run says whose it is. It returns ErrNoTask before that.
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

// Row is all of one row of a task but the tokens by which runs are answered, or ErrNoTask.
func (s *Stack) Row(ctx context.Context, taskID, key string) (any, error) {
	ref, err := s.refOf(ctx, taskID)
	if err != nil {
		return nil, err
	}
	partition, known := kinds.All().Partition(ref)
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

// maxShown is how much of an object the page shows, in bytes.
const maxShown = 1 << 20

// Object is what the bucket has under a key of this task: a result, arguments, or what a model was sent.
// It returns ErrNoTask for a key that is not the task's, or no longer there.
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
