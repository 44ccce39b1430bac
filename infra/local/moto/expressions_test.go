package moto_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/moto"
	"ringi/shared/runtime/expect"
)

// Invalid names and values of expressions are refused with DynamoDB's messages.
func TestInvalidExpressionsAreRefusedInDynamoDBsWords(t *testing.T) {
	t.Parallel()
	ask := asking(t, moto.StartForTest(t))
	done(t)(ask("DynamoDB_20120810.CreateTable", makeRows, nil))
	for _, c := range refusals() {
		status, said := ask("DynamoDB_20120810."+c.operation, c.body, nil)
		if got := refusalIn(said); (status != http.StatusOK) != (c.want != "") || got != c.want {
			t.Errorf("%s %s\nis answered %d %s\nwant         %s", c.operation, c.body, status, got, c.want)
		}
	}
}

// refusal is a call with the expected error message; an empty one means success.
type refusal struct{ operation, body, want string }

const (
	rowKey, rowItem = `"Key":{"PK":{"S":"a"}}`, `"Item":{"PK":{"S":"a"}}`
	condition       = `"ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`
	oneValue        = `"ExpressionAttributeValues":{":n":{"S":"1"}}`
	moreValues      = `"ExpressionAttributeValues":{":n":{"S":"1"},":nn":{"S":"1"},":v0":{"S":"1"}}`
)

// form is a kind of request whose expressions use #n and :n.
type form struct {
	operation, around string // around has ? in place of the request; "" if the request is the complete call
	of, expressions   string
	first, without    string // the expression that is read first; the error if there is none, "" if not checked
}

func forms() []form {
	const when, set = "ConditionExpression", `"UpdateExpression":"SET #n = :n"`
	const write = "TransactWriteItems"
	neither := "UpdateExpression and ConditionExpression are null"
	return []form{
		{"PutItem", "", rowItem, condition, when, "ConditionExpression is null"},
		{"DeleteItem", "", rowKey, condition, when, "ConditionExpression is null"},
		{"UpdateItem", "", rowKey, set, "UpdateExpression", neither},
		{"UpdateItem", "", rowKey, set + "," + condition, "UpdateExpression", neither},
		{write, `{"TransactItems":[{"Put":?}]}`, rowItem, condition, when, ""},
		{write, `{"TransactItems":[{"Delete":?}]}`, rowKey, condition, when, ""},
		{write, `{"TransactItems":[{"ConditionCheck":?}]}`, rowKey, condition, when, ""},
		{write, `{"TransactItems":[{"Update":?}]}`, rowKey, set, "UpdateExpression", ""},
		{"Query", "", `"Limit":1`, `"KeyConditionExpression":"#n = :n"`, "KeyConditionExpression",
			"FilterExpression and KeyConditionExpression are null"},
		{"Scan", "", `"Limit":1`, `"FilterExpression":"#n = :n"`, "FilterExpression", "FilterExpression is null"},
	}
}

// refusals returns the invalid variants of the request, and the expected errors.
func (f form) refusals() []refusal {
	names := `"ExpressionAttributeNames":{"#n":"n"}`
	if f.operation == "Query" {
		names = `"ExpressionAttributeNames":{"#n":"PK"}`
	}
	moreNames := strings.Replace(names, "{", `{"#more":"m",`, 1)
	unused, none := "Value provided in ExpressionAttribute%s unused in expressions: "+
		"keys: ", "ExpressionAttribute%s can only be specified when using expressions"
	var all []refusal
	refused := func(want string, beside ...string) {
		body := `{"TableName":"rows",` + join(append([]string{f.of}, beside...)...) + `}`
		if f.around != "" {
			body = strings.Replace(f.around, "?", body, 1)
		}
		all = append(all, refusal{f.operation, body, want})
	}
	refused(fmt.Sprintf(unused, "Values")+"{:nn, :v0}", f.expressions, names, moreValues)
	refused(fmt.Sprintf(unused, "Names")+"{#more}", f.expressions, moreNames, oneValue)
	refused(fmt.Sprintf(unused, "Names")+"{#more}", f.expressions, moreNames, moreValues)
	refused("ExpressionAttributeValues must not be empty", f.expressions, names, `"ExpressionAttributeValues":{}`)
	refused("ExpressionAttributeNames must not be empty", f.expressions, `"ExpressionAttributeNames":{}`, oneValue)
	missing := "Invalid " + f.first + ": An expression attribute %s is not defined; attribute %s"
	refused(fmt.Sprintf(missing, "value used in expression", "value: :n"), f.expressions, names)
	refused(fmt.Sprintf(missing, "name used in the document path", "name: #n"), f.expressions, oneValue)
	if f.without != "" {
		refused(fmt.Sprintf(none, "Names"), names)
		refused(fmt.Sprintf(none, "Values")+": "+f.without, oneValue)
	}
	return all
}

func refusals() []refusal {
	var all []refusal
	for _, f := range forms() {
		all = append(all, f.refusals()...)
	}
	const read = `"ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"n","#more":"m"}`
	const unused = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#more}"
	const inPath = `"UpdateExpression":"SET #n = if_not_exists(#m.#n[0], :n)","ExpressionAttributeNames":{"#n":"n",` +
		`"#m":"m"}`
	return append(all,
		refusal{"GetItem", `{"TableName":"rows",` + join(rowKey, read) + `}`, unused},
		refusal{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"rows",` + join(rowKey, read) + `}}]}`, unused},
		refusal{"BatchGetItem", `{"RequestItems":{"rows":{"Keys":[{"PK":{"S":"a"}}],` + read + `}}}`, unused},
		refusal{"UpdateItem", `{"TableName":"rows",` + join(rowKey, inPath, oneValue) + `}`, ""},
	)
}

func join(parts ...string) string { return strings.Join(parts, ",") }

// refusalIn returns the error message of an answer. It sorts the keys in the message, because DynamoDB does not.
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

func TestWithoutPythonTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("RINGI_LOCAL_DIR", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := moto.Start(t.Context(), moto.Options{})
	expect.That(t, errors.Is(err, moto.ErrPython) && strings.Contains(err.Error(), "install python3"), "got %v", err)
}

func TestAnUnreachablePackageIndexIsSaid(t *testing.T) {
	t.Setenv("RINGI_LOCAL_DIR", t.TempDir())
	// This Python makes environments, but its pip fails, as it does without a network.
	bin := t.TempDir()
	script := `#!/bin/sh
case "$*" in
*"-m venv "*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
"-c "*) echo 0 ;;
*"-m pip "*) echo "ERROR: No matching distribution found for moto" >&2; exit 1 ;;
esac
`
	expect.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	_, err := moto.Start(t.Context(), moto.Options{})
	expect.That(t, err != nil && strings.Contains(err.Error(), "pip could not install moto") &&
		strings.Contains(err.Error(), "No matching distribution"), "got %v", err)
}
