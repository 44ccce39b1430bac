package explain_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store/large"
)

// ofTheDomain are the errors of aggregate and task by name.
var ofTheDomain = map[string]struct {
	err     error
	class   explain.Class
	refusal bool
}{
	"ErrNotFound":       {aggregate.ErrNotFound, explain.NotFound, true},
	"ErrNotAllowed":     {aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}, explain.NotAllowed, true},
	"ErrOnRoute":        {aggregate.ErrOnRoute, explain.NotAllowed, true},
	"ErrDecided":        {aggregate.ErrDecided{}, explain.Decided, true},
	"ErrNotLatest":      {aggregate.ErrNotLatest{Latest: 2}, explain.NotLatest, true},
	"ErrInFlight":       {aggregate.ErrInFlight, explain.InFlight, true},
	"ErrUncovered":      {aggregate.ErrUncovered, explain.Uncovered, true},
	"Problem":           {aggregate.Problem{Field: "slug"}, explain.Field, true},
	"ErrNothingToRetry": {task.ErrNothingToRetry, explain.NothingToRetry, true},
	"ErrMaxAttempts":    {task.ErrMaxAttempts, explain.MaxAttempts, true},
	"ErrMaxRetries":     {task.ErrMaxRetries, explain.MaxRetries, true},
	"ErrTooLarge":       {aggregate.ErrTooLarge{}, explain.Internal, false},
	"ErrFull":           {aggregate.ErrFull{}, explain.Full, false},
	"StopError":         {task.StopError{}, explain.Stopped, false},
	"ErrUnconfirmed":    {aggregate.ErrUnconfirmed, explain.Unconfirmed, false},
	"ErrNumber":         {task.ErrNumber, explain.Conflict, false},
	"ErrNumbersGone":    {task.ErrNumbersGone, explain.Internal, false},
	"ErrExists":         {aggregate.ErrExists, explain.Conflict, false},
	"ErrConflict":       {aggregate.ErrConflict, explain.Conflict, false},
	"ErrMoved":          {aggregate.ErrMoved, explain.Changed, false},
	"ErrSettings":       {aggregate.ErrSettings, explain.Changed, false},
	"ErrNotDue":         {aggregate.ErrNotDue, explain.Changed, false},
	"ErrSuperseded":     {aggregate.ErrSuperseded, explain.Superseded, false},
}

func TestWhyAnActIsRefusedIsNoFailure(t *testing.T) {
	got := explain.ClassOf(fmt.Errorf("stamp: %w", &circulation.Refusal{Why: circulation.WhyTurn}))
	expect.That(t, got == explain.NotAllowed && got.Refusal(), "it is %s", got)
	got = explain.ClassOf(fmt.Errorf("deny: %w", &circulation.Refusal{Why: circulation.WhyText}))
	expect.That(t, got == explain.Field && got.Refusal(), "a reason that won't do is %s", got)
}

func TestEveryErrorOfTheDomainHasAClass(t *testing.T) {
	for name, tt := range ofTheDomain {
		got := explain.ClassOf(fmt.Errorf("decide: %w", tt.err))
		expect.That(t, got == tt.class && got.Refusal() == tt.refusal, "%s is %s, a refusal: %t", name, got, got.Refusal())
	}
	found := 0
	for _, folder := range []string{"../domain/aggregate", "../domain/task"} {
		for _, name := range errorsIn(t, folder) {
			found++
			_, ok := ofTheDomain[name]
			expect.That(t, ok, "%s of %s is in no class", name, folder)
		}
	}
	expect.Is(t, found, len(ofTheDomain), "the domain has errors, the table")
}

// errorsIn returns the error values and types that a package exports.
func errorsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	expect.Must(t, err == nil && len(files) != 0, "%s: %v", folder, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b := expect.Value(os.ReadFile(name))(t)
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, b, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if receiver, ok := errorMethod(n); ok {
					names = append(names, receiver)
				}
				return false
			case *ast.ValueSpec:
				for _, v := range n.Names {
					if strings.HasPrefix(v.Name, "Err") {
						names = append(names, v.Name)
					}
				}
			}
			return true
		})
	}
	return names
}

// errorMethod returns the type of which a function is the Error method.
func errorMethod(f *ast.FuncDecl) (string, bool) {
	if f.Name.Name != "Error" || f.Recv == nil {
		return "", false
	}
	of, ok := f.Recv.List[0].Type.(*ast.Ident)
	return of.Name, ok
}

