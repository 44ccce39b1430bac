package removal_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large/removal"
)

// slow is a bucket that lists five objects per page, and whose deadline passes after a few pages.
type slow struct {
	stored map[string]time.Time
	left   int // pages until the deadline
}

// hour is a context whose deadline is near once the bucket has listed its pages.
type hour struct {
	context.Context
	b *slow
}

func (h hour) Deadline() (time.Time, bool) { return time.Now().Add(time.Second), h.b.left <= 0 }

var keyIn = regexp.MustCompile("<Key>([^<]*)</Key>")

func (b *slow) Do(r *http.Request) (*http.Response, error) {
	var out strings.Builder
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		for _, key := range keyIn.FindAllStringSubmatch(string(body), -1) {
			delete(b.stored, key[1])
		}
		out.WriteString("<DeleteResult/>")
	case q.Get("delimiter") != "":
		out.WriteString("<ListBucketResult>")
		if q.Get("prefix") == "prompts/" {
			out.WriteString("<CommonPrefixes><Prefix>prompts/T1/</Prefix></CommonPrefixes>")
		}
		out.WriteString("</ListBucketResult>")
	default:
		b.list(&out, max(q.Get("start-after"), q.Get("continuation-token")))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(out.String())), Request: r}, nil
}

func (b *slow) list(out *strings.Builder, after string) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(b.stored)), func(key string) bool { return key <= after })
	fmt.Fprintf(out, "<ListBucketResult><IsTruncated>%t</IsTruncated>", len(keys) > 5)
	keys = keys[:min(5, len(keys))]
	for _, key := range keys {
		fmt.Fprintf(out, "<Contents><Key>%s</Key><LastModified>%s</LastModified></Contents>", key, b.stored[key].Format(time.RFC3339))
	}
	if len(keys) > 0 {
		fmt.Fprintf(out, "<NextContinuationToken>%s</NextContinuationToken>", keys[len(keys)-1])
	}
	out.WriteString("</ListBucketResult>")
	b.left--
}

// A workspace has more prompts of contests than one run can list, and the old ones are not listed first.
func TestOldPromptsOfContestsExpireHoweverManyYoungOnesThereAre(t *testing.T) {
	now := time.Now()
	b := &slow{stored: map[string]time.Time{"prompts/T1/" + aggregate.NewID() + "/a": now}}
	for i := range 256 {
		at := now
		if i%32 == 31 {
			at = now.AddDate(-3, 0, 0)
		}
		b.stored[fmt.Sprintf("prompts/T1/%02x1b2e3a-0000-4000-8000-000000000001/a", i)] = at
	}
	client := s3.New(s3.Options{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: b, UsePathStyle: true})
	deleted := 0
	for range 200 {
		b.left = 10
		x, err := removal.Retention{Bucket: removal.Bucket{S3: client, Name: "results"}, Rows: &world{days: 400}, Now: time.Now}.Expire(hour{t.Context(), b})
		expect.NoError(t, err)
		deleted += x.Deleted
	}
	if deleted != 8 || len(b.stored) != 257-8 {
		t.Errorf("%d of 8 were deleted, %d objects are left", deleted, len(b.stored))
	}
}
