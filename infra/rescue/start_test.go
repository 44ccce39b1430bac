package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests; its sweeper runs only when told.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

// runbook returns this program's commands from the runbook, in order, with <…> replaced by values.
func runbook(t *testing.T, kind string, values map[string]string) [][]string {
	t.Helper()
	b := expect.Value(os.ReadFile("../runbook.md"))(t)
	var all [][]string
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./infra/rescue "+kind+" ")
		if !ok {
			continue
		}
		for name, value := range values {
			rest = strings.ReplaceAll(rest, "<"+name+">", value)
		}
		expect.Must(t, !strings.Contains(rest, "<"), "the runbook's command has a value that the test doesn't know: %s", rest)
		all = append(all, append([]string{kind}, strings.Fields(rest)...))
	}
	expect.Must(t, len(all) != 0, "the runbook has no command for %s", kind)
	return all
}

// rescue runs a command and returns its output.
func rescue(t *testing.T, args []string) string {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), running.AWS, args, &out)
	expect.Must(t, err == nil, "rescue %s: %v\n%s", strings.Join(args, " "), err, &out)
	return out.String()
}

// request is one task of the running stack.
type request struct {
	*testing.T
	*driver.Request
}

// ask makes a task and waits until its policy asks for approval. The sweeper doesn't run meanwhile.
func ask(t *testing.T) *request {
	t.Helper()
	r := &request{t, driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")}
	r.WhenQuiet = func() {}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(r.Summary())
		}
	})
	r.pending(task.CardPrompt)
	return r
}

// pending waits until a gate of this kind asks, and its run waits for the answer.
func (r *request) pending(kind aggregate.CardType) {
	r.Helper()
	r.Until(string(kind)+" asks", func(a *task.Aggregate) bool {
		p, ok := a.OpenGate()
		return ok && p.Kind == kind && slices.ContainsFunc(a.Waits,
			func(w aggregate.Wait) bool { return w.Gate == p.Key && w.Run == a.Head.Run })
	})
}

// asks waits until a gate of this kind asks, whether or not a run waits for it.
func (r *request) asks(kind aggregate.CardType) {
	r.Helper()
	r.Until(string(kind)+" asks", func(a *task.Aggregate) bool {
		p, ok := a.OpenGate()
		return ok && p.Kind == kind
	})
}

// message returns the newest message that shows the card with this key.
func (r *request) message(key string) webapi.Message {
	r.Helper()
	cards := r.Cards(key)
	expect.Must(r, len(cards) != 0, "%s is no message", key)
	return cards[len(cards)-1]
}

func (r *request) shows(key string) string { return driver.Face(r.message(key)) }

// approve presses a button until the card no longer has it: if nothing was saved, a person presses again.
func (r *request) approve(key, action string) {
	r.Helper()
	press := func() { _ = running.Sandbox.Click(webapi.Suzuki, webapi.HR, r.message(key).TS, action) }
	driver.UntilTaken(r.T, action, press, func() bool { return !strings.Contains(r.shows(key), action) })
}

// spoil makes a card's message show something else, and removes its hash from the row, as after a lost update.
func (r *request) spoil(key string) {
	r.Helper()
	stale := "stale"
	expect.Value(running.Sandbox.Workspace().Update(webapi.HR, r.message(key).TS, webapi.Bot,
		webapi.Patch{Text: &stale, Attachments: []any{}}))(r)
	_, err := dynamodb.NewFromConfig(running.AWS).UpdateItem(r.Context(), &dynamodb.UpdateItemInput{
		TableName: &running.TableName, UpdateExpression: aws.String("REMOVE #hash"),
		ExpressionAttributeNames: map[string]string{"#hash": "hash"},
		Key:                      item{"PK": r.partition(), "SK": &types.AttributeValueMemberS{Value: key}},
	})
	expect.NoError(r, err)
}

func (r *request) partition() types.AttributeValue {
	return &types.AttributeValueMemberS{Value: "TASK#" + r.Ref.Tenant + "#" + r.Ref.ID}
}

// empty waits until a queue has no message, seen or unseen.
func (r *request) empty(id string) {
	r.Helper()
	url := running.QueueURL(id)
	r.Eventually(id+" is empty", func() bool {
		out, err := sqs.NewFromConfig(running.AWS).GetQueueAttributes(r.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
		})
		return err == nil && out.Attributes["ApproximateNumberOfMessages"] == "0" &&
			out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
	})
}

// restore makes a new table as point-in-time recovery does, and returns its name.
func restore(t *testing.T) string {
	t.Helper()
	name := "restored-" + strings.ToLower(t.Name())
	expect.Value(dynamodb.NewFromConfig(running.AWS).RestoreTableToPointInTime(t.Context(),
		&dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: &running.TableName, TargetTableName: &name, UseLatestRestorableTime: aws.Bool(true),
		}))(t)
	return name
}

