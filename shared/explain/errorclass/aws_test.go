package errorclass_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/function"
	"ringi/shared/store/bucket"
)

// refusal is an error response of AWS in the form of the service's protocol.
type refusal struct {
	status int
	kind   string // content type
	header http.Header
	body   string
}

func (f refusal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", f.kind)
	w.WriteHeader(f.status)
	_, _ = w.Write([]byte(f.body))
}

// json10 is an error of the services with JSON 1.0 or 1.1: DynamoDB, SQS, Step Functions, KMS and Secrets Manager.
func json10(status int, name string) refusal {
	return refusal{status, "application/x-amz-json-1.0", nil, fmt.Sprintf(`{"__type":%q,"message":"said by AWS"}`, name)}
}

// cancelled is DynamoDB's answer to a transaction in which one action was refused.
func cancelled(code string) refusal {
	return refusal{http.StatusBadRequest, "application/x-amz-json-1.0", nil, fmt.Sprintf(
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, %[1]s]",`+
			`"CancellationReasons":[{"Code":"None"},{"Code":%[1]q,"Message":"said by AWS"}]}`, code)}
}

// restXML is an error in the form of S3's protocol.
func restXML(status int, code string) refusal {
	return refusal{status, "application/xml", nil, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + code + `</Code><Message>said by AWS</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`}
}

