// Package bucket reads and writes objects of an S3 bucket, by single signed requests.
package bucket

import (
	"context"
	"errors"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"ringi/shared/runtime/signed"
)

// maxAnswer bounds the answer to a request that asks for no content, in bytes. S3's is empty.
const maxAnswer = 4 << 10

// Bucket is one bucket. It is safe for concurrent use.
type Bucket struct {
	name string
	s3   *signed.Service
}

// At returns the bucket with that name.
func At(cfg aws.Config, name string) *Bucket { return &Bucket{name, signed.At(cfg, "S3", said)} }

// path returns an object's path. It has the bucket's name, which need not resolve as a host. x-id tells access logs the
// operation, as in the SDK's requests.
func (b *Bucket) path(key, operation string) string {
	return "/" + b.name + "/" + httpbinding.EscapePath(key, false) + "?x-id=" + operation
}

// Get returns an object. One of more than limit bytes is an error, as is one that arrives incomplete.
func (b *Bucket) Get(ctx context.Context, key string, limit int64) ([]byte, error) {
	const operation = "GetObject"
	_, v, err := b.s3.Call(ctx, signed.Request{
		Operation: operation, Method: http.MethodGet, Path: b.path(key, operation), Limit: limit,
	})
	return v, err
}

// Put stores an object. kind is its content type. S3 refuses content whose hash isn't the signed one.
func (b *Bucket) Put(ctx context.Context, key, kind string, v []byte) error {
	const operation = "PutObject"
	_, _, err := b.s3.Call(ctx, signed.Request{
		Operation: operation, Method: http.MethodPut, Path: b.path(key, operation), Body: v, Limit: maxAnswer,
		Header: map[string]string{"Content-Type": kind},
	})
	return err
}

// Delete deletes an object. Deleting one that isn't there is no error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	const operation = "DeleteObject"
	_, _, err := b.s3.Call(ctx, signed.Request{
		Operation: operation, Method: http.MethodDelete, Path: b.path(key, operation), Limit: maxAnswer,
	})
	return err
}

// Address returns an address at which anybody can read an object for some time.
func (b *Bucket) Address(ctx context.Context, key string, during time.Duration) (string, error) {
	return b.s3.Address(ctx, b.path(key, "GetObject"), during)
}

// Missing reports whether S3 says that there is no such object.
func Missing(err error) bool {
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