func TestOtherErrors(t *testing.T) {
	of := func(err error) error { return &smithy.OperationError{ServiceID: "DynamoDB", Err: err} }
	api := func(code string) error { return of(&smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient}) }
	for name, tt := range map[string]struct {
		err  error
		want explain.Class
	}{
		"none":           {nil, explain.None},
		"an unknown one": {errors.New("boom"), explain.Internal},
		"Slack is silent about a person": {fmt.Errorf("%w: %w", explain.ErrUnverified, context.DeadlineExceeded),
			explain.Unverified},
		"another release's form":  {explain.ErrMalformedForm, explain.MalformedForm},
		"an input without a gate": {explain.ErrBadInput, explain.BadInput},
		"a model that is away":    {explain.ErrModelUnavailable, explain.ModelUnavailable},
		"a service that is away":  {explain.ErrUnavailable, explain.Unavailable},
		"no time left":            {context.DeadlineExceeded, explain.Unavailable},
		"cut off":                 {context.Canceled, explain.Unavailable},
		"cut off in the middle of a commit": {fmt.Errorf("%w: %w", aggregate.ErrUnconfirmed, context.DeadlineExceeded),
			explain.Unconfirmed},
		"decided, and gone":          {errors.Join(aggregate.ErrDecided{}, aggregate.ErrNotFound), explain.Decided},
		"no connection":              {of(errors.New("reset")), explain.Unavailable},
		"AWS throttles":              {api("ThrottlingException"), explain.Unavailable},
		"AWS says that we are wrong": {api("ValidationException"), explain.Internal},
		"AWS says that we are wrong, retried": {fmt.Errorf("%w: %w", explain.ErrUnavailable, api("ValidationException")),
			explain.Unavailable},
		"a transaction that lost against AWS'": {fmt.Errorf("%w: %w", aggregate.ErrConflict, api("ValidationException")),
			explain.Conflict},
	} {
		expect.Is(t, explain.ClassOf(tt.err), tt.want, "%s", name)
	}
}

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
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled, `+
			`please refer cancellation reasons for specific reasons [None, %[1]s]",`+
			`"CancellationReasons":[{"Code":"None"},{"Code":%[1]q,"Message":"said by AWS"}]}`, code)}
}

// restXML is an error in the form of S3's protocol.
func restXML(status int, code string) refusal {
	return refusal{status, "application/xml", nil, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + code +
		`</Code><Message>said by AWS</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`}
}

// restJSON is an error in the form of Lambda's protocol.
func restJSON(status int, name string) refusal {
	return refusal{status, "application/json", http.Header{"X-Amzn-Errortype": {name +
		":http://internal.amazon.com/coral/com.amazonaws.lambda/"}}, `{"Type":"User","message":"said by AWS"}`}
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
			put := types.Put{TableName: aws.String("t"),
				Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}}}
			_, err := dynamodb.NewFromConfig(c).TransactWriteItems(ctx,
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &put}, {Put: &put}}})
			return err
		},
		"SQS": func(ctx context.Context, c aws.Config) error {
			_, err := sqs.NewFromConfig(c).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: c.BaseEndpoint,
				MessageBody: aws.String("x")})
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
		"an envelope": func(ctx context.Context, c aws.Config) error {
			_, err := vault.EnvelopeAt(c, "k").Seal(ctx, "t", "freee", []byte("x"))
			return err
		},
		"a function": func(ctx context.Context, c aws.Config) error {
			return outbound.FunctionAt(c, "f").Call(ctx, nil, new(struct{}))
		},
		"a bucket": func(ctx context.Context, c aws.Config) error {
			_, err := large.BucketAt(c, "b").Get(ctx, "k", 1)
			return err
		},
		"S3": func(ctx context.Context, c aws.Config) error {
			_, err := s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true }).GetObject(ctx,
				&s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
			return err
		},
		"S3, without a body": func(ctx context.Context, c aws.Config) error {
			_, err := s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true }).HeadObject(ctx,
				&s3.HeadObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
			return err
		},
	}
}

// clientTo is a configuration for SDK clients of a service that f answers. They try once.
func clientTo(t *testing.T, f http.Handler) aws.Config {
	service := expect.Server(t, f)
	return aws.Config{Region: "us-east-1", BaseEndpoint: &service.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		Retryer:     func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) }}
}