// queryXML is an error of services with the query protocol, such as STS.
func queryXML(status int, code string) refusal {
	return refusal{status, "text/xml", nil, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>` + code + `</Code><Message>said by AWS</Message></Error><RequestId>1</RequestId></ErrorResponse>`}
}

// restJSON is an error in the form of Lambda's protocol.
func restJSON(status int, name string) refusal {
	return refusal{status, "application/json", http.Header{"X-Amzn-Errortype": {name + ":http://internal.amazon.com/coral/com.amazonaws.lambda/"}}, `{"Type":"User","message":"said by AWS"}`}
}

// queryCompatible is an error of SQS, which also has the error's name in the older query protocol.
func queryCompatible(status int, name, code string) refusal {
	f := json10(status, "com.amazonaws.sqs#"+name)
	f.header = http.Header{"X-Amzn-Query-Error": {code + ";Sender"}}
	return f
}

func calls() map[string]func(context.Context, aws.Config) error {
	return map[string]func(context.Context, aws.Config) error{
		"DynamoDB": func(ctx context.Context, c aws.Config) error {
			put := types.Put{TableName: aws.String("t"), Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}}}
			_, err := dynamodb.NewFromConfig(c).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &put}, {Put: &put}}})
			return err
		},
		"SQS": func(ctx context.Context, c aws.Config) error {
			_, err := sqs.NewFromConfig(c).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: c.BaseEndpoint, MessageBody: aws.String("x")})
			return err
		},
		"Step Functions": func(ctx context.Context, c aws.Config) error {
			_, err := sfn.NewFromConfig(c).StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: aws.String("arn")})
			return err
		},
		"KMS": func(ctx context.Context, c aws.Config) error {
			_, err := kms.NewFromConfig(c).Decrypt(ctx, &kms.DecryptInput{CiphertextBlob: []byte("x")})
			return err
		},
		"Secrets Manager": func(ctx context.Context, c aws.Config) error {
			_, err := secretsmanager.NewFromConfig(c).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("x")})
			return err
		},
		"Lambda": func(ctx context.Context, c aws.Config) error {
			_, err := lambda.NewFromConfig(c).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
			return err
		},
		"a function": func(ctx context.Context, c aws.Config) error {
			return function.At(c, "f").Call(ctx, nil, new(struct{}))
		},
		"a bucket": func(ctx context.Context, c aws.Config) error {
			_, err := bucket.At(c, "b").Get(ctx, "k", 1)
			return err
		},
		"S3": func(ctx context.Context, c aws.Config) error {
			_, err := s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true }).GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
			return err
		},
		"S3, without a body": func(ctx context.Context, c aws.Config) error {
			_, err := s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true }).HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
			return err
		},
		"STS": func(ctx context.Context, c aws.Config) error {
			_, err := sts.NewFromConfig(c).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		},
	}
}

// clientTo is a configuration for SDK clients of a service that f answers. They try once.
func clientTo(t *testing.T, f http.Handler) aws.Config {
	service := httptest.NewServer(f)
	t.Cleanup(service.Close)
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: &service.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		Retryer: func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) },
	}
}

// The class tells which of AWS's errors, as the SDK's clients return them, a retry may fix.
func TestWhatAWSRefusesForGood(t *testing.T) {
	const dynamo, coral = "com.amazonaws.dynamodb.v20120810#", "com.amazon.coral.service#"
	for _, tt := range []struct {
		service string
		says    refusal
		want    errorclass.Class
	}{
		{"DynamoDB", json10(400, "com.amazon.coral.validate#ValidationException"), errorclass.Internal},
		{"DynamoDB", json10(400, coral+"AccessDeniedException"), errorclass.Internal},
		{"DynamoDB", json10(400, coral+"UnrecognizedClientException"), errorclass.Internal},
		{"DynamoDB", json10(400, coral+"SerializationException"), errorclass.Internal},
		{"DynamoDB", json10(400, dynamo+"ResourceNotFoundException"), errorclass.Internal},
		{"DynamoDB", json10(400, dynamo+"IdempotentParameterMismatchException"), errorclass.Internal},
		{"DynamoDB", cancelled("ValidationError"), errorclass.Internal},
		{"DynamoDB", cancelled("ItemCollectionSizeLimitExceeded"), errorclass.Internal},
		{"DynamoDB", cancelled("ThrottlingError"), errorclass.Unavailable},
		{"DynamoDB", cancelled("ProvisionedThroughputExceeded"), errorclass.Unavailable},
		{"DynamoDB", cancelled("TransactionConflict"), errorclass.Unavailable},
		{"DynamoDB", json10(400, dynamo+"ProvisionedThroughputExceededException"), errorclass.Unavailable},
		{"DynamoDB", json10(400, dynamo+"TransactionInProgressException"), errorclass.Unavailable},
		{"DynamoDB", json10(400, dynamo+"TransactionConflictException"), errorclass.Unavailable},
		{"DynamoDB", json10(400, dynamo+"ReplicatedWriteConflictException"), errorclass.Unavailable},
		{"DynamoDB", json10(400, coral+"ThrottlingException"), errorclass.Unavailable},
		{"DynamoDB", json10(400, coral+"ExpiredTokenException"), errorclass.Unavailable},
		{"DynamoDB", json10(500, dynamo+"InternalServerError"), errorclass.Unavailable},
		{"DynamoDB", json10(503, coral+"ServiceUnavailableException"), errorclass.Unavailable},
		{"SQS", queryCompatible(400, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"), errorclass.Internal},
		{"SQS", queryCompatible(403, "AccessDeniedException", "AccessDenied"), errorclass.Internal},
		{"SQS", queryCompatible(403, "RequestThrottled", "RequestThrottled"), errorclass.Unavailable},
		{"SQS", queryCompatible(400, "OverLimit", "OverLimit"), errorclass.Unavailable},
		{"Step Functions", json10(400, "StateMachineDoesNotExist"), errorclass.Internal},
		{"Step Functions", json10(400, "ValidationException"), errorclass.Internal},
		{"Step Functions", json10(400, "ExecutionLimitExceeded"), errorclass.Unavailable},
		{"KMS", json10(400, "AccessDeniedException"), errorclass.Internal},
		{"KMS", json10(400, "DisabledException"), errorclass.Internal},
		{"KMS", json10(500, "KMSInternalException"), errorclass.Unavailable},
		{"KMS", json10(503, "DependencyTimeoutException"), errorclass.Unavailable},
		{"Secrets Manager", json10(400, "AccessDeniedException"), errorclass.Internal},
		{"Secrets Manager", json10(500, "InternalServiceError"), errorclass.Unavailable},
		{"Lambda", restJSON(403, "AccessDeniedException"), errorclass.Internal},
		{"Lambda", restJSON(404, "ResourceNotFoundException"), errorclass.Internal},
		{"Lambda", restJSON(429, "TooManyRequestsException"), errorclass.Unavailable},
		{"Lambda", restJSON(502, "EC2UnexpectedException"), errorclass.Unavailable},
		{"a function", restJSON(403, "AccessDeniedException"), errorclass.Internal},
		{"a function", restJSON(429, "TooManyRequestsException"), errorclass.Unavailable},
		{"a function", refusal{200, "", http.Header{"X-Amz-Function-Error": {"Unhandled"}}, `{}`}, errorclass.Unavailable},
		{"S3", restXML(403, "AccessDenied"), errorclass.Internal},
		{"S3", restXML(403, "InvalidAccessKeyId"), errorclass.Internal},
		{"S3", restXML(404, "NoSuchKey"), errorclass.Internal},
		{"S3", restXML(400, "RequestTimeout"), errorclass.Unavailable},
		{"S3", restXML(409, "OperationAborted"), errorclass.Unavailable},
		{"S3", restXML(503, "SlowDown"), errorclass.Unavailable},
		{"a bucket", restXML(403, "AccessDenied"), errorclass.Internal},
		{"a bucket", restXML(404, "NoSuchKey"), errorclass.Internal},
		{"a bucket", restXML(409, "OperationAborted"), errorclass.Unavailable},
		{"a bucket", restXML(503, "SlowDown"), errorclass.Unavailable},
		{"S3, without a body", refusal{status: 403}, errorclass.Internal},
		{"S3, without a body", refusal{status: 503}, errorclass.Unavailable},
		{"STS", queryXML(403, "AccessDenied"), errorclass.Internal},
		{"STS", queryXML(403, "InvalidClientTokenId"), errorclass.Internal},
		{"STS", queryXML(400, "Throttling"), errorclass.Unavailable},
		{"STS", queryXML(403, "ExpiredToken"), errorclass.Unavailable},
	} {
		err := calls()[tt.service](t.Context(), clientTo(t, tt.says))
		if got := errorclass.Of(fmt.Errorf("do it: %w", err)); got != tt.want {
			t.Errorf("%s says %d %.90s: %s, want %s (%v)", tt.service, tt.says.status, tt.says.body, got, tt.want, err)
		}
	}
}

func TestACallThatAWSDidNotAnswer(t *testing.T) {
	closes := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, call := range calls() {
		got := errorclass.Of(call(t.Context(), clientTo(t, closes)))
		expect.Is(t, got, errorclass.Unavailable, "%s closes the connection", name)
	}
	c := clientTo(t, closes)
	_, err := dynamodb.NewFromConfig(c).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{})
	expect.Is(t, errorclass.Of(err), errorclass.Internal, "a call that the client does not even send: (%v)", err)
}
