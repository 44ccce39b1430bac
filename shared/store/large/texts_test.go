package large_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/moto"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
)

// A function that ends on a file may have ended by chance: the second try tells.
func TestAFileIsReadAgainWhenItsReaderEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		ends, asked int // how often the function ends, and is asked
		want        isolated.FileText
	}{
		"it is read":         {0, 1, isolated.FileText{Form: isolated.Sheets, Text: "x"}},
		"it ended by chance": {1, 2, isolated.FileText{Form: isolated.Sheets, Text: "x"}},
		"the file ends it":   {9, 2, isolated.FileText{Why: isolated.TooComplex}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, "/functions/") { // the bucket
					return
				}
				if asked++; asked <= tt.ends {
					w.Header().Set("X-Amz-Function-Error", "Unhandled")
					_, _ = io.WriteString(w, `{"errorType":"Runtime.ExitError"}`)
					return
				}
				_, _ = io.WriteString(w, `{"form":"`+string(isolated.Sheets)+`","text":"x"}`)
			}))
			t.Cleanup(s.Close)
			cfg := aws.Config{Region: "ap-northeast-1", BaseEndpoint: &s.URL,
				Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
			read := large.Open(cfg, boot.Results{ResultsBucket: "bucket"}).Texts(cfg, "read-file")
			ref := aggregate.Ref{Tenant: "t", Kind: "session", ID: "s"}
			got, err := read(t.Context(), ref, "book.xlsx", []byte("PK"))
			expect.NoError(t, err)
			expect.Same(t, tt.want, got)
			expect.Same(t, tt.asked, asked)
		})
	}
}

// bucket is a new bucket with the store on it.
func bucket(t *testing.T, name string) (*s3.Client, *large.Versions) {
	t.Helper()
	endpoint := moto.ForTests(t)
	client := s3.NewFromConfig(config(endpoint), func(o *s3.Options) { o.UsePathStyle = true })
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}))(t)
	return client, large.OpenVersions(config(endpoint), name)
}

const folder = "workspaces/versions/01TENANT/0b1c/"

func TestADifferenceIsOfTwoVersions(t *testing.T) {
	s := opened(t)
	one, _ := tree(t, "1\n")
	two, _ := tree(t, "1\n2\n")
	base := expect.Value(s.Put(t.Context(), session, one))(t)
	version := expect.Value(s.Put(t.Context(), session, two))(t)
	for from, was := range map[string]*files.Tree{"": {}, base: one} {
		expect.Same(t, files.Difference(was, two), expect.Value(s.Difference(t.Context(), session, from, version))(t))
	}
	_, err := s.Difference(t.Context(), session, version, strings.Repeat("a", 64))
	expect.Fails(t, err, large.ErrGone, "archives that are gone")
	_, err = s.Difference(t.Context(), session, "../x", version)
	expect.That(t, err != nil, "a version is a path")
}

// opened is the store of a bucket of this test's own.
func opened(t *testing.T) *large.Versions {
	t.Helper()
	endpoint, name := moto.ForTests(t), strings.ToLower(t.Name())
	client := s3.NewFromConfig(config(endpoint), func(o *s3.Options) { o.UsePathStyle = true })
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}))(t)
	return large.OpenVersions(config(endpoint), name)
}

func TestALinkServesAFileForAMinute(t *testing.T) {
	s := opened(t)
	link := expect.Value(s.Link(t.Context(), session, "表 1\r\n\".html", []byte("<script>")))(t)
	u := expect.Value(url.Parse(link))(t)
	below := conversation.DownloadsPrefix + "01TENANT/0b1c/"
	expect.That(t, u.Query().Get("X-Amz-Expires") == "60" && strings.Contains(u.Path, below), "%s", link)
	res := expect.Value(http.Get(link))(t)
	defer res.Body.Close()
	expect.Same(t, "<script>", string(expect.Value(io.ReadAll(res.Body))(t)))
	expect.Same(t, "attachment; filename*=utf-8''%E8%A1%A8%201%0D%0A%22.html",
		u.Query().Get("response-content-disposition"))
	expect.Same(t, "application/octet-stream", u.Query().Get("response-content-type"))
}
