package large_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/moto"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// opened is the store of a bucket of this test's own.
func opened(t *testing.T) *large.Versions {
	t.Helper()
	endpoint, name := moto.ForTests(t), strings.ToLower(t.Name())
	client := s3.NewFromConfig(config(endpoint), func(o *s3.Options) { o.UsePathStyle = true })
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}))(t)
	return large.OpenVersions(config(endpoint), name)
}

func TestFilesAreReadOneByOneAndAsTheManifestSays(t *testing.T) {
	s := opened(t)
	files := expect.Value((&conversation.Tree{}).Apply([]conversation.File{
		{Path: "a.txt", Content: "1\n"}, {Path: "b/c.txt", Content: "2\n"}, {Path: "z.txt", Content: "3\n"}}))(t)
	version := expect.Value(s.Put(t.Context(), session, files))(t)
	all := files.Manifest().Entries
	got := map[string]string{}
	take := func(e conversation.Entry, content []byte) error { got[e.Path] = string(content); return nil }
	expect.NoError(t, s.Each(t.Context(), session, version, []conversation.Entry{all[0], all[2]}, take))
	expect.Same(t, map[string]string{"a.txt": "1\n", "b/c.txt": "2\n"}, got)

	other := all[0]
	other.SHA256 = strings.Repeat("0", 64)
	if err := s.Each(t.Context(), session, version, []conversation.Entry{other}, take); err == nil {
		t.Error("another file is taken for that of the manifest")
	}
	other.Path = "missing"
	expect.Fails(t, s.Each(t.Context(), session, version, []conversation.Entry{other}, take), io.EOF, "a missing file")
	gone := strings.Repeat("a", 64)
	expect.Fails(t, s.Each(t.Context(), session, gone, all[:1], take), large.ErrGone, "a version that is gone")
	stranger := large.VersionsOf{Tenant: "01TENANT", ID: "other"}
	expect.Fails(t, s.Each(t.Context(), stranger, version, all[:1], take), large.ErrGone,
		"another conversation's version")
	if err := s.Each(t.Context(), session, "../x", all[:1], take); err == nil || errors.Is(err, large.ErrGone) {
		t.Errorf("a version that is none: %v", err)
	}
	expect.NoError(t, s.Each(t.Context(), session, "", nil, take))
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
	expect.Same(t, "attachment; filename*=utf-8''%E8%A1%A8%201___.html", u.Query().Get("response-content-disposition"))
	expect.Same(t, "application/octet-stream", u.Query().Get("response-content-type"))
}
