package large_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

const limit = 8 << 20

// each runs a test with a Bucket and with the SDK's client of the same bucket.
func each(t *testing.T, cfg aws.Config, name string, test func(t *testing.T, b client)) {
	t.Helper()
	for by, b := range map[string]client{"by signed requests": large.BucketAt(cfg, name), "by the SDK": sdkAt(cfg, name)} {
		t.Run(by, func(t *testing.T) { test(t, b) })
	}
}

// What one client stores the other finds, whatever the key.
func TestObjectsAreStoredAndRead(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	theirs := sdkAt(w.Config, w.Bucket)
	long := bytes.Repeat([]byte("長い"), 500_000)
	each(t, w.Config, w.Bucket, func(t *testing.T, b client) {
		for i, key := range []string{"a", "talks/T/稟議書.json", "a b/c+d", "100%/(見積)'*!~", "a%2Fb", "q?x=1&y=2#z", "a//b",
			"k=v:@,;$"} {
			v := append([]byte(fmt.Sprint(i)), long...)
			expect.NoError(t, b.Put(t.Context(), key, "application/json", v))
			for _, reader := range []client{b, theirs, large.BucketAt(w.Config, w.Bucket)} {
				got, err := reader.Get(t.Context(), key, limit)
				expect.That(t, err == nil && bytes.Equal(got, v), "%q is %d bytes: %v", key, len(got), err)
			}
			address := expect.Value(b.Address(t.Context(), key, time.Minute))(t)
			answer := expect.Value(http.Get(address))(t)
			got, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			expect.That(t, err == nil && bytes.Equal(got, v), "%q at its address is %d bytes: %v", key, len(got), err)
			expect.Is(t, answer.Header.Get("Content-Type"), "application/json")
			expect.NoError(t, b.Put(t.Context(), key, "application/json", v[:1])) // over itself
			got, err = theirs.Get(t.Context(), key, limit)
			expect.That(t, err == nil && bytes.Equal(got, v[:1]), "%q is %d bytes then: %v", key, len(got), err)
			key += "~"
			_, err = b.Get(t.Context(), key, limit)
			expect.That(t, large.MissingObject(err), "%q was never put: %v", key, err)
		}
	})
	each(t, w.Config, "nowhere", func(t *testing.T, b client) {
		_, err := b.Get(t.Context(), "a", limit)
		expect.That(t, err != nil && !large.MissingObject(err), "there is no bucket: %v", err)
		expect.Is(t, explain.ClassOf(err), explain.Internal)
	})
}

// answering is an S3 that answers with the handlers, one after another, and the last one from then on.
func answering(t *testing.T, asked *atomic.Int64, answers ...http.HandlerFunc) aws.Config {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nth := int(asked.Add(1))
		_, _ = io.Copy(io.Discard, r.Body)
		answers[min(nth, len(answers))-1](w, r)
	}))
	t.Cleanup(server.Close)
	return aws.Config{Region: "ap-northeast-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "session"),
		Retryer:     func() aws.Retryer { return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond) }}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func refuses(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Request-Id", "4442587FB7D0A2F9")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>%s</Code><Message>said by S3 &amp; co</Message></Error>`, code)
	}
}

func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func gateway(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, "<html>Bad gateway</html>")
}

// Both clients repeat the same calls as often, and return the same errors.
func TestOnlyWhatMayPassIsRepeated(t *testing.T) {
	type answers = []http.HandlerFunc
	for name, tt := range map[string]struct {
		answers
		asked int
		code  string
		class explain.Class
	}{
		"busy once":           {answers{refuses(503, "SlowDown"), says("")}, 2, "", explain.None},
		"busy":                {answers{refuses(503, "SlowDown")}, 3, "SlowDown", explain.Unavailable},
		"a fault of S3":       {answers{refuses(500, "InternalError"), says("")}, 2, "", explain.None},
		"too slow":            {answers{refuses(400, "RequestTimeout"), says("")}, 2, "", explain.None},
		"a gateway":           {answers{gateway}, 3, "BadGateway", explain.Unavailable},
		"another write":       {answers{refuses(409, "OperationAborted")}, 1, "OperationAborted", explain.Unavailable},
		"not allowed":         {answers{refuses(403, "AccessDenied")}, 1, "AccessDenied", explain.Internal},
		"a changed content":   {answers{refuses(400, "BadDigest")}, 1, "BadDigest", explain.Internal},
		"the connection ends": {answers{cut, says("")}, 2, "", explain.None},
		"no connection":       {answers{cut}, 3, "", explain.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			each(t, answering(t, &asked, tt.answers...), "b", func(t *testing.T, b client) {
				for does, do := range map[string]func() error{
					"get": func() error { _, err := b.Get(t.Context(), "k", limit); return err },
					"put": func() error { return b.Put(t.Context(), "k", "text/plain", []byte("x")) },
				} {
					asked.Store(0)
					err := do()
					expect.That(t, int(asked.Load()) == tt.asked, "%s is asked %d times, want %d", does, asked.Load(), tt.asked)
					expect.Is(t, explain.ClassOf(err), tt.class, "%s: %v", does, err)
					said(t, err, tt.code)
				}
			})
		})
	}
}

