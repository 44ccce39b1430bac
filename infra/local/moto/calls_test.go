package moto_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/moto"
	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// asking returns a function that calls an endpoint like a program. dress may change the request.
func asking(t *testing.T, url string) func(target, body string, dress func(*http.Request)) (status int, said string) {
	signed := "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
	return func(target, body string, dress func(*http.Request)) (int, string) {
		t.Helper()
		r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/", strings.NewReader(body)))(t)
		r.Header.Set("X-Amz-Target", target)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("Authorization", signed)
		if dress != nil {
			dress(r)
		}
		resp := expect.Value(http.DefaultClient.Do(r))(t)
		defer resp.Body.Close()
		return resp.StatusCode, string(expect.Value(io.ReadAll(resp.Body))(t))
	}
}

// done fails the test unless the call succeeds: done(t)(ask(…)).
func done(t *testing.T) func(status int, said string) {
	return func(status int, said string) {
		t.Helper()
		expect.Must(t, status == http.StatusOK, "%d %s", status, said)
	}
}

// Calls in the form that programs send bypass moto's own dispatch to its handlers. Calls in other forms use that
// dispatch, and must get the same answers.
func TestACallIsAnsweredAlikeHoweverItComes(t *testing.T) {
	ask := asking(t, moto.StartForTest(t))
	done(t)(ask("DynamoDB_20120810.CreateTable", makeRows, nil))
	ask("DynamoDB_20120810.PutItem",
		`{"TableName":"rows","Item":{"PK":{"S":"あ"},"n":{"N":"1"},"bytes":{"B":"AAE="},"none":{"NULL":true}}}`, nil)
	get := `{"TableName":"rows","Key":{"PK":{"S":"あ"}}}`
	_, want := ask("DynamoDB_20120810.GetItem", get, nil)
	for _, part := range []string{`\u3042`, `"AAE="`, `"NULL": true`} {
		expect.That(t, strings.Contains(want, part), "%s lacks %s", want, part)
	}
	for name, dress := range map[string]func(*http.Request){
		"another region in the agent's name": func(r *http.Request) { r.Header.Set("User-Agent", "x region/us-east-1") },
		"a body in parts": func(r *http.Request) {
			r.Body,
				r.ContentLength = io.NopCloser(strings.NewReader(get)), -1
		},
		"a packed body": func(r *http.Request) {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			fmt.Fprint(w, get)
			expect.NoError(t, w.Close())
			r.Body, r.ContentLength = io.NopCloser(&packed), int64(packed.Len())
			r.Header.Set("Content-Encoding", "gzip")
		},
	} {
		status, got := ask("DynamoDB_20120810.GetItem", get, dress)
		expect.That(t, status == http.StatusOK && got == want, "%s: %d %s, want %s", name, status, got, want)
	}
	status, got := ask("DynamoDB_20120810.NoSuchCall", "{}", nil)
	expect.That(t, status != http.StatusOK, "a call that nobody knows is answered %s", got)
	status, got = ask("DynamoDB_20120810.GetItem", `{"TableName":"none","Key":{"PK":{"S":"a"}}}`, nil)
	expect.That(t, status == http.StatusBadRequest && strings.Contains(got, "ResourceNotFoundException"),
		"a table that isn't there: %d %s", status, got)
	for name, dress := range map[string]func(*http.Request){
		"a foreign host":   func(r *http.Request) { r.Host = "evil.example" },
		"a foreign origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		status, got := ask("DynamoDB_20120810.GetItem", get, dress)
		expect.That(t, status == http.StatusForbidden, "%s: %d %s", name, status, got)
	}
}

const makeRows = `{"TableName":"rows","BillingMode":"PAY_PER_REQUEST",` +
	`"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],"KeySchema":[{"AttributeName":"PK",` +
	`"KeyType":"HASH"}]}`

func started(t *testing.T) *process.Server {
	t.Helper()
	expect.Patience(t)
	s, err := moto.Start(t.Context(), moto.Options{})
	if errors.Is(err, moto.ErrPython) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// threads counts a process's threads. It returns 0 on systems without /proc.
func threads(pid int) int {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)) // the pattern is valid
	return len(list)
}

// The clients disconnected while the server was paused.
func TestCallsOfClientsThatAreGoneAreNotComputed(t *testing.T) {
	s := started(t)
	ask := asking(t, s.URL)
	done(t)(ask("DynamoDB_20120810.CreateTable", makeRows, nil))
	before := threads(s.PID())
	expect.NoError(t, syscall.Kill(s.PID(), syscall.SIGSTOP))
	expect.Eventually(t, "it stands still", func() bool {
		_, err := (&http.Client{Timeout: 200 * time.Millisecond}).Get(s.URL)
		return err != nil
	})
	const count = `{"TableName":"rows","Key":{"PK":{"S":"a"}},"UpdateExpression":"ADD n :one",` +
		`"ExpressionAttributeValues":{":one":{"N":"1"}}}`
	for range 50 {
		c := expect.Value(net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")))(t)
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Amz-Target: DynamoDB_20120810.UpdateItem\r\n"+
			"Content-Type: application/x-amz-json-1.0\r\n"+
			"Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host,"+
			" Signature=0\r\nContent-Length: %d\r\n\r\n%s", len(count), count)
		c.Close()
	}
	expect.NoError(t, syscall.Kill(s.PID(), syscall.SIGCONT))
	done(t)(ask("DynamoDB_20120810.UpdateItem", count, nil))
	expect.Eventually(t, "the threads of those that are gone end", func() bool { return threads(s.PID()) <= before+2 })
	if _, said := ask("DynamoDB_20120810.GetItem", `{"TableName":"rows","Key":{"PK":{"S":"a"}}}`,
		nil); !strings.Contains(said, `"N": "1"`) {
		t.Errorf("50 calls of clients that are gone, and one of a client that is there: %s", said)
	}
}

// Otherwise the message would stay invisible until its visibility timeout.
func TestAMessageIsNotHandedToAReceiverThatIsGone(t *testing.T) {
	q := startFIFO(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := q.c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.url, WaitTimeSeconds: 20})
	expect.Must(t, err != nil, "an empty queue has a message")
	expect.NoError(t, q.send("a", "1"))
	if body, done := q.receive(5); body != "a1" {
		t.Errorf("received %q", body)
	} else {
		done()
	}
}

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
