package store_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"

	"ringi/infra/local/ringitest"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

const (
	limit  = 8 << 20
	octets = "application/octet-stream"
)

// What is stored is found, whatever the key.
func TestObjectsAreStoredAndRead(t *testing.T) {
	w := ringitest.Start(t).World(t)
	b, long := large.BucketAt(w.Config, w.Bucket), bytes.Repeat([]byte("長い"), 500_000)
	for i, key := range []string{"a", "talks/T/稟議書.json", "a b/c+d", "100%/(見積)'*!~", "a%2Fb", "q?x=1&y=2#z", "a//b",
		"k=v:@,;$"} {
		v := append([]byte(fmt.Sprint(i)), long...)
		expect.NoError(t, b.Put(t.Context(), key, "application/json", v))
		got, err := b.Get(t.Context(), key, limit)
		expect.That(t, err == nil && bytes.Equal(got, v), "%q is %d bytes: %v", key, len(got), err)
		for address, want := range map[string][2]string{
			expect.Value(b.Address(t.Context(), key, time.Minute))(t): {"application/json", ""},
			expect.Value(b.Download(t.Context(), key, "稟 &+.md"))(t):  {octets, large.Attachment("稟 &+.md")},
		} {
			answer := expect.Value(http.Get(address))(t)
			got, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			expect.That(t, err == nil && bytes.Equal(got, v), "%q at its address is %d bytes: %v", key, len(got), err)
			is := [2]string{answer.Header.Get("Content-Type"), answer.Header.Get("Content-Disposition")}
			expect.Is(t, is, want)
		}
		expect.NoError(t, b.Put(t.Context(), key, "application/json", v[:1])) // over itself
		got, err = b.Get(t.Context(), key, limit)
		expect.That(t, err == nil && bytes.Equal(got, v[:1]), "%q is %d bytes then: %v", key, len(got), err)
		_, err = b.Get(t.Context(), key+"~", limit)
		expect.That(t, large.MissingObject(err), "%q was never put: %v", key+"~", err)
	}
	_, err := large.BucketAt(w.Config, "nowhere").Get(t.Context(), "a", limit)
	expect.That(t, err != nil && !large.MissingObject(err), "there is no bucket: %v", err)
	expect.Is(t, explain.ClassOf(err), explain.Internal)
}

// answering is an S3 that answers with the handlers, one after another, and the last one from then on.
func answering(t *testing.T, asked *atomic.Int64, answers ...http.HandlerFunc) aws.Config {
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nth := int(asked.Add(1))
		_, _ = io.Copy(io.Discard, r.Body)
		answers[min(nth, len(answers))-1](w, r)
	}))
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

