package moto_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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