// The class tells which of AWS's errors, as the SDK's clients return them, a retry may fix.
func TestWhatAWSRefusesForGood(t *testing.T) {
	const dynamo, coral = "com.amazonaws.dynamodb.v20120810#", "com.amazon.coral.service#"
	for _, tt := range []struct {
		service string
		says    refusal
		want    explain.Class
	}{
		{"DynamoDB", json10(400, "com.amazon.coral.validate#ValidationException"), explain.Internal},
		{"DynamoDB", json10(400, coral+"AccessDeniedException"), explain.Internal},
		{"DynamoDB", json10(400, coral+"UnrecognizedClientException"), explain.Internal},
		{"DynamoDB", json10(400, coral+"SerializationException"), explain.Internal},
		{"DynamoDB", json10(400, dynamo+"ResourceNotFoundException"), explain.Internal},
		{"DynamoDB", json10(400, dynamo+"IdempotentParameterMismatchException"), explain.Internal},
		{"DynamoDB", cancelled("ValidationError"), explain.Internal},
		{"DynamoDB", cancelled("ItemCollectionSizeLimitExceeded"), explain.Internal},
		{"DynamoDB", cancelled("ThrottlingError"), explain.Unavailable},
		{"DynamoDB", cancelled("ProvisionedThroughputExceeded"), explain.Unavailable},
		{"DynamoDB", cancelled("TransactionConflict"), explain.Unavailable},
		{"DynamoDB", json10(400, dynamo+"ProvisionedThroughputExceededException"), explain.Unavailable},
		{"DynamoDB", json10(400, dynamo+"TransactionInProgressException"), explain.Unavailable},
		{"DynamoDB", json10(400, dynamo+"TransactionConflictException"), explain.Unavailable},
		{"DynamoDB", json10(400, dynamo+"ReplicatedWriteConflictException"), explain.Unavailable},
		{"DynamoDB", json10(400, coral+"ThrottlingException"), explain.Unavailable},
		{"DynamoDB", json10(400, coral+"ExpiredTokenException"), explain.Unavailable},
		{"DynamoDB", json10(500, dynamo+"InternalServerError"), explain.Unavailable},
		{"DynamoDB", json10(503, coral+"ServiceUnavailableException"), explain.Unavailable},
		{"SQS", queryCompatible(400, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"), explain.Internal},
		{"SQS", queryCompatible(403, "AccessDeniedException", "AccessDenied"), explain.Internal},
		{"SQS", queryCompatible(403, "RequestThrottled", "RequestThrottled"), explain.Unavailable},
		{"SQS", queryCompatible(400, "OverLimit", "OverLimit"), explain.Unavailable},
		{"Step Functions", json10(400, "StateMachineDoesNotExist"), explain.Internal},
		{"Step Functions", json10(400, "ValidationException"), explain.Internal},
		{"Step Functions", json10(400, "ExecutionLimitExceeded"), explain.Unavailable},
		{"KMS", json10(400, "AccessDeniedException"), explain.Internal},
		{"KMS", json10(400, "DisabledException"), explain.Internal},
		{"KMS", json10(500, "KMSInternalException"), explain.Unavailable},
		{"KMS", json10(503, "DependencyTimeoutException"), explain.Unavailable},
		{"an envelope", json10(400, "AccessDeniedException"), explain.Internal},
		{"an envelope", json10(400, "com.amazonaws.kms#DisabledException"), explain.Internal},
		{"an envelope", json10(400, "ThrottlingException"), explain.Unavailable},
		{"an envelope", json10(500, "KMSInternalException"), explain.Unavailable},
		{"an envelope", json10(503, "DependencyTimeoutException"), explain.Unavailable},
		{"a function", restJSON(403, "AccessDeniedException"), explain.Internal},
		{"a function", restJSON(429, "TooManyRequestsException"), explain.Unavailable},
		{"a function", refusal{200, "", http.Header{"X-Amz-Function-Error": {"Unhandled"}}, `{}`}, explain.Unavailable},
		{"S3", restXML(403, "AccessDenied"), explain.Internal},
		{"S3", restXML(403, "InvalidAccessKeyId"), explain.Internal},
		{"S3", restXML(404, "NoSuchKey"), explain.Internal},
		{"S3", restXML(400, "RequestTimeout"), explain.Unavailable},
		{"S3", restXML(409, "OperationAborted"), explain.Unavailable},
		{"S3", restXML(503, "SlowDown"), explain.Unavailable},
		{"a bucket", restXML(403, "AccessDenied"), explain.Internal},
		{"a bucket", restXML(404, "NoSuchKey"), explain.Internal},
		{"a bucket", restXML(409, "OperationAborted"), explain.Unavailable},
		{"a bucket", restXML(503, "SlowDown"), explain.Unavailable},
		{"S3, without a body", refusal{status: 403}, explain.Internal},
		{"S3, without a body", refusal{status: 503}, explain.Unavailable},
	} {
		err := calls()[tt.service](t.Context(), clientTo(t, tt.says))
		if got := explain.ClassOf(fmt.Errorf("do it: %w", err)); got != tt.want {
			t.Errorf("%s says %d %.90s: %s, want %s (%v)", tt.service, tt.says.status, tt.says.body, got, tt.want, err)
		}
	}
}

func TestACallThatAWSDidNotAnswer(t *testing.T) {
	closes := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, call := range calls() {
		got := explain.ClassOf(call(t.Context(), clientTo(t, closes)))
		expect.Is(t, got, explain.Unavailable, "%s closes the connection", name)
	}
	c := clientTo(t, closes)
	_, err := dynamodb.NewFromConfig(c).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{})
	expect.Is(t, explain.ClassOf(err), explain.Internal, "a call that the client does not even send: (%v)", err)
}
