package template

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/runtime/expect"
)

func names() Names {
	return Names{
		Stack: "ringi", Region: "us-east-1", Account: "123456789012", Endpoint: "http://127.0.0.1:4566",
		Known: map[string]string{"Key": "key-1",
			"Table.StreamArn": "arn:aws:dynamodb:us-east-1:123456789012:table/ringi-Table/stream/now"},
	}
}

func read(t *testing.T, parameters map[string]string) *Template {
	t.Helper()
	return expect.Value(Read(filepath.Join("testdata", "template.yaml"), names(), parameters))(t)
}

func TestReadResolvesTheWholeTemplate(t *testing.T) {
	got := read(t, nil)
	want := &Template{
		Functions: []Function{
			{
				ID: "ReceiveEventFunction", Folder: "receive-event", Timeout: 5 * time.Second, Memory: 512, LogLevel: "DEBUG",
				Environment: map[string]string{
					"TABLE_NAME": "ringi-Table", "STAGE": "dev", "QUEUE_URL": "http://127.0.0.1:4566/123456789012/ringi-Orders.fifo",
					"ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:ringi-Pipeline:us-east-1", "KEY": "key-1",
				},
				Routes: []Route{
					{Event: "Any", Method: "ANY", Path: "/console/{proxy+}", Timeout: 30 * time.Second},
					{Event: "Post", Method: "POST", Path: "/slack/events", Timeout: 4 * time.Second},
				},
			},
			{
				ID: "RelayFunction", Folder: "relay", Timeout: 30 * time.Second, Memory: 256, Concurrency: 3, LogLevel: "DEBUG",
				Environment: map[string]string{"TABLE_NAME": "ringi-Table", "STAGE": "dev",
					"QUEUE_URL": "http://127.0.0.1:4566/123456789012/ringi-Orders.fifo", "KEY": "none"},
				Streams: []StreamMapping{{Event: "Changes",
					Source: "arn:aws:dynamodb:us-east-1:123456789012:table/ringi-Table/stream/now", From: "TRIM_HORIZON",
					BatchSize: 25, Parallel: 3, Bisect: true, PartialFailures: true,
					OnFailure: "arn:aws:sqs:us-east-1:123456789012:ringi-Lost", Filters: []string{`{"eventName":["INSERT"]}`}}},
				Queues: []QueueMapping{{Event: "Orders", Source: "arn:aws:sqs:us-east-1:123456789012:ringi-Orders.fifo",
					BatchSize: 1, Concurrency: 4}},
				Schedules: []Schedule{{Event: "Tick", Every: 5 * time.Minute, Input: `{"a":1}`}},
			},
		},
		Tables: []Table{{
			ID: "Table", Name: "ringi-Table", Key: key("PK", "SK"), Attributes: []types.AttributeDefinition{
				{AttributeName: aws.String("PK"), AttributeType: "S"}, {AttributeName: aws.String("SK"), AttributeType: "S"},
				{AttributeName: aws.String("GSI1PK"), AttributeType: "S"},
			},
			Indexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("GSI1"), KeySchema: key("GSI1PK", "SK"),
				Projection: &types.Projection{ProjectionType: "ALL"}}}, Stream: "NEW_AND_OLD_IMAGES", Expiry: "delete_after",
		}},
		Queues: []Queue{
			{ID: "Lost", Name: "ringi-Lost", URL: "http://127.0.0.1:4566/123456789012/ringi-Lost",
				ARN: "arn:aws:sqs:us-east-1:123456789012:ringi-Lost", Attributes: map[string]string{}},
			{
				ID: "Orders", Name: "ringi-Orders.fifo", URL: "http://127.0.0.1:4566/123456789012/ringi-Orders.fifo",
				ARN: "arn:aws:sqs:us-east-1:123456789012:ringi-Orders.fifo",
				Attributes: map[string]string{
					"FifoQueue": "true", "VisibilityTimeout": "60",
					"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:123456789012:ringi-OrdersDead.fifo",` +
						`"maxReceiveCount":5}`,
				},
				DeadLetters: "arn:aws:sqs:us-east-1:123456789012:ringi-OrdersDead.fifo",
			},
			{ID: "OrdersDead", Name: "ringi-OrdersDead.fifo", URL: "http://127.0.0.1:4566/123456789012/ringi-OrdersDead.fifo",
				ARN:        "arn:aws:sqs:us-east-1:123456789012:ringi-OrdersDead.fifo",
				Attributes: map[string]string{"FifoQueue": "true"}},
		},
		Machines: []Machine{{
			ID: "Pipeline", Name: "ringi-Pipeline", ARN: "arn:aws:states:us-east-1:123456789012:stateMachine:ringi-Pipeline",
			Type: "STANDARD",
			Definition: `{"StartAt":"A","States":{"A":{"Type":"Task",` +
				`"Resource":"arn:aws:lambda:us-east-1:123456789012:function:RelayFunction","End":true}}}` + "\n",
		}},
		Buckets: []Bucket{{Resource: Resource{ID: "Results", Name: "ringi-results"},
			Retention: Retention{Mode: "GOVERNANCE", Days: 3}, Versioned: true}},
		Keys:    []CryptoKey{{Resource: Resource{ID: "Key", Name: "key-1"}, Spec: "ECC_NIST_P256", Usage: "SIGN_VERIFY"}},
		Secrets: []Resource{{ID: "Secret", Name: "ringi-Secret"}},
	}
	expect.Same(t, want, got, cmpopts.IgnoreUnexported(types.AttributeDefinition{}, types.KeySchemaElement{},
		types.GlobalSecondaryIndex{}, types.Projection{}))
}

func key(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange}}
}

func TestParametersDecideConditions(t *testing.T) {
	got := read(t, map[string]string{"Stage": "prod", "Model": "demo", "Seconds": "9"})
	expect.That(t, len(got.Buckets) == 2, "%d buckets, want the conditional one too", len(got.Buckets))
	f := got.Functions[0]
	expect.That(t, f.Environment["MODEL"] == "demo" && f.Environment["STAGE"] == "prod" && f.Timeout == 9*time.Second,
		"function is %+v", f)
	expect.That(t, got.Functions[1].Memory == 1024, "memory is %d, want production's", got.Functions[1].Memory)
}

func TestMistakesAreNamed(t *testing.T) {
	function := func(properties string) string {
		return "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties: {" + properties + "}\n"
	}
	tests := []struct {
		name, text, want string
		parameters       map[string]string
	}{
		{"unknown parameter", "{}", `no parameter "X"`, map[string]string{"X": "1"}},
		{"value not allowed", "Parameters: {S: {Type: String, AllowedValues: [a, b]}}", "none of [a b]",
			map[string]string{"S": "c"}},
		{"missing value", "Parameters: {S: {Type: String}}", "S has no default", nil},
		{"unknown resource", function("Timeout: !Ref Nobody"), `F: Timeout: line 4: !Ref: "Nobody" is no parameter`, nil},
		{"unknown intrinsic", function("Timeout: !Cidr [a, 1, 2]"), "!Cidr: not known", nil},
		{"unknown name in a text", function(`Description: !Sub "${Nobody.Arn}"`), `"Nobody" is no resource`, nil},
		{"cron", function("Events: {T: {Type: Schedule, Properties: {Schedule: 'cron(0 1 * * ? *)'}}}"),
			"rate(…) schedules only", nil},
		{"no definition", "Resources: {P: {Type: AWS::Serverless::StateMachine, Properties: {DefinitionUri: nowhere.json}}}",
			"DefinitionUri", nil},
		{"substitution missing", "Resources: {P: {Type: AWS::Serverless::StateMachine, " +
			"Properties: {DefinitionUri: pipeline.asl.json}}}", "lacks RelayFunctionArn", nil},
		{"filtered queue", function("Events: {Q: {Type: SQS, Properties: {FilterCriteria: {Filters: [{Pattern: '{}'}]}}}}"),
			"filters streams, and no queues", nil},
		{"unknown condition", "Resources: {B: {Type: AWS::S3::Bucket, Condition: A}}", `no condition "A"`, nil},
		{"unknown name in a condition", "Conditions: {A: !Not [!Equals [!Ref Nobody, 1]]}\n" +
			"Resources: {B: {Type: AWS::S3::Bucket, Condition: A}}", `"Nobody" is no parameter`, nil},
		{"an event that is off", function("Events: {Q: {Type: SQS, Properties: {Enabled: false}}}"),
			"has all events on", nil},
		{"a long form", function("Timeout: {Ref: Seconds}"), "the short forms", nil},
		{"a text with a map", function("Timeout: !Sub [a, {b: c}]"), "takes a text", nil},
		{"unknown event", function("Events: {K: {Type: Kinesis}}"), `no events of type "Kinesis"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse([]byte(tt.text), "testdata", names(), tt.parameters)
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "got %v, want %q in it", err, tt.want)
		})
	}
}

func TestFolder(t *testing.T) {
	for id, want := range map[string]string{"ReceiveEventFunction": "receive-event", "SweepTasksFunction": "sweep-tasks",
		"X": "x"} {
		got := Folder(id)
		expect.That(t, got == want, "Folder(%q) = %q, want %q", id, got, want)
	}
}
