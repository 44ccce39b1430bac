package stack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"ringi/infra/local/process"
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

func TestStreamHasOneRecordPerChange(t *testing.T) {
	cfg := config(process.MotoForTests(t))
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
	cfg := config(process.MotoForTests(t))
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

// Invalid names and values of expressions are refused with DynamoDB's messages.
func TestInvalidExpressionsAreRefusedInDynamoDBsWords(t *testing.T) {
	db := dynamodb.NewFromConfig(config(process.MotoForTests(t)))
	table(t, db)
	type names = map[string]string
	type values = map[string]types.AttributeValue
	rows, is := aws.String("rows"), aws.String("attribute_not_exists(#n) OR #n = :n")
	transact := func(x types.TransactWriteItem) error {
		return expect.Err(db.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{x}}))
	}
	for operation, call := range map[string]func(names, values) error{
		"ConditionExpression PutItem": func(n names, v values) error {
			return expect.Err(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: rows, Item: key("a", "1"),
				ConditionExpression: is, ExpressionAttributeNames: n, ExpressionAttributeValues: v}))
		},
		"UpdateExpression UpdateItem": func(n names, v values) error {
			return expect.Err(db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: rows, Key: key("a", "1"),
				UpdateExpression: aws.String("SET #n = :n"), ExpressionAttributeNames: n, ExpressionAttributeValues: v}))
		},
		"FilterExpression Scan": func(n names, v values) error {
			return expect.Err(db.Scan(t.Context(), &dynamodb.ScanInput{TableName: rows, FilterExpression: is,
				ExpressionAttributeNames: n, ExpressionAttributeValues: v}))
		},
		"UpdateExpression in a transaction": func(n names, v values) error {
			return transact(types.TransactWriteItem{Update: &types.Update{TableName: rows, Key: key("a", "1"),
				UpdateExpression: aws.String("SET #n = :n"), ExpressionAttributeNames: n, ExpressionAttributeValues: v}})
		},
		"ConditionExpression of a check": func(n names, v values) error {
			return transact(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: rows,
				Key: key("a", "1"), ConditionExpression: is, ExpressionAttributeNames: n, ExpressionAttributeValues: v}})
		},
	} {
		in, _, _ := strings.Cut(operation, " ")
		for want, given := range map[string]struct {
			names  names
			values values
		}{
			"": {names{"#n": "n"}, values{":n": text("1")}},
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:v0}": {names{"#n": "n"},
				values{":n": text("1"), ":v0": text("1")}},
			"Value provided in ExpressionAttributeNames unused in expressions: keys: {#more}": {
				names{"#n": "n", "#more": "m"}, values{":n": text("1")}},
			"Invalid " + in + ": An expression attribute value used in expression is not defined; attribute value: :n": {
				names{"#n": "n"}, nil},
			"Invalid " + in + ": An expression attribute name used in the document path is not defined; attribute name: #n": {
				nil, values{":n": text("1")}},
			"ExpressionAttributeValues must not be empty": {names{"#n": "n"}, values{}},
		} {
			err := call(given.names, given.values)
			expect.That(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)),
				"%s: %v, want %q", operation, err, want)
		}
	}
}

// Clients that gave up while the machine stood still come again: what they asked first is not computed for nobody.
func TestCallsOfClientsThatAreGoneAreNotComputed(t *testing.T) {
	expect.Patience(t)
	s, err := process.Moto(t.Context(), process.MotoOptions{})
	if errors.Is(err, process.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	t.Cleanup(s.Stop)
	db := dynamodb.NewFromConfig(config(s.URL))
	table(t, db)
	expect.NoError(t, syscall.Kill(s.PID(), syscall.SIGSTOP))
	expect.Eventually(t, "it stands still", func() bool {
		_, err := (&http.Client{Timeout: 200 * time.Millisecond}).Get(s.URL)
		return err != nil
	})
	count := &dynamodb.UpdateItemInput{TableName: aws.String("rows"), Key: key("a", "1"),
		UpdateExpression:          aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
		ReturnValues:              types.ReturnValueUpdatedNew}
	expect.AtOnce(50, func(int) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		expect.That(t, expect.Err(db.UpdateItem(ctx, count)) != nil, "a server that stands still answers")
	})
	expect.NoError(t, syscall.Kill(s.PID(), syscall.SIGCONT))
	is := expect.Value(db.UpdateItem(t.Context(), count))(t)
	expect.Same(t, "1", is.Attributes["n"].(*types.AttributeValueMemberN).Value)
}

// Calls in the form that programs send bypass moto's own dispatch to its handlers. Calls in other forms use that
// dispatch, and must get the same answers.
func TestACallIsAnsweredAlikeHoweverItComes(t *testing.T) {
	endpoint := process.MotoForTests(t)
	db := dynamodb.NewFromConfig(config(endpoint))
	table(t, db)
	item := key("あ", "1")
	item["n"], item["bytes"] = &types.AttributeValueMemberN{Value: "1"}, &types.AttributeValueMemberB{Value: []byte{0, 1}}
	item["none"] = &types.AttributeValueMemberNULL{Value: true}
	expect.Value(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: item}))(t)
	ask := func(name string, dress func(*http.Request)) (int, string) {
		get := `{"TableName":"` + name + `","Key":{"PK":{"S":"あ"},"SK":{"S":"1"}}}`
		r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/", strings.NewReader(get)))(t)
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "+
			"SignedHeaders=host, Signature=0")
		dress(r)
		resp := expect.Value(http.DefaultClient.Do(r))(t)
		defer resp.Body.Close()
		return resp.StatusCode, string(expect.Value(io.ReadAll(resp.Body))(t))
	}
	_, want := ask("rows", func(*http.Request) {})
	for _, part := range []string{`\u3042`, `"AAE="`, `"NULL": true`} {
		expect.Has(t, want, part)
	}
	for name, dress := range map[string]func(*http.Request){
		"another region in the agent's name": func(r *http.Request) { r.Header.Set("User-Agent", "x region/us-east-1") },
		"a body in parts":                    func(r *http.Request) { r.ContentLength = -1 },
	} {
		status, got := ask("rows", dress)
		expect.That(t, status == http.StatusOK && got == want, "%s: %d %s, want %s", name, status, got, want)
	}
	status, got := ask("none", func(*http.Request) {})
	expect.That(t, status == http.StatusBadRequest && strings.Contains(got, "ResourceNotFoundException"), "%d %s", status,
		got)
	status, _ = ask("rows", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") })
	expect.Is(t, status, http.StatusForbidden, "a page's call")
}
