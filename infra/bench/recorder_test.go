package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/lambda"
	"ringi/infra/local/moto"
	"ringi/shared/runtime/expect"
)

func TestName(t *testing.T) {
	tests := []struct{ kind, want string }{
		{"DynamoDB.Query", "DynamoDB.Query"},
		{"AWSStepFunctions.SendTaskSuccess", "StepFunctions.SendTaskSuccess"},
		{"AmazonSQS.SendMessage", "SQS.SendMessage"},
		{"TrentService.Decrypt", "KMS.Decrypt"},
		{"POST /api/chat.postMessage", "slack chat.postMessage"},
		{"GET /freee/hr/api/v1/employees", "freee GET employees"},
		{"PUT /ringi-results/tenant/*", "S3.PutObject"},
		{"GET /ringi-results/tenant/*", "S3.GetObject"},
		{lambda.KindStart, lambda.KindStart},
	}
	for _, tt := range tests {
		expect.Is(t, name(tt.kind), tt.want, "%s", tt.kind)
	}
}

func TestOnlyWhatNobodyHasToJudgeMayFail(t *testing.T) {
	tests := []struct {
		name string
		call Call
		want bool
	}{
		{"an AWS call", Call{Function: "UpdateCardFunction", Request: "1", Name: "DynamoDB.Query"}, true},
		{"a card", Call{Function: "UpdateCardFunction", Request: "1", Name: "slack chat.update"}, true},
		{"an AWS call of a step", Call{Function: "ExecuteProcessFunction", Request: "1", Name: "S3.PutObject"}, true},
		{"a step's message", Call{Function: "ExecuteProcessFunction", Request: "1", Name: "slack chat.postMessage"}, false},
		{"a step's write", Call{Function: "ExecuteProcessFunction", Request: "1", Name: "sheets PUT *"}, false},
		{"a start", Call{Function: "UpdateCardFunction", Request: "1", Name: lambda.KindStart}, false},
		{"what a process does while it starts", Call{Function: "UpdateCardFunction", Name: "SecretsManager.GetSecretValue"},
			false},
	}
	for _, tt := range tests {
		expect.Is(t, mayFail(tt.call), tt.want, "%s", tt.name)
	}
}

func TestFaultsFollowTheSeed(t *testing.T) {
	failed := func(seed uint64) (list []int) {
		r := New(seed)
		r.Fail(0.2)
		for range 200 {
			r.Meet(lambda.Call{Function: "F", RequestID: "1", Kind: "AmazonSQS.SendMessage"})
		}
		calls, err := r.Take()
		expect.Must(t, err == nil && len(calls) == 200, "%d calls, %v", len(calls), err)
		for i, c := range calls {
			if c.Failed {
				list = append(list, i)
			}
		}
		return list
	}
	one := failed(7)
	expect.Same(t, one, failed(7))
	expect.That(t, !cmp.Equal(one, failed(8)) && len(one) >= 20 && len(one) <= 60,
		"%d of 200 failed, or every seed is the same", len(one))
}

func TestRowsThatAreWritten(t *testing.T) {
	for _, tt := range []struct {
		operation, body string
		want            map[string]int
	}{
		{"Query", `{}`, nil},
		{"UpdateItem", `{"Key":{"PK":{"S":"PACE#T1"},"SK":{"S":"chat.update"}}}`, map[string]int{"PACE by single writes": 1}},
		{"UpdateItem", `{"Key":{"PK":{"S":"TASK#T1#1"},"SK":{"S":"CARD#task"}}}`, map[string]int{"CARD by single writes": 1}},
		{
			"TransactWriteItems", `{"TransactItems":[{"Put":{"Item":{"PK":{"S":"TASK#T1#1"},"SK":{"S":"PROMPT#0001"}}}},{"ConditionCheck":{}},
				{"Update":{"Key":{"PK":{"S":"TASK#T1#1"},"SK":{"S":"HEAD"}}}}]}`, map[string]int{"PROMPT": 1, "HEAD": 1},
		},
	} {
		if diff := cmp.Diff(tt.want, rowsOf(tt.operation, []byte(tt.body))); diff != "" {
			t.Errorf("%s %s: %s", tt.operation, tt.body, diff)
		}
	}
}

// metered returns a meter, and a function that calls its table.
func metered(t *testing.T) (m *Meter, call func(operation, body string) (int, string)) {
	t.Helper()
	m = &Meter{Endpoint: moto.StartForTest(t), Indexes: map[string]Index{"GSI1": {PK: "GSI1PK", SK: "GSI1SK"}}}
	call = func(operation, body string) (int, string) {
		t.Helper()
		status, answer, err := m.Call(t.Context(), operation, []byte(body))
		expect.NoError(t, err)
		return status, string(answer)
	}
	status, answer := call("CreateTable", `{"TableName":"t","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}`)
	expect.Must(t, status == http.StatusOK, "%v", answer)
	return m, call
}