func said(t *testing.T, err error, code string) {
	t.Helper()
	got := ""
	if api, refused := errors.AsType[smithy.APIError](err); refused {
		got = api.ErrorCode()
		if code != "BadGateway" {
			expect.Is(t, api.ErrorMessage(), "said by S3 & co")
			expect.Has(t, err.Error(), "RequestID: 4442587FB7D0A2F9")
		}
	}
	expect.Is(t, got, code, "%v", err)
}

// An object that arrives incomplete is an error and not a shorter object, and so is one that is larger than asked for.
func TestIncompleteObjectsAreErrors(t *testing.T) {
	var asked atomic.Int64
	short := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"half":`)
	}
	each(t, answering(t, &asked, short), "b", func(t *testing.T, b client) {
		v, err := b.Get(t.Context(), "k", limit)
		expect.That(t, errors.Is(err, io.ErrUnexpectedEOF), "%q, %v", v, err)
	})
	inParts := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"half":`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	each(t, answering(t, &asked, inParts), "b", func(t *testing.T, b client) {
		v, err := b.Get(t.Context(), "k", limit)
		expect.That(t, errors.Is(err, io.ErrUnexpectedEOF), "%q, %v", v, err)
	})
	_, err := large.BucketAt(answering(t, &asked, short), "b").Get(t.Context(), "k", limit)
	expect.Is(t, explain.ClassOf(err), explain.Unavailable, "another try may get all of it: %v", err)
	v, err := large.BucketAt(answering(t, &asked, says(strings.Repeat("x", 11))), "b").Get(t.Context(), "k", 10)
	expect.That(t, err != nil && v == nil, "%q is over the limit", v)
	v, err = large.BucketAt(answering(t, &asked, says(strings.Repeat("x", 10))), "b").Get(t.Context(), "k", 10)
	expect.That(t, err == nil && len(v) == 10, "%q is within the limit: %v", v, err)
}

// Who may not list a bucket learns of a refusal only that it is one: nothing says that the object is missing.
func TestARefusalIsNoMissingObject(t *testing.T) {
	var asked atomic.Int64
	for status, class := range map[int]explain.Class{403: explain.Internal, 503: explain.Unavailable} {
		each(t, answering(t, &asked, refuses(status, "Other")), "b", func(t *testing.T, b client) {
			_, err := b.Get(t.Context(), "k", limit)
			expect.That(t, err != nil && !large.MissingObject(err) && explain.ClassOf(err) == class, "%v", err)
		})
	}
}

// An address serves an object under the headers that it names.
func TestAnAddressNamesItsHeaders(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	each(t, w.Config, w.Bucket, func(t *testing.T, b client) {
		expect.NoError(t, b.Put(t.Context(), "k", "text/html", []byte("x")))
		as := large.Served{Kind: "application/octet-stream", Disposition: "attachment; filename*=utf-8''%E7%A8%9F%20&%2B.md"}
		answer := expect.Value(http.Get(expect.Value(b.AddressAs(t.Context(), "k", as, time.Minute))(t)))(t)
		answer.Body.Close()
		expect.Is(t, answer.StatusCode, http.StatusOK)
		expect.Is(t, answer.Header.Get("Content-Type"), as.Kind)
		expect.Is(t, answer.Header.Get("Content-Disposition"), as.Disposition)
	})
}

func TestACallEndsWithItsContext(t *testing.T) {
	var asked atomic.Int64
	cfg := answering(t, &asked, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	each(t, cfg, "b", func(t *testing.T, b client) {
		asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := b.Get(ctx, "k", limit)
		expect.That(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
		expect.Is(t, explain.ClassOf(err), explain.Unavailable)
		expect.Is(t, asked.Load(), 1)
	})
}
