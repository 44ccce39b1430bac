package main

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/runtime/expect"
)

// restore makes a new table as point-in-time recovery does, and returns its name.
func restore(t *testing.T) string {
	t.Helper()
	name := "restored-" + strings.ToLower(t.Name())
	expect.Value(dynamodb.NewFromConfig(running.AWS).RestoreTableToPointInTime(t.Context(), &dynamodb.RestoreTableToPointInTimeInput{
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
		expect.Value(dynamodb.NewFromConfig(running.AWS).DeleteItem(r.Context(), &dynamodb.DeleteItemInput{TableName: &running.TableName, Key: item{"PK": it["PK"], "SK": it["SK"]}}))(r)
	}
}

// giveUp sends the dead letter that Lambda sends about a stream range that a function could not handle.
func (r *request) giveUp(b batch) {
	r.Helper()
	dead := running.QueueURL("ChangeDeadLetters")
	body := expect.Value(json.Marshal(map[string]any{"version": "1.0", "requestContext": map[string]any{"condition": "RetryAttemptsExhausted"}, "DDBStreamBatchInfo": b}))(r)
	expect.Value(sqs.NewFromConfig(running.AWS).SendMessage(r.Context(), &sqs.SendMessageInput{QueueUrl: &dead, MessageBody: aws.String(string(body))}))(r)
}

// inStream returns where the task's records are in the table's stream.
func (r *request) inStream() batch {
	r.Helper()
	client := dynamodbstreams.NewFromConfig(running.AWS)
	d := expect.Value(dynamodb.NewFromConfig(running.AWS).DescribeTable(r.Context(), &dynamodb.DescribeTableInput{TableName: &running.TableName}))(r)
	b := batch{StreamARN: aws.ToString(d.Table.LatestStreamArn)}
	s := expect.Value(client.DescribeStream(r.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &b.StreamARN}))(r)
	b.ShardID = aws.ToString(s.StreamDescription.Shards[0].ShardId)
	it := expect.Value(client.GetShardIterator(r.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: &b.StreamARN, ShardId: &b.ShardID, ShardIteratorType: streams.ShardIteratorTypeTrimHorizon}))(r)
	for at := it.ShardIterator; at != nil; {
		page := expect.Value(client.GetRecords(r.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: at}))(r)
		for _, record := range page.Records {
			if pk, ok := record.Dynamodb.Keys["PK"].(*streams.AttributeValueMemberS); ok && pk.Value == r.partition().(*types.AttributeValueMemberS).Value {
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
		TableName: &running.TableName, ConsistentRead: aws.Bool(true), FilterExpression: aws.String("begins_with(PK, :f) AND SK = :t"),
		ExpressionAttributeValues: item{":f": &types.AttributeValueMemberS{Value: "FACT#"}, ":t": &types.AttributeValueMemberS{Value: r.Ref.ID}},
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
	r.Eventually("the facts of all calls are there", func() bool { counted = r.facts(); return used > 0 && len(counted) == used })
	for _, of := range counted {
		pk, _, _ := strings.Cut(of, " ")
		expect.Value(dynamodb.NewFromConfig(running.AWS).DeleteItem(r.Context(), &dynamodb.DeleteItemInput{
			TableName: &running.TableName, Key: item{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: r.Ref.ID}},
		}))(r.T)
	}
	return counted
}