// key returns a row's key as JSON, and row a row of more than 1 KiB, which costs two write units.
func key(sk string) string { return `{"PK":{"S":"p"},"SK":{"S":"` + sk + `"}}` }

func row(sk, more string) string {
	return strings.TrimSuffix(key(sk), "}") + more + `,"text":{"S":"` + strings.Repeat("x", 1500) + `"}}`
}

func TestMeasure(t *testing.T) {
	m, call := metered(t)
	for _, tt := range []struct {
		name, operation, body string
		status                int
		want                  Units
	}{
		{"nothing found", "GetItem", `{"TableName":"t","ConsistentRead":true,"Key":` + key("none") + `}`, 200,
			Units{Read: 1}},
		{
			"a transaction with a check", "TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"t","Item":` + row("a", `,"GSI1PK":{"S":"g"},"GSI1SK":{"S":"1"}`) + `}},
			{"ConditionCheck":{"TableName":"t","Key":` + key("b") + `,"ConditionExpression":"attribute_not_exists(PK)"}}]}`,
			200, Units{Write: 4 + 2, Index: 2},
		},
		{
			"an update that moves it in the index", "UpdateItem",
			`{"TableName":"t",` +
				`"Key":` + key("a") + `,"UpdateExpression":"SET GSI1SK = :s","ExpressionAttributeValues":{":s":{"S":"2"}}}`,
			200, Units{Write: 2, Index: 4},
		},
		{
			"a condition that fails", "UpdateItem",
			`{"TableName":"t",` +
				`"Key":` + key("a") + `,"UpdateExpression":"SET GSI1SK = :s","ConditionExpression":"GSI1SK = :s",` +
				`"ExpressionAttributeValues":{":s":{"S":"3"}}}`,
			400, Units{Write: 2},
		},
		{"a second row", "PutItem", `{"TableName":"t","Item":` + row("c", "") + `}`, 200, Units{Write: 2}},
		{
			"a query of both", "Query",
			`{"TableName":"t","ConsistentRead":true,"KeyConditionExpression":"PK = :p",` +
				`"ExpressionAttributeValues":{":p":{"S":"p"}}}`, 200, Units{Read: 1},
		},
		{
			"the same, a moment behind", "Query",
			`{"TableName":"t","KeyConditionExpression":"PK = :p",` +
				`"ExpressionAttributeValues":{":p":{"S":"p"}}}`, 200, Units{Read: 0.5},
		},
		{
			"each item of a batch", "BatchGetItem",
			`{"RequestItems":{"t":{"ConsistentRead":true,` +
				`"Keys":[` + key("a") + `,` + key("c") + `,` + key("none") + `]}}}`, 200, Units{Read: 3},
		},
		{
			"each row of a batch", "BatchWriteItem",
			`{"RequestItems":{"t":[{"PutRequest":{"Item":` + row("d",
				"") + `}},{"DeleteRequest":{"Key":` + key("c") + `}}]}}`, 200, Units{Write: 4},
		},
		{"a delete", "DeleteItem", `{"TableName":"t","Key":` + key("a") + `}`, 200, Units{Write: 2, Index: 2}},
	} {
		got, err := m.Measure(t.Context(), tt.operation, []byte(tt.body), func() (int, []byte) {
			status, answer := call(tt.operation, tt.body)
			expect.That(t, status == tt.status, "%s: %d %s", tt.name, status, answer)
			return status, []byte(answer)
		})
		expect.That(t, err == nil && got == tt.want, "%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
	}
}

func TestWhatDoesNotSayWhatItEvaluatesIsNotMeasured(t *testing.T) {
	m, call := metered(t)
	for operation, body := range map[string]string{
		"Scan": `{"TableName":"t"}`,
		"Query": `{"TableName":"t","KeyConditionExpression":"PK = :p","FilterExpression":"a = :p",` +
			`"ExpressionAttributeValues":{":p":{"S":"p"}}}`,
	} {
		made := false
		_, err := m.Measure(t.Context(), operation, []byte(body), func() (int, []byte) {
			made = true
			status, answer := call(operation, body)
			return status, []byte(answer)
		})
		expect.That(t, err != nil && made, "%s is measured, or was not made: %v", operation, err)
	}
}

func item(t *testing.T, text string) Item {
	t.Helper()
	if text == "" {
		return nil
	}
	var it Item
	expect.NoError(t, json.Unmarshal([]byte(text), &it))
	return it
}

// of returns an item of that many bytes; it has an index's keys unless key is empty.
func of(t *testing.T, size int, key string) Item {
	t.Helper()
	it := Item{}
	if key != "" {
		it = item(t, `{"GPK":{"S":"p"},"GSK":{"S":"`+key+`"}}`)
	}
	it["f"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", size-Size(it)-1)}
	return it
}

func TestSize(t *testing.T) {
	tests := []struct {
		name, item string
		want       int
	}{
		{"no item", ``, 0},
		{"a string, counted in UTF-8", `{"名":{"S":"稟議"}}`, 3 + 6},
		{"an empty string", `{"a":{"S":""}}`, 1},
		{"a digit", `{"a":{"N":"7"}}`, 1 + 2},
		{"two digits", `{"a":{"N":"42"}}`, 1 + 2},
		{"three digits", `{"a":{"N":"421"}}`, 1 + 3},
		{"zeros at the end carry nothing", `{"a":{"N":"4200"}}`, 1 + 2},
		{"zeros at the front carry nothing", `{"a":{"N":"0.0042"}}`, 1 + 2},
		{"zeros after the point carry nothing", `{"a":{"N":"42.00"}}`, 1 + 2},
		{"zero", `{"a":{"N":"0"}}`, 1 + 1},
		{"a minus", `{"a":{"N":"-42"}}`, 1 + 3},
		{"a binary", `{"a":{"B":"AAEC"}}`, 1 + 3},
		{"a boolean and null", `{"a":{"BOOL":true},"b":{"NULL":true}}`, 4},
		{"an empty list", `{"a":{"L":[]}}`, 1 + 3},
		{"a list", `{"a":{"L":[{"S":"xy"},{"BOOL":false}]}}`, 1 + 3 + 2 + 3},
		{"a map", `{"a":{"M":{"bc":{"S":"xy"}}}}`, 1 + 3 + 1 + 4},
		{"a set", `{"a":{"SS":["x","yz"]}}`, 1 + 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Is(t, Size(item(t, tt.item)), tt.want)
		})
	}
	for _, bad := range []string{`{"a":{}}`, `{"a":{"X":"1"}}`, `{"a":{"S":1}}`, `{"a":{"L":[{}]}}`} {
		expect.That(t, json.Unmarshal([]byte(bad), &Item{}) != nil, "%s is an item", bad)
	}
}

func TestRead(t *testing.T) {
	k := func(n int) Item { return of(t, n, "") }
	tests := []struct {
		name       string
		consistent bool
		items      []Item
		want       float64
	}{
		{"nothing found", true, nil, 1},
		{"nothing found, eventually", false, nil, 0.5},
		{"up to 4 KB", true, []Item{k(4096)}, 1},
		{"a byte more", true, []Item{k(4097)}, 2},
		{"a query rounds its sum", true, []Item{k(2000), k(2000), k(97)}, 2},
		{"eventually is half", false, []Item{k(4097)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, Units{Read: tt.want}, Read(tt.consistent, tt.items...))
		})
	}
}

func TestWrite(t *testing.T) {
	index := Index{"GPK", "GSK"}
	tests := []struct {
		name          string
		before, after Item
		transactional bool
		want          Units
	}{
		{"a new item", nil, of(t, 1024, ""), false, Units{Write: 1}},
		{"a byte over", nil, of(t, 1025, ""), false, Units{Write: 2}},
		{"the larger of the two counts", of(t, 3000, ""), of(t, 10, ""), false, Units{Write: 3}},
		{"a delete", of(t, 1500, ""), nil, false, Units{Write: 2}},
		{"a check of an absent item", nil, nil, true, Units{Write: 2}},
		{"a transaction costs double, its index does not", nil, of(t, 1500, "a"), true, Units{Write: 4, Index: 2}},
		{"leaves the index", of(t, 1500, "a"), of(t, 20, ""), false, Units{Write: 2, Index: 2}},
		{"moves in the index", of(t, 1500, "a"), of(t, 100, "b"), false, Units{Write: 2, Index: 3}},
		{"changes in place", of(t, 100, "a"), of(t, 1500, "a"), false, Units{Write: 2, Index: 2}},
		{"changes nothing", of(t, 100, "a"), of(t, 100, "a"), false, Units{Write: 1}},
		{"half a key is no key", nil, item(t, `{"GPK":{"S":"p"}}`), false, Units{Write: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, tt.want, Write(tt.before, tt.after, tt.transactional, index))
		})
	}
}
