package moto_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"ringi/infra/local/moto"
	"ringi/shared/runtime/expect"
)

func config(endpoint string) aws.Config {
	return aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

func table(t *testing.T, db *dynamodb.Client) string {
	t.Helper()
	out := expect.Value(db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String("rows"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: "S"}, {AttributeName: aws.String("SK"), AttributeType: "S"},
			{AttributeName: aws.String("GSI1PK"), AttributeType: "S"}, {AttributeName: aws.String("GSI1SK"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: "HASH"},
			{AttributeName: aws.String("SK"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("GSI1"),
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("GSI1PK"), KeyType: "HASH"},
				{AttributeName: aws.String("GSI1SK"), KeyType: "RANGE"}},
			Projection: &types.Projection{ProjectionType: "ALL"},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"},
	}))(t)
	t.Cleanup(func() { // all tests share one server
		expect.Value(db.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String("rows")}))(t)
	})
	return aws.ToString(out.TableDescription.LatestStreamArn)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": text(pk), "SK": text(sk)}
}

func put(item map[string]types.AttributeValue) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String("rows"), Item: item,
		ConditionExpression: aws.String("attribute_not_exists(PK)")}}
}

// oldest returns an iterator at the beginning of a stream.
func oldest(t *testing.T, c *dynamodbstreams.Client, stream string) *string {
	t.Helper()
	d := expect.Value(c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &stream}))(t)
	return expect.Value(c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: &stream,
		ShardId:           d.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon}))(t).ShardIterator
}

func records(t *testing.T, cfg aws.Config, stream string) []string {
	t.Helper()
	c := dynamodbstreams.NewFromConfig(cfg)
	out := expect.Value(c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: oldest(t, c,
		stream)}))(t)
	var seen []string
	for _, r := range out.Records {
		sk := r.Dynamodb.Keys["SK"].(*streamtypes.AttributeValueMemberS).Value
		seen = append(seen, fmt.Sprintf("%s %s %d", r.EventName, sk, len(r.Dynamodb.NewImage)))
	}
	return seen
}

func TestOneWriterOfManyWins(t *testing.T) {
	cfg := config(moto.ForTests(t))
	db := dynamodb.NewFromConfig(cfg)
	stream := table(t, db)
	const writers = 32
	var mu sync.Mutex
	var won, lost int
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			_, err := db.TransactWriteItems(context.Background(),
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					put(key("a", fmt.Sprintf("loser-%02d", i))), put(key("a", "prize")),
				}})
			var cancelled *types.TransactionCanceledException
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case errors.As(err, &cancelled):
				lost++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	expect.That(t, won == 1 && lost == writers-1, "%d won and %d lost, want 1 and %d", won, lost, writers-1)
	rows := expect.Value(db.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("rows"),
		KeyConditionExpression:    aws.String("PK = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("a")}}))(t)
	expect.That(t, rows.Count == 2, "%d rows, want the winner's two", rows.Count)
	expect.Is(t, len(records(t, cfg, stream)), 2, "stream records")
}

func TestRepeatedRequestTokenWritesOnce(t *testing.T) {
	db := dynamodb.NewFromConfig(config(moto.ForTests(t)))
	table(t, db)
	write := func(sk string) error {
		_, err := db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{put(key("a", sk))},
		})
		return err
	}
	expect.NoError(t, write("1"))
	err := write("1")
	expect.That(t, err == nil, "the same request again: %v", err)
	var mismatch *types.IdempotentParameterMismatchException
	err = write("2")
	expect.That(t, errors.As(err, &mismatch), "another request with the token: %v, want a mismatch", err)
}

func TestStreamHasOneRecordPerChange(t *testing.T) {
	cfg := config(moto.ForTests(t))
	db := dynamodb.NewFromConfig(cfg)
	stream := table(t, db)
	set := func(value string) {
		t.Helper()
		expect.Value(db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("rows"), Key: key("a", "1"),
			UpdateExpression:          aws.String("SET v = :v"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": text(value)}}))(t)
	}
	set("x")
	set("x")
	set("y")
	expect.Value(db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("rows"),
		Key: key("a", "1")}))(t)
	expect.Same(t, []string{"INSERT 1 3", "MODIFY 1 3", "REMOVE 1 0"}, records(t, cfg, stream))
}

func TestAReaderThatWaitsHearsOfAChangeAtOnce(t *testing.T) {
	cfg := config(moto.ForTests(t))
	db, c := dynamodb.NewFromConfig(cfg), dynamodbstreams.NewFromConfig(cfg)
	stream := table(t, db)
	next := oldest(t, c, stream)
	look := func(wait string) int {
		out := expect.Value(c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: next},
			func(o *dynamodbstreams.Options) {
				o.APIOptions = append(o.APIOptions, smithyhttp.AddHeaderValue("X-Stack-Wait", wait))
			}))(t)
		next = out.NextShardIterator
		return len(out.Records)
	}
	if began := time.Now(); look("300") != 0 || time.Since(began) < 300*time.Millisecond {
		t.Errorf("an idle stream answers after %s", time.Since(began))
	}
	for try := 1; ; try++ { // again if the machine paused
		seen := make(chan int)
		go func() { seen <- look("5000") }()
		<-time.After(200 * time.Millisecond) // the read must not block other calls
		began, of := time.Now(), fmt.Sprint(try)
		expect.Value(db.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put(key(of, "1")),
				put(key(of, "2"))}}))(t)
		n, took := <-seen, time.Since(began)
		if n == 2 && took < 3*time.Second {
			return
		}
		expect.Must(t, try != 10, "%d records after %s, want the transaction's two at once", n, took)
		for n < 2 {
			n += look("5000")
		}
	}
}

func TestIndexPagesInOrder(t *testing.T) {
	db := dynamodb.NewFromConfig(config(moto.ForTests(t)))
	table(t, db)
	const rows = 300
	for at := 0; at < rows; at += 25 {
		var batch []types.WriteRequest
		for i := at; i < at+25; i++ {
			item := key(fmt.Sprintf("p%d", i%7), fmt.Sprintf("%04d", i))
			item["GSI1PK"], item["GSI1SK"] = text([]string{"odd", "even"}[(i+1)%2]), text(fmt.Sprintf("%04d", rows-i))
			batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		expect.Value(db.BatchWriteItem(t.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"rows": batch}}))(t)
	}
	begin := time.Now()
	pages := dynamodb.NewQueryPaginator(db, &dynamodb.QueryInput{TableName: aws.String("rows"),
		IndexName: aws.String("GSI1"), Limit: aws.Int32(40), KeyConditionExpression: aws.String("GSI1PK = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("even")}})
	var got []string
	for pages.HasMorePages() {
		page := expect.Value(pages.NextPage(t.Context()))(t)
		for _, item := range page.Items {
			got = append(got, item["SK"].(*types.AttributeValueMemberS).Value)
		}
	}
	t.Logf("%d rows in %v", len(got), time.Since(begin))
	var want []string
	for i := rows - 2; i >= 0; i -= 2 {
		want = append(want, fmt.Sprintf("%04d", i))
	}
	expect.Same(t, want, got)
}