func TestOnlyWhatMayPassIsRepeated(t *testing.T) {
	type answers = []http.HandlerFunc
	for name, tt := range map[string]struct {
		answers
		asked int
		code  string
		class explain.Class
	}{
		"too slow":      {answers{refuses(400, "RequestTimeout"), says("")}, 2, "", explain.None},
		"a gateway":     {answers{gateway}, 3, "BadGateway", explain.Unavailable},
		"another write": {answers{refuses(409, "OperationAborted")}, 1, "OperationAborted", explain.Unavailable},
		"not allowed":   {answers{refuses(403, "AccessDenied")}, 1, "AccessDenied", explain.Internal},
		"no connection": {answers{cut}, 3, "", explain.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			b := large.BucketAt(answering(t, &asked, tt.answers...), "b")
			for does, do := range map[string]func() error{
				"get": func() error { return expect.Err(b.Get(t.Context(), "k", limit)) },
				"put": func() error { return b.Put(t.Context(), "k", "text/plain", []byte("x")) },
			} {
				asked.Store(0)
				err := do()
				expect.That(t, int(asked.Load()) == tt.asked, "%s is asked %d times, want %d", does, asked.Load(), tt.asked)
				expect.Is(t, explain.ClassOf(err), tt.class, "%s: %v", does, err)
				expect.That(t, !large.MissingObject(err), "%s: the object is said to be missing", does)
				said(t, err, tt.code)
			}
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
	inParts := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"half":`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for _, incomplete := range []http.HandlerFunc{short, inParts} {
		v, err := large.BucketAt(answering(t, &asked, incomplete), "b").Get(t.Context(), "k", limit)
		expect.That(t, errors.Is(err, io.ErrUnexpectedEOF), "%q, %v", v, err)
		expect.Is(t, explain.ClassOf(err), explain.Unavailable, "another try may get all of it: %v", err)
	}
	v, err := large.BucketAt(answering(t, &asked, says(strings.Repeat("x", 11))), "b").Get(t.Context(), "k", 10)
	expect.That(t, err != nil && v == nil, "%q is over the limit", v)
	v, err = large.BucketAt(answering(t, &asked, says(strings.Repeat("x", 10))), "b").Get(t.Context(), "k", 10)
	expect.That(t, err == nil && len(v) == 10, "%q is within the limit: %v", v, err)
}

// captured answers each request, and has the last one.
type captured struct{ sent string }

func (c *captured) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	lines := []string{r.Method, cmp.Or(r.Host, r.URL.Host), r.URL.String(), string(body)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name != "User-Agent" {
			lines = append(lines, name+": "+strings.Join(r.Header[name], ","))
		}
	}
	c.sent = strings.Join(lines, "\n")
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// plain is an SDK client without what the SDK adds for itself: headers that count attempts, and checksums, in whose
// place content is signed, also over HTTPS.
func plain(o *s3.Options) {
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		_, _ = stack.Build.Remove("ClientRequestID")
		// What makes an address makes no attempts.
		_ = stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("uncounted", uncounted), "Retry", middleware.After)
		if stack.ID() == "PutObject" {
			_, err := stack.Finalize.Swap("ComputePayloadHash", &v4.ComputePayloadSHA256{})
			return err
		}
		return nil
	})
}

func uncounted(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error) {
	in.Request.(*smithyhttp.Request).Header.Del("Amz-Sdk-Request")
	return next.HandleFinalize(ctx, in)
}

// request is whatever is asked of a bucket anywhere.
type request struct {
	local              bool
	region, token      string
	bucket, key, value string
}

func anyRequest(t *rapid.T) request {
	strange := rapid.StringMatching(`[a-z]/[あ-ん漢 +%()*'~!?#&=:;@,$/._-]{1,20}`)
	return request{local: rapid.Bool().Draw(t, "local"),
		region: rapid.SampledFrom([]string{"ap-northeast-1", "us-east-1", "us-gov-west-1", "cn-north-1"}).Draw(t, "region"),
		token:  rapid.SampledFrom([]string{"", "session"}).Draw(t, "token"),
		bucket: rapid.StringMatching(`[a-z0-9][a-z0-9.-]{3,20}[a-z0-9]`).Draw(t, "bucket"),
		key:    rapid.OneOf(rapid.StringN(1, 40, 200), strange).Draw(t, "key"),
		value:  rapid.StringN(1, 30, 90).Draw(t, "value")}
}

// asked is a call of a bucket, by the SDK's client and by a Bucket. A call that makes an address or a form returns it.
type asked struct {
	theirs func(ctx context.Context, c *s3.Client) (string, error)
	ours   func(ctx context.Context, b *large.Bucket) (string, error)
}

// calls are all that a Bucket does for a request.
func calls(r request) map[string]asked {
	const during, kind = 5 * time.Minute, "text/plain"
	object := s3.GetObjectInput{Bucket: &r.bucket, Key: &r.key}
	download := object
	download.ResponseContentType = aws.String(octets)
	download.ResponseContentDisposition = aws.String(large.Attachment(r.value))
	address := func(in s3.GetObjectInput, during time.Duration) func(context.Context, *s3.Client) (string, error) {
		return func(ctx context.Context, c *s3.Client) (string, error) {
			out, err := s3.NewPresignClient(c).PresignGetObject(ctx, &in, s3.WithPresignExpires(during))
			if err != nil {
				return "", err
			}
			return out.URL, nil
		}
	}
	return map[string]asked{
		"get": {func(ctx context.Context, c *s3.Client) (string, error) {
			_, err := c.GetObject(ctx, &object)
			return "", err
		}, func(ctx context.Context, b *large.Bucket) (string, error) {
			_, err := b.Get(ctx, r.key, 1)
			return "", err
		}},
		"put": {func(ctx context.Context, c *s3.Client) (string, error) {
			_, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: &r.bucket, Key: &r.key, ContentType: aws.String(kind),
				Body: strings.NewReader(r.value)})
			return "", err
		}, func(ctx context.Context, b *large.Bucket) (string, error) {
			return "", b.Put(ctx, r.key, kind, []byte(r.value))
		}},
		"address": {address(object, during), func(ctx context.Context, b *large.Bucket) (string, error) {
			return b.Address(ctx, r.key, during)
		}},
		"download": {address(download, large.LinkLasts), func(ctx context.Context, b *large.Bucket) (string, error) {
			return b.Download(ctx, r.key, r.value)
		}},
		"form": {func(ctx context.Context, c *s3.Client) (string, error) {
			out, err := s3.NewPresignClient(c).PresignPostObject(ctx, &s3.PutObjectInput{Bucket: &r.bucket, Key: &r.key},
				func(o *s3.PresignPostOptions) {
					o.Expires, o.Conditions = during, []any{[]any{"content-length-range", 1, 1 << 20}}
				})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(out.URL, out.Values), nil
		}, func(ctx context.Context, b *large.Bucket) (string, error) {
			form, err := b.Form(ctx, r.key, 1<<20, during)
			return fmt.Sprint(form.URL, form.Fields), err
		}},
	}
}

// Requests are those of the SDK: the same method, address, headers, content and signature, for whatever keys. In the
// bubble time stands still.
func TestRequestsAreThoseOfTheSDK(t *testing.T) {
	all := rapid.Custom(anyRequest)
	synctest.Test(t, func(t *testing.T) {
		for seed := range 300 {
			r, c := all.Example(seed), captured{}
			cfg := aws.Config{Region: r.region, HTTPClient: &c,
				Credentials: credentials.NewStaticCredentialsProvider("key", "secret", r.token)}
			if r.local {
				cfg.BaseEndpoint = aws.String("http://127.0.0.1:4566/")
			}
			for _, of := range []struct {
				*large.Bucket
				paths bool // the bucket's name is in the paths
			}{{large.BucketAt(cfg, r.bucket), true}, {large.HostedBucket(cfg, r.bucket), r.local}} {
				client := s3.NewFromConfig(cfg, plain, func(o *s3.Options) { o.UsePathStyle = of.paths })
				for name, call := range calls(r) {
					want, err := call.theirs(t.Context(), client)
					expect.NoError(t, err)
					want, c.sent = cmp.Or(want, c.sent), ""
					got, err := call.ours(t.Context(), of.Bucket)
					expect.NoError(t, err)
					expect.Is(t, cmp.Or(got, c.sent), want, "%s %+v", name, r)
				}
			}
		}
	})
}
