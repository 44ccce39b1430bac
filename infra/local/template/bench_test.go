package template

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"ringi/shared/runtime/expect"
)

// bench checks the calls of functions with these roles.
func bench(roles map[string]Role) *Bench {
	return &Bench{Roles: roles, Log: slog.New(slog.DiscardHandler),
		Waiting:       []string{ARN("states", "stateMachine:ringi-Pipeline")},
		PartitionKeys: map[string]string{"ringi-Table": "PK", "ringi-Table/index/GSI1": "GSI1PK"}}
}

// clients makes AWS clients as a function's code does.
type clients struct{ aws.Config }

func (c clients) rows() *dynamodb.Client          { return dynamodb.NewFromConfig(c.Config) }
func (c clients) queues() *sqs.Client             { return sqs.NewFromConfig(c.Config) }
func (c clients) machines() *sfn.Client           { return sfn.NewFromConfig(c.Config) }
func (c clients) keys() *kms.Client               { return kms.NewFromConfig(c.Config) }
func (c clients) functions() *lambda.Client       { return lambda.NewFromConfig(c.Config) }
func (c clients) secrets() *secretsmanager.Client { return secretsmanager.NewFromConfig(c.Config) }
func (c clients) objects() *s3.Client {
	return s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
}

// calling returns the clients of a function whose calls a Bench checks. answer stands for AWS.
func calling(t *testing.T, r Role, answer http.HandlerFunc) clients {
	t.Helper()
	front := expect.Server(t, bench(map[string]Role{"OneFunction": r}).Handler(answer))
	return clients{aws.Config{Region: "us-east-1", BaseEndpoint: &front.URL,
		Credentials: credentials.NewStaticCredentialsProvider("OneFunction", "local", "local"), RetryMaxAttempts: 1}}
}

func s(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

func row(pk string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"PK": s(pk), "SK": s("x")}
}

var table, bucket, object = aws.String("ringi-Table"), aws.String("ringi-resultsbucket"), aws.String("results/t/1")

// of is a call of a client that is made when it is needed.
func of[Client, Input, Output, Option any](make func(clients) Client,
	call func(Client, context.Context, Input, ...Option) (Output, error), in Input) func(context.Context, clients) error {
	return func(ctx context.Context, c clients) error { return expect.Err(call(make(c), ctx, in)) }
}

