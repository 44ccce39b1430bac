package moto_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/moto"
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
	ask("DynamoDB_20120810.PutItem", `{"TableName":"rows","Item":{"PK":{"S":"あ"},"n":{"N":"1"},"bytes":{"B":"AAE="},"none":{"NULL":true}}}`, nil)
	get := `{"TableName":"rows","Key":{"PK":{"S":"あ"}}}`
	_, want := ask("DynamoDB_20120810.GetItem", get, nil)
	for _, part := range []string{`\u3042`, `"AAE="`, `"NULL": true`} {
		expect.That(t, strings.Contains(want, part), "%s lacks %s", want, part)
	}
	for name, dress := range map[string]func(*http.Request){
		"another region in the agent's name": func(r *http.Request) { r.Header.Set("User-Agent", "x region/us-east-1") },
		"a body in parts":                    func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(get)), -1 },
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
	if status, got := ask("DynamoDB_20120810.NoSuchCall", "{}", nil); status == http.StatusOK {
		t.Errorf("a call that nobody knows is answered %s", got)
	}
	if status, got := ask("DynamoDB_20120810.GetItem", `{"TableName":"none","Key":{"PK":{"S":"a"}}}`, nil); status != http.StatusBadRequest || !strings.Contains(got, "ResourceNotFoundException") {
		t.Errorf("a table that isn't there: %d %s", status, got)
	}
	for name, dress := range map[string]func(*http.Request){
		"a foreign host":   func(r *http.Request) { r.Host = "evil.example" },
		"a foreign origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		status, got := ask("DynamoDB_20120810.GetItem", get, dress)
		expect.That(t, status == http.StatusForbidden, "%s: %d %s", name, status, got)
	}
}
