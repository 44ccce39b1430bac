package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
	out, err := dynamodb.NewFromConfig(config(s.moto.URL)).GetItem(ctx, &dynamodb.GetItemInput{
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

type RowView struct {
	Key     string `json:"key"` // SK
	Type    string `json:"type"`
	Rev     int64  `json:"rev"`
	At      string `json:"at,omitempty"` // its latest time in the past
	Summary string `json:"summary"`      // its attributes without keys and ids, truncated
}

// The lengths of a summary, in characters.
const (
	shortValue   = 40
	shortSummary = 160
)

// rows reads a partition in the order of writing, and sums up the usage of models.
func (s *Stack) rows(ctx context.Context, partition string) (rows []RowView, used UsageView, err error) {
	rows, now := []RowView{}, time.Now().UTC().Format("2006-01-02T15:04:05.999Z")
	pages := dynamodb.NewQueryPaginator(dynamodb.NewFromConfig(config(s.moto.URL)), &dynamodb.QueryInput{
		TableName: &s.TableName, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: partition}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, used, err
		}
		for _, item := range page.Items {
			if plain(item["type"]) == "usage" {
				if err := used.add(item); err != nil {
					return nil, used, err
				}
			}
			rows = append(rows, viewRow(item, now))
		}
	}
	// Rows without a rev, such as a wait, change independently of the task. They come last.
	slices.SortStableFunc(rows, func(a, b RowView) int {
		return cmp.Or(cmp.Compare(uint64(a.Rev-1), uint64(b.Rev-1)), cmp.Compare(a.At, b.At))
	})
	return rows, used, nil
}

func viewRow(item map[string]types.AttributeValue, now string) RowView {
	row := RowView{Key: plain(item["SK"]), Type: plain(item["type"])}
	row.Rev, _ = strconv.ParseInt(plain(item["rev"]), 10, 64)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		text := plain(item[name])
		if strings.HasSuffix(name, "_at") && text <= now && text > row.At {
			row.At = text
		}
		if !bookkeeping(name) && text != "" {
			parts = append(parts, name+" "+short(text, shortValue))
		}
	}
	// Decisions come first.
	slices.SortStableFunc(parts, func(a, b string) int { return weight(a) - weight(b) })
	row.Summary = short(strings.Join(parts, " · "), shortSummary)
	return row
}

// bookkeeping reports whether an attribute is left out of a row's summary.
func bookkeeping(name string) bool {
	switch name {
	case "PK", "SK", "type", "rev", "schema_version", "id", "hash", "last_change", "token", "task_token":
		return true
	}
	return strings.HasPrefix(name, "GSI") || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_at")
}

func weight(part string) int {
	for i, name := range []string{"status ", "state ", "ended ", "parked ", "run ", "version ", "title ", "tool ",
		"user ", "text ", "made ", "input_tokens ", "output_tokens ", "cost_micro_usd ", "unpriced_calls ", "lease_until "} {
		if strings.HasPrefix(part, name) {
			return i
		}
	}
	return 100
}

// plain formats a value for people.
func plain(v types.AttributeValue) string {
	var value any
	_ = attributevalue.Unmarshal(v, &value) // what can't be read is empty
	if text, ok := value.(string); ok || v == nil {
		return text
	}
	text, _ := json.Marshal(value) // of texts, numbers, lists and maps
	return strings.ReplaceAll(string(text), `"`, "")
}

// short puts a text on one line and truncates it.
func short(text string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}
