package journeys

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// The data model's order of writes, one line per commit: related rows are written together, each with its audit row.
var writingOrder = []string{
	"slack_messages task",
	"tasks extracted; prompts generating; slack_messages prompt; task.created",
	"prompts pending_approval",
	"prompts approved; processes generating; slack_messages process; prompt.approved",
	"processes pending_approval",
	"processes approved; tasks running; executions pending; slack_messages execution; process.approved",
	"executions running; execution.started",
	"executions completed; tasks completed; execution.completed",
}

func TestRowsAreWrittenInTheDataModelsOrder(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Approve(webapi.Suzuki)
	d.Until("completed", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
	expect.Same(t, writingOrder, commits(d))
}

// commits returns the tables that each of the task's commits wrote, from the table's stream, without the calls of steps
// and without bookkeeping.
func commits(d *driver.Request) []string {
	d.T.Helper()
	byRev := map[int][]string{}
	seen := map[string]bool{} // a claim rewrites the running execution without changing its status
	last := 0
	for _, r := range stream(d) {
		image := r.Dynamodb.NewImage
		what := described(image, r.EventName)
		rev := last // an audit row has no revision: it follows its task's rows
		if n, ok := image["rev"].(*types.AttributeValueMemberN); ok {
			rev, _ = strconv.Atoi(n.Value)
		}
		if what == "" || seen[what] {
			continue
		}
		seen[what] = true
		last = rev
		byRev[rev] = append(byRev[rev], what)
	}
	var revs []int
	for rev := range byRev {
		revs = append(revs, rev)
	}
	slices.Sort(revs)
	var out []string
	for _, rev := range revs {
		out = append(out, strings.Join(byRev[rev], "; "))
	}
	return out
}

// described names the kind of row that a record wrote; "" for bookkeeping.
func described(image map[string]types.AttributeValue, event types.OperationType) string {
	get := func(name string) string {
		v, _ := image[name].(*types.AttributeValueMemberS)
		if v == nil {
			return ""
		}
		return v.Value
	}
	switch kind := get("type"); kind {
	case "task", "prompt", "execution":
		return kind + "s " + get("status")
	case "process":
		return "processes " + get("status")
	case "card":
		if event == types.OperationTypeInsert {
			return "slack_messages " + get("card_type")
		}
	case "audit":
		return get("action")
	}
	return ""
}

// stream returns the records of this task's rows and audit entries, oldest first.
func stream(d *driver.Request) (out []types.Record) {
	d.T.Helper()
	for _, r := range everything(d).read() {
		pk, _ := r.Dynamodb.Keys["PK"].(*types.AttributeValueMemberS)
		about, _ := r.Dynamodb.NewImage["task_id"].(*types.AttributeValueMemberS)
		mine := strings.HasSuffix(pk.Value, "#"+d.Ref.ID) ||
			strings.HasPrefix(pk.Value, "AUDIT#") && about != nil && about.Value == d.Ref.ID
		if mine && r.Dynamodb.NewImage != nil {
			out = append(out, r)
		}
	}
	return out
}

// history is the records of all rows, oldest first.
type history struct {
	d    *driver.Request
	next *string
	all  []types.Record
}

// everything begins with the first record.
func everything(d *driver.Request) *history {
	d.T.Helper()
	ctx := context.Background()
	table := expect.Value(dynamodb.NewFromConfig(d.S.AWS).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &d.S.TableName}))(d.T)
	streams := dynamodbstreams.NewFromConfig(d.S.AWS)
	about := expect.Value(streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: table.Table.LatestStreamArn}))(d.T)
	at := expect.Value(streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: table.Table.LatestStreamArn, ShardId: about.StreamDescription.Shards[0].ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}))(d.T)
	return &history{d: d, next: at.ShardIterator}
}

// read returns all that were written until now.
func (h *history) read() []types.Record {
	h.d.T.Helper()
	streams := dynamodbstreams.NewFromConfig(h.d.S.AWS)
	for h.next != nil {
		page := expect.Value(streams.GetRecords(context.Background(), &dynamodbstreams.GetRecordsInput{
			ShardIterator: h.next}))(h.d.T)
		h.next = page.NextShardIterator
		if len(page.Records) == 0 {
			break
		}
		h.all = append(h.all, page.Records...)
	}
	return h.all
}
