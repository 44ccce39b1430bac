package moto_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/dynamodblocal"
	"ringi/infra/local/moto"
)

// TestBothEnginesRefuseTheSame: what DynamoDB refuses of the names and values beside expressions, in its own words.
func TestBothEnginesRefuseTheSame(t *testing.T) {
	for name, start := range map[string]func(testing.TB) string{"moto": moto.StartForTest, "DynamoDB Local": dynamodblocal.StartForTest} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask := asking(t, start(t))
			if status, said := ask("DynamoDB_20120810.CreateTable", `{"TableName":"rows","BillingMode":"PAY_PER_REQUEST",
				"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]}`, nil); status != http.StatusOK {
				t.Fatal(status, said)
			}
			for _, c := range refusals() {
				status, said := ask("DynamoDB_20120810."+c.operation, c.body, nil)
				if got := refusalIn(said); (status != http.StatusOK) != (c.want != "") || got != c.want {
					t.Errorf("%s %s\nis answered %d %s\nwant         %s", c.operation, c.body, status, got, c.want)
				}
			}
		})
	}
}

// refusal is a call and what is said to it; nothing if it is done.
type refusal struct{ operation, body, want string }

func refusals() []refusal {
	var all []refusal
	const key, item = `"Key":{"PK":{"S":"a"}}`, `"Item":{"PK":{"S":"a"}}`
	for _, r := range []struct {
		operation, of string // a request, "" in its place in around
		around        string // "" if it is the whole call
		first, null   string // the expression that is read first, and what is said where there is none
		text          string
	}{
		{"PutItem", item, "", "ConditionExpression", "ConditionExpression is null", `"ConditionExpression":"#n = :n"`},
		{"DeleteItem", key, "", "ConditionExpression", "ConditionExpression is null", `"ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`},
		{"UpdateItem", key, "", "UpdateExpression", "UpdateExpression and ConditionExpression are null", `"UpdateExpression":"SET #n = :n"`},
		{"UpdateItem", key, "", "UpdateExpression", "UpdateExpression and ConditionExpression are null",
			`"UpdateExpression":"SET #n = :n","ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`},
		{"TransactWriteItems", item, `{"TransactItems":[{"Put":?}]}`, "ConditionExpression", "ConditionExpression is null", `"ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`},
		{"TransactWriteItems", key, `{"TransactItems":[{"Delete":?}]}`, "ConditionExpression", "ConditionExpression is null", `"ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`},
		{"TransactWriteItems", key, `{"TransactItems":[{"ConditionCheck":?}]}`, "ConditionExpression", "", `"ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`},
		{"TransactWriteItems", key, `{"TransactItems":[{"Update":?}]}`, "UpdateExpression", "", `"UpdateExpression":"SET #n = :n"`},
		{"Query", `"Limit":1`, "", "KeyConditionExpression", "FilterExpression and KeyConditionExpression are null", `"KeyConditionExpression":"#n = :n"`},
		{"Scan", `"Limit":1`, "", "FilterExpression", "FilterExpression is null", `"FilterExpression":"#n = :n"`},
	} {
		name := `"ExpressionAttributeNames":{"#n":"n"}`
		if r.operation == "Query" {
			name = `"ExpressionAttributeNames":{"#n":"PK"}`
		}
		moreNames := strings.Replace(name, "{", `{"#more":"m",`, 1)
		const values, moreValues = `"ExpressionAttributeValues":{":n":{"S":"1"}}`, `"ExpressionAttributeValues":{":n":{"S":"1"},":nn":{"S":"1"},":v0":{"S":"1"}}`
		none := "can only be specified when using expressions"
		for _, c := range []struct {
			beside string
			want   string
		}{
			{join(r.text, name, moreValues), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:nn, :v0}"},
			{join(r.text, moreNames, values), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#more}"},
			{join(r.text, moreNames, moreValues), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#more}"},
			{join(r.text, name, `"ExpressionAttributeValues":{}`), "ExpressionAttributeValues must not be empty"},
			{join(r.text, `"ExpressionAttributeNames":{}`, values), "ExpressionAttributeNames must not be empty"},
			{join(r.text, name), "Invalid " + r.first + ": An expression attribute value used in expression is not defined; attribute value: :n"},
			{join(r.text, values), "Invalid " + r.first + ": An expression attribute name used in the document path is not defined; attribute name: #n"},
			{name, "ExpressionAttributeNames " + none},
			{values, "ExpressionAttributeValues " + none + ": " + r.null},
		} {
			if strings.HasSuffix(c.want, ": ") || r.around != "" && !strings.Contains(c.beside, r.text) {
				continue // such a request is refused for having no expression
			}
			body := `{"TableName":"rows",` + r.of + `,` + c.beside + `}`
			if r.around != "" {
				body = strings.Replace(r.around, "?", body, 1)
			}
			all = append(all, refusal{r.operation, body, c.want})
		}
	}
	const read = `"ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"n","#more":"m"}`
	const unused = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#more}"
	return append(all,
		refusal{"GetItem", `{"TableName":"rows",` + key + `,` + read + `}`, unused},
		refusal{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"rows",` + key + `,` + read + `}}]}`, unused},
		refusal{"BatchGetItem", `{"RequestItems":{"rows":{"Keys":[{"PK":{"S":"a"}}],` + read + `}}}`, unused},
		refusal{"UpdateItem", `{"TableName":"rows",` + key + `,"UpdateExpression":"SET #n = if_not_exists(#m.#n[0], :n)","ExpressionAttributeNames":{"#n":"n","#m":"m"},"ExpressionAttributeValues":{":n":{"S":"1"}}}`, ""},
	)
}

func join(parts ...string) string { return strings.Join(parts, ",") }

// refusalIn is what an answer says, the keys that it lists in their order: DynamoDB has them in none.
func refusalIn(answer string) string {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(answer), &said) != nil {
		return answer
	}
	if said.Type != "" && !strings.HasSuffix(said.Type, "#ValidationException") {
		return said.Type
	}
	before, keys, listed := strings.Cut(strings.TrimSuffix(said.Message, "}"), "{")
	if !listed {
		return said.Message
	}
	list := strings.Split(keys, ", ")
	slices.Sort(list)
	return before + "{" + strings.Join(list, ", ") + "}"
}