// calls maps names to calls of AWS's own clients, and to the requests for rights that must follow from each.
var calls = map[string]struct {
	make func(ctx context.Context, c clients) error
	want []string
}{
	"GetItem": {of(clients.rows, (*dynamodb.Client).GetItem,
		&dynamodb.GetItemInput{TableName: table, Key: row("TASK#t#1")}),
		[]string{"dynamodb:GetItem table/ringi-Table Attributes=PK,SK LeadingKeys=TASK#t#1"}},
	"Query": {of(clients.rows, (*dynamodb.Client).Query,
		&dynamodb.QueryInput{TableName: table,
			KeyConditionExpression:    aws.String("#b BETWEEN :l AND :h AND #a = :v"),
			FilterExpression:          aws.String("size(body.#n[2].deep) > :l"),
			ExpressionAttributeNames:  map[string]string{"#a": "PK", "#b": "SK", "#n": "inner"},
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": s("TASK#t#1"), ":l": s("a"), ":h": s("b")}}),
		[]string{"dynamodb:Query table/ringi-Table Attributes=PK,SK,body LeadingKeys=TASK#t#1"}},
	"Query of an index": {of(clients.rows, (*dynamodb.Client).Query,
		&dynamodb.QueryInput{TableName: table, IndexName: aws.String("GSI1"),
			KeyConditionExpression:    aws.String("GSI1PK=:v"),
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": s("TENANT#t#PENDING")}}),
		[]string{"dynamodb:Query table/ringi-Table/index/GSI1 Attributes=GSI1PK LeadingKeys=TENANT#t#PENDING"}},
	"UpdateItem": {of(clients.rows, (*dynamodb.Client).UpdateItem,
		&dynamodb.UpdateItemInput{TableName: table, Key: row("HOME#t"),
			UpdateExpression:          aws.String("SET #a = if_not_exists(n, :v) REMOVE gone"),
			ConditionExpression:       aws.String("attribute_exists(PK) AND NOT #a IN (:v)"),
			ExpressionAttributeNames:  map[string]string{"#a": "rev"},
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": s("1")}}),
		[]string{"dynamodb:UpdateItem table/ringi-Table Attributes=PK,SK,gone,n,rev LeadingKeys=HOME#t"}},
	"TransactWriteItems": {of(clients.rows, (*dynamodb.Client).TransactWriteItems,
		&dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{
			{Put: &ddb.Put{TableName: table, Item: row("AUDIT#t")}},
			{Update: &ddb.Update{TableName: table, Key: row("TASK#t#1"), UpdateExpression: aws.String("SET a = b")}},
			{Delete: &ddb.Delete{TableName: table, Key: row("SESSION#t#1")}},
			{ConditionCheck: &ddb.ConditionCheck{TableName: table, Key: row("TENANT#t"),
				ConditionExpression: aws.String("attribute_exists(PK)")}},
		}}), []string{
		"dynamodb:PutItem table/ringi-Table Attributes=PK,SK EnclosingOperation=TransactWriteItems LeadingKeys=AUDIT#t",
		"dynamodb:UpdateItem table/ringi-Table Attributes=PK,SK,a,b EnclosingOperation=TransactWriteItems " +
			"LeadingKeys=TASK#t#1",
		"dynamodb:DeleteItem table/ringi-Table Attributes=PK,SK EnclosingOperation=TransactWriteItems " +
			"LeadingKeys=SESSION#t#1",
		"dynamodb:ConditionCheckItem table/ringi-Table Attributes=PK,SK EnclosingOperation=TransactWriteItems " +
			"LeadingKeys=TENANT#t",
	}},
	"BatchGetItem": {of(clients.rows, (*dynamodb.Client).BatchGetItem,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]ddb.KeysAndAttributes{"ringi-Table": {
			Keys: []map[string]ddb.AttributeValue{row("TASK#t#1"), row("TASK#t#2")}}}}),
		[]string{"dynamodb:BatchGetItem table/ringi-Table Attributes=PK,SK,PK,SK LeadingKeys=TASK#t#1,TASK#t#2"}},
	"BatchWriteItem": {of(clients.rows, (*dynamodb.Client).BatchWriteItem,
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]ddb.WriteRequest{
			"ringi-Table": {
				{PutRequest: &ddb.PutRequest{Item: row("CALL#t")}}, {DeleteRequest: &ddb.DeleteRequest{Key: row("LOG#t")}},
			}}}), []string{"dynamodb:BatchWriteItem table/ringi-Table Attributes=PK,SK,PK,SK LeadingKeys=CALL#t,LOG#t"}},
	"SendMessageBatch": {of(clients.queues, (*sqs.Client).SendMessageBatch,
		&sqs.SendMessageBatchInput{
			QueueUrl: aws.String("http://127.0.0.1:1/123456789012/ringi-CardQueue.fifo"),
			Entries:  []sqstypes.SendMessageBatchRequestEntry{{Id: aws.String("1"), MessageBody: aws.String("x")}},
		}), []string{"sqs:SendMessage ringi-CardQueue.fifo"}},
	"StartExecution": {of(clients.machines, (*sfn.Client).StartExecution,
		&sfn.StartExecutionInput{StateMachineArn: aws.String(
			"arn:aws:states:us-east-1:123456789012:stateMachine:ringi-Chat")}),
		[]string{"states:StartExecution stateMachine:ringi-Chat"}},
	"DescribeExecution": {of(clients.machines, (*sfn.Client).DescribeExecution,
		&sfn.DescribeExecutionInput{ExecutionArn: aws.String(
			"arn:aws:states:us-east-1:123456789012:execution:ringi-Chat:x-1")}),
		[]string{"states:DescribeExecution execution:ringi-Chat:x-1"}},
	"SendTaskSuccess": {of(clients.machines, (*sfn.Client).SendTaskSuccess,
		&sfn.SendTaskSuccessInput{TaskToken: aws.String("x"),
			Output: aws.String("{}")}), []string{"states:SendTaskSuccess stateMachine:ringi-Pipeline"}},
	"GetSecretValue": {of(clients.secrets, (*secretsmanager.Client).GetSecretValue,
		&secretsmanager.GetSecretValueInput{SecretId: aws.String("ringi-SlackSecret")}),
		[]string{"secretsmanager:GetSecretValue secret:ringi-SlackSecret"}},
	"GenerateDataKey": {of(clients.keys, (*kms.Client).GenerateDataKey,
		&kms.GenerateDataKeyInput{KeyId: aws.String("1234"),
			KeySpec: "AES_256", EncryptionContext: map[string]string{"tenant_id": "t", "provider": "slack"}}),
		[]string{"kms:GenerateDataKey key/1234 EncryptionContext:provider=slack EncryptionContext:tenant_id=t"}},
	"Decrypt without a key's id": {of(clients.keys, (*kms.Client).Decrypt,
		&kms.DecryptInput{CiphertextBlob: []byte("11111111-2222-3333-4444-555555555555 sealed")}),
		[]string{"kms:Decrypt key/11111111-2222-3333-4444-555555555555"}},
	"Sign": {of(clients.keys, (*kms.Client).Sign,
		&kms.SignInput{KeyId: aws.String("arn:aws:kms:us-east-1:123456789012:key/5"), Message: []byte("x"),
			SigningAlgorithm: kmstypes.SigningAlgorithmSpecEcdsaSha256}),
		[]string{"kms:Sign key/5 SigningAlgorithm=ECDSA_SHA_256"}},
	"Invoke": {of(clients.functions, (*lambda.Client).Invoke,
		&lambda.InvokeInput{FunctionName: aws.String("OtherFunction")}),
		[]string{"lambda:InvokeFunction function:OtherFunction"}},
	"InvokeWithResponseStream by ARN": {of(clients.functions, (*lambda.Client).InvokeWithResponseStream,
		&lambda.InvokeWithResponseStreamInput{FunctionName: aws.String(
			"arn:aws:lambda:us-east-1:123456789012:function:OtherFunction")}),
		[]string{"lambda:InvokeFunction function:OtherFunction"}},
	"GetObject": {of(clients.objects, (*s3.Client).GetObject,
		&s3.GetObjectInput{Bucket: bucket, Key: object}), []string{"s3:GetObject ringi-resultsbucket/results/t/1"}},
	"PutObject": {of(clients.objects, (*s3.Client).PutObject,
		&s3.PutObjectInput{Bucket: bucket, Key: object, Body: strings.NewReader("x")}),
		[]string{"s3:PutObject ringi-resultsbucket/results/t/1"}},
	"ListObjectsV2": {of(clients.objects, (*s3.Client).ListObjectsV2,
		&s3.ListObjectsV2Input{Bucket: bucket}), []string{"s3:ListBucket ringi-resultsbucket"}},
	"ListObjectVersions": {of(clients.objects, (*s3.Client).ListObjectVersions,
		&s3.ListObjectVersionsInput{Bucket: bucket, Prefix: object}),
		[]string{"s3:ListBucketVersions ringi-resultsbucket"}},
	"DeleteObjects of versions": {of(clients.objects, (*s3.Client).DeleteObjects,
		&s3.DeleteObjectsInput{Bucket: bucket,
			Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{{Key: aws.String("a"), VersionId: aws.String("1")},
				{Key: aws.String("b")}}}}),
		[]string{"s3:DeleteObjectVersion ringi-resultsbucket/a", "s3:DeleteObject ringi-resultsbucket/b"}},
	"a signed link": {func(ctx context.Context, c clients) error {
		out, err := s3.NewPresignClient(c.objects()).PresignGetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: object})
		if err != nil {
			return err
		}
		resp, err := http.Get(out.URL)
		return refusedWith(resp, err)
	}, []string{"s3:GetObject ringi-resultsbucket/results/t/1"}},
	"a signed form": {func(ctx context.Context, c clients) error {
		out, err := s3.NewPresignClient(c.objects()).PresignPostObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: object})
		if err != nil {
			return err
		}
		var body strings.Builder
		form := multipart.NewWriter(&body)
		for name, value := range out.Values {
			form.WriteField(name, value)
		}
		form.WriteField("file", "x")
		form.Close()
		resp, err := http.Post(out.URL, form.FormDataContentType(), strings.NewReader(body.String()))
		return refusedWith(resp, err)
	}, []string{"s3:PutObject ringi-resultsbucket/results/t/1"}},
}