// items returns the task's rows as they are stored.
func (r *request) items() []item {
	r.Helper()
	out := expect.Value(dynamodb.NewFromConfig(running.AWS).Query(r.Context(), &dynamodb.QueryInput{
		TableName: &running.TableName, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: item{":pk": r.partition()},
	}))(r)
	return out.Items
}

// drop deletes the task's rows.
func (r *request) drop() {
	r.Helper()
	for _, it := range r.items() {
		expect.Value(dynamodb.NewFromConfig(running.AWS).DeleteItem(r.Context(),
			&dynamodb.DeleteItemInput{TableName: &running.TableName, Key: item{"PK": it["PK"], "SK": it["SK"]}}))(r)
	}
}

// giveUp sends the dead letter that Lambda sends about a stream range that a function could not handle.
func (r *request) giveUp(b batch) {
	r.Helper()
	dead := running.QueueURL("ChangeDeadLetters")
	body := expect.Value(json.Marshal(map[string]any{"version": "1.0",
		"requestContext": map[string]any{"condition": "RetryAttemptsExhausted"}, "DDBStreamBatchInfo": b}))(r)
	expect.Value(sqs.NewFromConfig(running.AWS).SendMessage(r.Context(),
		&sqs.SendMessageInput{QueueUrl: &dead, MessageBody: aws.String(string(body))}))(r)
}

// inStream returns where the task's records are in the table's stream.
func (r *request) inStream() batch {
	r.Helper()
	client := dynamodbstreams.NewFromConfig(running.AWS)
	d := expect.Value(dynamodb.NewFromConfig(running.AWS).DescribeTable(r.Context(),
		&dynamodb.DescribeTableInput{TableName: &running.TableName}))(r)
	b := batch{StreamARN: aws.ToString(d.Table.LatestStreamArn)}
	s := expect.Value(client.DescribeStream(r.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &b.StreamARN}))(r)
	b.ShardID = aws.ToString(s.StreamDescription.Shards[0].ShardId)
	it := expect.Value(client.GetShardIterator(r.Context(),
		&dynamodbstreams.GetShardIteratorInput{StreamArn: &b.StreamARN, ShardId: &b.ShardID,
			ShardIteratorType: streams.ShardIteratorTypeTrimHorizon}))(r)
	for at := it.ShardIterator; at != nil; {
		page := expect.Value(client.GetRecords(r.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: at}))(r)
		for _, record := range page.Records {
			if pk, ok := record.Dynamodb.Keys["PK"].(*streams.AttributeValueMemberS); ok &&
				pk.Value == r.partition().(*types.AttributeValueMemberS).Value {
				b.Start = cmp.Or(b.Start, aws.ToString(record.Dynamodb.SequenceNumber))
				b.End = aws.ToString(record.Dynamodb.SequenceNumber)
			}
		}
		if len(page.Records) == 0 {
			break
		}
		at = page.NextShardIterator
	}
	expect.Must(r, b.Start != "", "the task is not in the stream")
	return b
}

// facts returns what Insights counted for the task's cost: keys of rows, and in each what it was counted from.
func (r *request) facts() (counted []string) {
	r.Helper()
	db := dynamodb.NewFromConfig(running.AWS)
	out := expect.Value(db.Scan(r.Context(), &dynamodb.ScanInput{
		TableName: &running.TableName, ConsistentRead: aws.Bool(true),
		FilterExpression: aws.String("begins_with(PK, :f) AND SK = :t"),
		ExpressionAttributeValues: item{":f": &types.AttributeValueMemberS{Value: "FACT#"},
			":t": &types.AttributeValueMemberS{Value: r.Ref.ID}},
	}))(r.T)
	for _, it := range out.Items {
		for _, source := range it["sources"].(*types.AttributeValueMemberSS).Value {
			if strings.HasPrefix(source, "USAGE#") {
				counted = append(counted, it["PK"].(*types.AttributeValueMemberS).Value+" "+source)
			}
		}
	}
	slices.Sort(counted)
	return counted
}

// losesFacts waits until all calls of the request have facts, deletes these, and returns what they counted.
func (r *request) losesFacts() (counted []string) {
	r.Helper()
	used := len(expect.Value(r.Store.Load(r.Context(), r.Ref))(r.T).Uses)
	r.Eventually("the facts of all calls are there", func() bool {
		counted = r.facts()
		return used > 0 &&
			len(counted) == used
	})
	for _, of := range counted {
		pk, _, _ := strings.Cut(of, " ")
		expect.Value(dynamodb.NewFromConfig(running.AWS).DeleteItem(r.Context(), &dynamodb.DeleteItemInput{
			TableName: &running.TableName, Key: item{"PK": &types.AttributeValueMemberS{Value: pk},
				"SK": &types.AttributeValueMemberS{Value: r.Ref.ID}},
		}))(r.T)
	}
	return counted
}
