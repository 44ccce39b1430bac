package large_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// client is what a Bucket can do, and the SDK's client too.
type client interface {
	Get(ctx context.Context, key string, limit int64) ([]byte, error)
	Put(ctx context.Context, key, kind string, v []byte) error
	Address(ctx context.Context, key string, during time.Duration) (string, error)
	AddressAs(ctx context.Context, key string, as large.Served, during time.Duration) (string, error)
	Form(ctx context.Context, key string, most int64, during time.Duration) (large.UploadForm, error)
}

// sdk is a bucket by the SDK's client.
type sdk struct {
	s3   *s3.Client
	name string
}

func sdkAt(cfg aws.Config, name string, options ...func(*s3.Options)) sdk {
	pathStyle := func(o *s3.Options) { o.UsePathStyle = true }
	return sdk{s3.NewFromConfig(cfg, append([]func(*s3.Options){pathStyle}, options...)...), name}
}

func (b sdk) Get(ctx context.Context, key string, limit int64) ([]byte, error) {
	out, err := b.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(io.LimitReader(out.Body, limit))
}

func (b sdk) Put(ctx context.Context, key, kind string, v []byte) error {
	_, err := b.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, ContentType: &kind,
		Body: bytes.NewReader(v)})
	return err
}

func (b sdk) Address(ctx context.Context, key string, during time.Duration) (string, error) {
	return b.AddressAs(ctx, key, large.Served{}, during)
}

func (b sdk) AddressAs(ctx context.Context, key string, as large.Served, during time.Duration) (string, error) {
	in := s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if as.Kind != "" {
		in.ResponseContentType = &as.Kind
	}
	if as.Disposition != "" {
		in.ResponseContentDisposition = &as.Disposition
	}
	out, err := s3.NewPresignClient(b.s3).PresignGetObject(ctx, &in, s3.WithPresignExpires(during))
	if err != nil {
		return "", err
	}
	return out.URL, nil
}

func (b sdk) Form(ctx context.Context, key string, most int64, during time.Duration) (large.UploadForm, error) {
	out, err := s3.NewPresignClient(b.s3).PresignPostObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key},
		func(o *s3.PresignPostOptions) {
			o.Expires, o.Conditions = during, []any{[]any{"content-length-range", 1, most}}
		})
	if err != nil {
		return large.UploadForm{}, err
	}
	return large.UploadForm{URL: out.URL, Fields: out.Values}, nil
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
				cfg.BaseEndpoint = aws.String("http://127.0.0.1:4566")
			}
			hosted := func(o *s3.Options) { o.UsePathStyle = r.local }
			for name, call := range map[string]func(client) error{
				"get":     func(b client) error { _, err := b.Get(t.Context(), r.key, 1); return err },
				"put":     func(b client) error { return b.Put(t.Context(), r.key, "text/plain", []byte(r.value)) },
				"address": func(b client) (err error) {
					c.sent, err = b.Address(t.Context(), r.key, 5*time.Minute)
					return err
				},
				"download": func(b client) (err error) {
					as := large.Served{Kind: "text/plain", Disposition: `attachment; filename="` + r.value + `"`}
					c.sent, err = b.AddressAs(t.Context(), r.key, as, 5*time.Minute)
					return err
				},
				"form": func(b client) error {
					form, err := b.Form(t.Context(), r.key, 1<<20, 5*time.Minute)
					c.sent = fmt.Sprint(form.URL, form.Fields)
					return err
				},
			} {
				for want, got := range map[client]client{
					sdkAt(cfg, r.bucket, plain):         large.BucketAt(cfg, r.bucket),
					sdkAt(cfg, r.bucket, plain, hosted): large.HostedBucket(cfg, r.bucket),
				} {
					expect.NoError(t, call(want))
					sent := c.sent
					expect.NoError(t, call(got))
					expect.Is(t, c.sent, sent, "%s %+v", name, r)
				}
			}
		}
	})
}