// refusedWith returns the error of a call that was made without an AWS client.
func refusedWith(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s %w", resp.StatusCode, body, err)
	}
	return nil
}

func TestWhatCallsAskFor(t *testing.T) {
	for name, tt := range calls {
		var got []string
		c := calling(t, Role{}, nil)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call, err := readPolicy(r)
			expect.That(t, err == nil && call.caller == "OneFunction", "called by %q, %v", call.caller, err)
			for _, q := range expect.Value(bench(nil).requests(call))(t) {
				got = append(got, q.text())
			}
		}))
		c.BaseEndpoint = &front.URL
		_ = tt.make(t.Context(), c) // the server does not answer like AWS
		front.Close()
		expect.That(t, slices.Equal(tt.want, got), "%s asks for %q, want %q", name, got, tt.want)
	}
}

func (q Request) text() string {
	arn := strings.SplitN(q.Resource, ":", 6)
	words := []string{q.Action, arn[len(arn)-1]}
	for _, key := range slices.Sorted(maps.Keys(q.Context)) {
		if _, short, _ := strings.Cut(key, ":"); key != sourceFunction {
			words = append(words, short+"="+strings.Join(q.Context[key], ","))
		}
	}
	return strings.Join(words, " ")
}

// Clients must see AWS's code, status and message.
func TestARefusalIsAWSs(t *testing.T) {
	c := calling(t, Role{Name: "ringi-OneRole"},
		func(http.ResponseWriter, *http.Request) { t.Error("a refused call went on") })
	for name, tt := range map[string]struct {
		code   string
		status int
		says   string
	}{
		"Query of an index": {"AccessDeniedException", 400,
			"User: arn:aws:sts::123456789012:assumed-role/ringi-OneRole/OneFunction is not authorized to perform: " +
				"dynamodb:Query on resource: " +
				"arn:aws:dynamodb:us-east-1:123456789012:table/ringi-Table/index/GSI1 because no identity-based policy " +
				"allows the " +
				"dynamodb:Query action"},
		"TransactWriteItems": {"AccessDeniedException", 400, "dynamodb:PutItem on resource"},
		"SendMessageBatch": {"AccessDenied", 403,
			"is not authorized to perform: sqs:sendmessage on resource: " +
				"arn:aws:sqs:us-east-1:123456789012:ringi-CardQueue.fifo"},
		"StartExecution": {"AccessDeniedException", 400, "states:StartExecution on resource"},
		"GetSecretValue": {"AccessDeniedException", 400, "secretsmanager:GetSecretValue on resource"},
		"Sign":           {"AccessDeniedException", 400, "kms:Sign on resource"},
		"Invoke":         {"AccessDeniedException", 403, "lambda:InvokeFunction on resource"},
		"PutObject": {"AccessDenied", 403,
			`s3:PutObject on resource: "arn:aws:s3:::ringi-resultsbucket/results/t/1" because`},
	} {
		err := calls[name].make(t.Context(), c)
		var api smithy.APIError
		var http *awshttp.ResponseError
		expect.Must(t, errors.As(err, &api) && errors.As(err, &http), "%s: %v", name, err)
		expect.That(t, api.ErrorCode() == tt.code && http.HTTPStatusCode() == tt.status &&
			strings.Contains(api.ErrorMessage(), tt.says), "%s: %v", name, err)
	}
	for _, link := range []string{"a signed link", "a signed form"} {
		if err := calls[link].make(t.Context(), c); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("%s of what the role doesn't allow: %v", link, err)
		}
	}
}

