package large

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/outbound"
)

// maxAnswer bounds the answer to a request that asks for no content, in bytes. S3's is empty.
const maxAnswer = 4 << 10

// Bucket is one bucket. It is safe for concurrent use.
type Bucket struct {
	name string
	root string // what precedes keys in paths
	s3   *outbound.Service
}

// BucketAt returns the bucket with that name. Its paths have the name, which need not resolve as a host.
func BucketAt(cfg aws.Config, name string) *Bucket {
	return &Bucket{name, "/" + name, outbound.ServiceAt(cfg, "S3", said)}
}

// HostedBucket returns the bucket with that name. In AWS its addresses have the name in their host, which no other
// bucket shares.
func HostedBucket(cfg aws.Config, name string) *Bucket {
	b := BucketAt(cfg, name)
	if cfg.BaseEndpoint == nil && !strings.Contains(name, ".") { // a certificate is not for names with dots
		b.root, b.s3 = "", b.s3.Below(name)
	}
	return b
}

// path returns an object's path. x-id tells access logs the operation, as in the SDK's requests.
func (b *Bucket) path(key, operation string) string {
	return b.root + "/" + httpbinding.EscapePath(key, false) + "?x-id=" + operation
}

// Get returns an object. One of more than limit bytes is an error, as is one that arrives incomplete.
func (b *Bucket) Get(ctx context.Context, key string, limit int64) ([]byte, error) {
	const operation = "GetObject"
	_, v, err := b.s3.Call(ctx, outbound.Request{
		Operation: operation, Method: http.MethodGet, Path: b.path(key, operation), Limit: limit,
	})
	return v, err
}

// elements returns what elements of a name have in XML. None of S3's has itself within it.
func elements(text, name string) (all []string) {
	for {
		_, after, found := strings.Cut(text, "<"+name+">")
		if !found {
			return all
		}
		var element string
		element, text, _ = strings.Cut(after, "</"+name+">")
		all = append(all, element)
	}
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

// Address returns an address at which anybody can read an object for some time.
func (b *Bucket) Address(ctx context.Context, key string, during time.Duration) (string, error) {
	return b.address(ctx, b.path(key, "GetObject"), during)
}

// LinkLasts is how long a link to a download is valid. Whoever has the link can fetch the file.
const LinkLasts = time.Minute

// Download returns an address that serves an object as a file to be saved under a name, for LinkLasts.
func (b *Bucket) Download(ctx context.Context, key, name string) (string, error) {
	return b.address(ctx, b.path(key, "GetObject")+"&response-content-disposition="+url.QueryEscape(Attachment(name))+
		"&response-content-type="+url.QueryEscape(octets), LinkLasts)
}

func (b *Bucket) address(ctx context.Context, path string, during time.Duration) (string, error) {
	address, err := b.s3.Address(ctx, path, during) // which sorts what the path asks for
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return address, nil
}

// MissingObject reports whether an error says that there is no object to read.
func MissingObject(err error) bool {
	api, refused := errors.AsType[smithy.APIError](err)
	return refused && api.ErrorCode() == "NoSuchKey"
}

// said reads an error of S3's, which is flat XML. encoding/xml would be linked for it alone.
func said(_ http.Header, body []byte) (code, message string) {
	in := func(element string) string {
		return html.UnescapeString(strings.Join(elements(string(body), element), ""))
	}
	return in("Code"), in("Message")
}

// UploadForm is a form by which anybody can store one object, once or again.
type UploadForm struct {
	URL    string
	Fields map[string]string // the file follows them, in a field of its own
}

// Form returns a form that stores an object of one to most bytes, for some time.
func (b *Bucket) Form(ctx context.Context, key string, most int64, during time.Duration) (UploadForm, error) {
	now := time.Now().UTC()
	keys, err := b.s3.Keys(ctx, now)
	if err != nil {
		return UploadForm{}, err
	}
	at := now.Format("20060102T150405Z")
	fields := map[string]string{
		"X-Amz-Algorithm": outbound.SigningAlgorithm, "X-Amz-Credential": keys.Credential, "X-Amz-Date": at, "key": key,
	}
	is := func(field, value string) any { return map[string]string{field: value} }
	conditions := []any{
		is("X-Amz-Algorithm", outbound.SigningAlgorithm), is("bucket", b.name), is("X-Amz-Credential", keys.Credential),
		is("X-Amz-Date", at),
	}
	if keys.Token != "" {
		fields["X-Amz-Security-Token"] = keys.Token
		conditions = append(conditions, is("X-Amz-Security-Token", keys.Token))
	}
	conditions = append(conditions, []any{"content-length-range", 1, most}, is("key", key))
	policy, err := json.Marshal(map[string]any{
		"conditions": conditions, "expiration": now.Add(during).Format(time.RFC3339),
	})
	if err != nil {
		return UploadForm{}, err
	}
	text := base64.StdEncoding.EncodeToString(policy)
	maps.Copy(fields, map[string]string{"policy": text, "X-Amz-Signature": keys.Sign(text)})
	return UploadForm{URL: b.s3.URL(b.root), Fields: fields}, nil
}

// Link stores a download for a day and returns an address that serves it as a file of this name, without a session, for
// LinkLasts.
func (s *Versions) Link(ctx context.Context, of aggregate.Ref, name string, body []byte) (string, error) {
	key := conversation.DownloadsPrefix + under(of) + files.Sum(body)
	if err := s.bucket.Put(ctx, key, octets, body); err != nil {
		return "", fmt.Errorf("keep a download: %w", err)
	}
	return s.bucket.Download(ctx, key, name)
}

// Attachment is the header Content-Disposition of a file that browsers save under this name.
func Attachment(name string) string {
	if header := mime.FormatMediaType("attachment", map[string]string{"filename": name}); header != "" {
		return header
	}
	return "attachment"
}
