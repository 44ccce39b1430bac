package removal_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
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
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(bytes.NewBufferString(out.String())), Request: r}, nil
}

func (b *slow) list(out *strings.Builder, after string) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(b.stored)), func(key string) bool { return key <= after })
	fmt.Fprintf(out, "<ListBucketResult><IsTruncated>%t</IsTruncated>", len(keys) > 5)
	keys = keys[:min(5, len(keys))]
	for _, key := range keys {
		fmt.Fprintf(out, "<Contents><Key>%s</Key><LastModified>%s</LastModified></Contents>", key,
			b.stored[key].Format(time.RFC3339))
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
	client := s3.New(s3.Options{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		HTTPClient: b, UsePathStyle: true})
	deleted := 0
	for range 200 {
		b.left = 10
		x, err := removal.Retention{Bucket: removal.Bucket{S3: client, Name: "results"}, Rows: &world{days: 400},
			Now: time.Now}.Expire(hour{t.Context(), b})
		expect.NoError(t, err)
		deleted += x.Deleted
	}
	expect.That(t, deleted == 8 && len(b.stored) == 257-8, "%d of 8 were deleted, %d objects are left", deleted,
		len(b.stored))
}

// busy is a bucket with one result each of many tasks. Its calls take as long as S3's.
type busy struct {
	mu      sync.Mutex
	tenants []string
	keys    map[string][]string // by tenant, in order
	stored  time.Time
	deletes int
}

func (b *busy) Do(r *http.Request) (*http.Response, error) {
	var out strings.Builder
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodPost:
		time.Sleep(500 * time.Millisecond)
		body, _ := io.ReadAll(r.Body)
		b.remove(keyIn.FindAllStringSubmatch(string(body), -1))
		out.WriteString("<DeleteResult/>")
	case q.Get("delimiter") != "":
		out.WriteString("<ListBucketResult>")
		if q.Get("prefix") == "results/" {
			for _, tenant := range b.tenants {
				fmt.Fprintf(&out, "<CommonPrefixes><Prefix>results/%s/</Prefix></CommonPrefixes>", tenant)
			}
		}
		out.WriteString("</ListBucketResult>")
	default:
		time.Sleep(150 * time.Millisecond)
		b.list(&out, strings.Split(q.Get("prefix"), "/")[1], cmp.Or(q.Get("continuation-token"), q.Get("start-after")))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(bytes.NewBufferString(out.String())), Request: r}, nil
}

func (b *busy) list(out *strings.Builder, tenant, after string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from, _ := slices.BinarySearch(b.keys[tenant], after+"\x00")
	rest := b.keys[tenant][from:]
	fmt.Fprintf(out, "<ListBucketResult><IsTruncated>%t</IsTruncated>", len(rest) > 1000)
	rest = rest[:min(1000, len(rest))]
	for _, key := range rest {
		fmt.Fprintf(out, "<Contents><Key>%s</Key><LastModified>%s</LastModified></Contents>", key,
			b.stored.Format(time.RFC3339))
	}
	if len(rest) > 0 {
		fmt.Fprintf(out, "<NextContinuationToken>%s</NextContinuationToken>", rest[len(rest)-1])
	}
	out.WriteString("</ListBucketResult>")
}

func (b *busy) remove(found [][]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deletes++
	gone := map[string]bool{}
	for _, key := range found {
		gone[key[1]] = true
	}
	for tenant, keys := range b.keys {
		b.keys[tenant] = slices.DeleteFunc(keys, func(key string) bool { return gone[key] })
	}
}

// ended reports every task as ended.
type ended struct{ *world }

func (ended) Settings(context.Context, string) (tenancy.Settings, error) {
	s := tenancy.DefaultSettings()
	s.RetainResultsDays = 30
	return s, nil
}

func (ended) Head(context.Context, aggregate.Ref) (task.Head, error) {
	time.Sleep(5 * time.Millisecond)
	return task.Head{Ended: &task.Ended{}}, nil
}

// One run deletes the 40,000 expired results of one workspace and those of nine small ones, and the small ones don't
// wait for the large one.
func TestOneRunDeletesWhatManyTasksLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{keys: map[string][]string{}, stored: time.Now().AddDate(0, 0, -33)}
		left := 0
		for n := range 10 {
			tenant := fmt.Sprintf("T%d", n)
			b.tenants = append(b.tenants, tenant)
			for i := range map[bool]int{true: 40_000, false: 10}[n == 0] {
				b.keys[tenant] = append(b.keys[tenant], fmt.Sprintf("results/%s/%s/a", tenant,
					aggregate.Derive(b.stored.Add(time.Duration(i)*time.Millisecond), "x")))
				left++
			}
			slices.Sort(b.keys[tenant])
		}
		client := s3.New(s3.Options{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
			HTTPClient: b, UsePathStyle: true})
		r := removal.Retention{Bucket: removal.Bucket{S3: client, Name: "results"}, Rows: ended{}, Now: time.Now}
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Second)
		defer cancel()
		began := time.Now()
		x := expect.Value(r.Expire(ctx))(t)
		took := time.Since(began)
		t.Logf("%d of %d results deleted by %d calls in %s", x.Deleted, left, b.deletes, took)
		expect.That(t, x.Deleted == left && !x.Left && took <= 2*time.Minute, "%+v in %s", x, took)
		expect.Is(t, x.Lag.Round(24*time.Hour), 3*24*time.Hour, "the oldest was found %s after its day", x.Lag)
		x = expect.Value(r.Expire(ctx))(t)
		expect.That(t, x.Deleted == 0 && x.Lag == 0, "a run later: %+v", x)
	})
}