// A function is judged by its role. People and tests have other keys, and are not judged.
func TestWhoIsJudged(t *testing.T) {
	reached := 0
	c := calling(t, role(t, files), func(w http.ResponseWriter, _ *http.Request) { reached++ })
	get := func(key string) error {
		_, err := c.objects().GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: &key})
		return err
	}
	expect.NoError(t, get("results/1"))
	err := get("prompts/1")
	expect.That(t, err != nil && strings.Contains(err.Error(), "with an explicit deny in an identity-based policy") &&
		reached == 1, "%v, %d calls went on", err, reached)
	for name, call := range map[string]func(context.Context, clients) error{
		"a bucket": of(clients.objects, (*s3.Client).CreateBucket,
			&s3.CreateBucketInput{Bucket: bucket}),
		"an object's list of who may read it": of(clients.objects, (*s3.Client).GetObjectAcl,
			&s3.GetObjectAclInput{Bucket: bucket, Key: object}),
		"a version": of(clients.objects, (*s3.Client).GetObject,
			&s3.GetObjectInput{Bucket: bucket, Key: object, VersionId: object}),
		"a copy": of(clients.objects, (*s3.Client).CopyObject,
			&s3.CopyObjectInput{Bucket: bucket, Key: object, CopySource: object}),
	} {
		err := call(t.Context(), c)
		expect.That(t, err != nil && strings.Contains(err.Error(), "does not know which rights"), "%s: %v", name, err)
	}
	c.Credentials = credentials.NewStaticCredentialsProvider("local", "local", "")
	expect.NoError(t, get("prompts/1"))
}

// A missing object is reported to callers who may list the bucket. For others S3 says that access is denied.
func TestAnObjectThatIsGone(t *testing.T) {
	const reads = `{"Sid": "Read", "Effect": "Allow", "Action": "s3:GetObject",` +
		` "Resource": "arn:aws:s3:::ringi-resultsbucket/*"}`
	for name, tt := range map[string]struct{ statements, code string }{
		"without": {"[" + reads + "]", "AccessDenied"},
		"with": {"[" + reads + `, {"Sid": "Tell", "Effect": "Allow", "Action": "s3:ListBucket",` +
			` "Resource": "arn:aws:s3:::ringi-resultsbucket"}]`, "NoSuchKey"},
	} {
		c := calling(t, role(t, tt.statements), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
		})
		err := calls["GetObject"].make(t.Context(), c)
		api, refused := errors.AsType[smithy.APIError](err)
		expect.That(t, refused && api.ErrorCode() == tt.code, "%s: %v", name, err)
	}
}
