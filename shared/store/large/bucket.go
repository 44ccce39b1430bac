package large

import (
	"context"
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"ringi/shared/runtime/outbound"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/httpbinding"
)

// maxAnswer bounds the answer to a request that asks for no content, in bytes. S3's is empty.
const maxAnswer = 4 << 10

// Bucket is one bucket. It is safe for concurrent use.
type Bucket struct {
	name string
	root string // what precedes keys in paths
	s3   *outbound.Service
}

// At returns the bucket with that name. Its paths have the name, which need not resolve as a host.
func BucketAt(cfg aws.Config, name string) *Bucket {
	return &Bucket{name, "/" + name, outbound.ServiceAt(cfg, "S3", said)}
}

// Hosted returns the bucket with that name. In AWS its addresses have the name in their host, which no other bucket
// shares.
func HostedBucket(cfg aws.Config, name string) *Bucket {
	b := BucketAt(cfg, name)
	if cfg.BaseEndpoint == nil && !strings.Contains(name, ".") { // a certificate is not for names with dots
		b.root, b.s3 = "", b.s3.Below(name)
	}
	return b
}

// path returns an object's path. x-id tells access logs the operation, as in the SDK's requests.
func (b *Bucket) path(key, operation string) string { return b.of(key) + "?x-id=" + operation }

func (b *Bucket) of(key string) string { return b.root + "/" + httpbinding.EscapePath(key, false) }

// Get returns an object. One of more than limit bytes is an error, as is one that arrives incomplete.
func (b *Bucket) Get(ctx context.Context, key string, limit int64) ([]byte, error) {
	const operation = "GetObject"
	_, v, err := b.s3.Call(ctx, outbound.Request{
		Operation: operation, Method: http.MethodGet, Path: b.path(key, operation), Limit: limit,
	})
	return v, err
}

// Open returns an object's content, for the caller to read and close. Reading one that arrives incomplete ends with an
// error.
func (b *Bucket) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	const operation = "GetObject"
	return b.s3.Open(ctx, outbound.Request{
		Operation: operation, Method: http.MethodGet, Path: b.path(key, operation),
	})
}

// Has reports whether there is an object.
func (b *Bucket) Has(ctx context.Context, key string) (bool, error) {
	_, _, err := b.s3.Call(ctx, outbound.Request{Operation: "HeadObject", Method: http.MethodHead, Path: b.of(key)})
	if api, refused := errors.AsType[smithy.APIError](err); refused && api.ErrorCode() == "NotFound" {
		return false, nil
	}
	return err == nil, err
}

// Put stores an object. kind is its content type. S3 refuses content whose hash isn't the signed one.
func (b *Bucket) Put(ctx context.Context, key, kind string, v []byte) error {
	const operation = "PutObject"
	_, _, err := b.s3.Call(ctx, outbound.Request{
		Operation: operation, Method: http.MethodPut, Path: b.path(key, operation), Body: v, Limit: maxAnswer,
		Header: map[string]string{"Content-Type": kind},
	})
	return err
}

// Delete deletes an object. Deleting one that isn't there is no error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	const operation = "DeleteObject"
	_, _, err := b.s3.Call(ctx, outbound.Request{
		Operation: operation, Method: http.MethodDelete, Path: b.path(key, operation), Limit: maxAnswer,
	})
	return err
}

// Address returns an address at which anybody can read an object for some time.
func (b *Bucket) Address(ctx context.Context, key string, during time.Duration) (string, error) {
	return b.AddressAs(ctx, key, Served{}, during)
}

// Served are headers with which an address serves an object in place of the object's own; empty ones are the object's.
type Served struct{ Kind, Disposition string }

// AddressAs returns an address at which anybody can read an object with these headers for some time.
func (b *Bucket) AddressAs(ctx context.Context, key string, as Served, during time.Duration) (string, error) {
	path := b.path(key, "GetObject")
	for name, value := range map[string]string{
		"response-content-type": as.Kind, "response-content-disposition": as.Disposition,
	} {
		if value != "" {
			path += "&" + name + "=" + url.QueryEscape(value) // the signature sorts them
		}
	}
	return b.s3.Address(ctx, path, during)
}

// Missing reports whether an error says that there is no object to read.
func MissingObject(err error) bool {
	api, refused := errors.AsType[smithy.APIError](err)
	return refused && api.ErrorCode() == "NoSuchKey"
}

// said reads an error of S3's, which is flat XML. encoding/xml would be linked for it alone.
func said(_ http.Header, body []byte) (code, message string) {
	in := func(element string) string {
		_, text, _ := strings.Cut(string(body), "<"+element+">")
		text, _, _ = strings.Cut(text, "</"+element+">")
		return html.UnescapeString(text)
	}
	return in("Code"), in("Message")
}
