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

// refusals are calls with the expected error message; an empty one means success.
func refusals() (all []struct{ operation, body, want string }) {
	const (
		item, key             = `"Item":{"PK":{"S":"a"}}`, `"Key":{"PK":{"S":"a"}}`
		condition             = `"ConditionExpression":"attribute_not_exists(#n) OR #n = :n"`
		set                   = `"UpdateExpression":"SET #n = :n"`
		names                 = `"ExpressionAttributeNames":{"#n":"n"}`
		moreNames             = `"ExpressionAttributeNames":{"#n":"n","#more":"m"}`
		value                 = `"ExpressionAttributeValues":{":n":{"S":"1"}}`
		moreValues            = `"ExpressionAttributeValues":{":n":{"S":"1"},":nn":{"S":"1"},":v0":{"S":"1"}}`
		read                  = `"ProjectionExpression":"#n",` + moreNames
		unused                = "Value provided in ExpressionAttribute%s unused in expressions: keys: {%s}"
		missing               = "Invalid %s: An expression attribute %s is not defined; attribute %s"
		inCondition, inUpdate = "ConditionExpression", "UpdateExpression"
		valueUsed, name       = "value used in expression", "name used in the document path"
	)
	refused := func(operation, want string, parts ...string) {
		body := `{"TableName":"rows",` + strings.Join(parts, ",") + `}`
		if kind, in, ok := strings.Cut(operation, " "); ok { // Put TransactWriteItems
			operation, body = in, `{"TransactItems":[{"`+kind+`":`+body+`}]}`
		}
		all = append(all, struct{ operation, body, want string }{operation, body, want})
	}
	for _, of := range []struct{ operation, row, expression, first string }{
		{"PutItem", item, condition, inCondition}, {"DeleteItem", key, condition, inCondition},
		{"UpdateItem", key, set, inUpdate}, {"Put TransactWriteItems", item, condition, inCondition},
		{"Update TransactWriteItems", key, set, inUpdate},
		{"ConditionCheck TransactWriteItems", key, condition, inCondition},
	} {
		refused(of.operation, fmt.Sprintf(unused, "Values", ":nn, :v0"), of.row, of.expression, names, moreValues)
		refused(of.operation, fmt.Sprintf(unused, "Names", "#more"), of.row, of.expression, moreNames, value)
		refused(of.operation, fmt.Sprintf(missing, of.first, valueUsed, "value: :n"), of.row, of.expression, names)
		refused(of.operation, fmt.Sprintf(missing, of.first, name, "name: #n"), of.row, of.expression, value)
	}
	refused("PutItem", "ExpressionAttributeValues must not be empty", item, condition, names,
		`"ExpressionAttributeValues":{}`)
	refused("PutItem", "ExpressionAttributeNames must not be empty", item, condition, value,
		`"ExpressionAttributeNames":{}`)
	refused("PutItem", fmt.Sprintf(unused, "Names", "#n"), item, names)
	refused("Query", fmt.Sprintf(unused, "Values", ":n"), `"Limit":1`, value)
	refused("Scan", fmt.Sprintf(unused, "Names", "#more"), `"FilterExpression":"#n = :n"`, moreNames, value)
	refused("GetItem", fmt.Sprintf(unused, "Names", "#more"), key, read)
	refused("Get TransactGetItems", fmt.Sprintf(unused, "Names", "#more"), key, read)
	refused("UpdateItem", "", key, `"UpdateExpression":"SET #n = if_not_exists(#m.#n[0], :n)"`,
		`"ExpressionAttributeNames":{"#n":"n","#m":"m"}`, value)
	return all
}

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
