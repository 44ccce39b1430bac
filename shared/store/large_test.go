package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/process"
	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
)

// text is a JSON value of n bytes.
func text(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }

func keep(t *testing.T, s large.Store, w *ringitest.World, v json.RawMessage) aggregate.Blob {
	t.Helper()
	return expect.Value(s.Keep(t.Context(), w.Ref, v))(t)
}

// opens fails the test unless the stored value equals want.
func opens(t *testing.T, s large.Store, w *ringitest.World, b aggregate.Blob, want json.RawMessage) {
	t.Helper()
	got, err := s.Open(t.Context(), w.Ref, b)
	expect.That(t, err == nil && string(got) == string(want), "%d bytes, %v, want %d", len(got), err, len(want))
}

func TestResults(t *testing.T) {
	w := ringitest.Start(t).World(t)
	s := w.Results()
	testKept(t, s, w)
	testKeptOfContests(t, s, w)
	testOpened(t, s, w)
	testStamped(t, s, w)
}

// testStamped: what a conversation's action is to do is copied when it is stamped, and read under either key.
func testStamped(t *testing.T, s large.Store, w *ringitest.World) {
	v := text(large.MaxInline + 1)
	b, err := s.KeepPayload(t.Context(), w.Ref, v)
	expect.NoError(t, err)
	key, talks := strings.CutPrefix(b.S3Key, "talks/"+w.Ref.Tenant+"/"+w.Ref.ID+"/")
	expect.Must(t, talks, "it is at %s", b.S3Key)
	to := "arguments/" + w.Ref.Tenant + "/" + w.Ref.ID + "/" + key
	copied := func(c aggregate.Copy) error {
		_, err := large.Copying(t.Context(), s, func(int) (aggregate.Change, error) {
			return aggregate.Change{Copies: []aggregate.Copy{c}}, nil
		})(0)
		return err
	}
	expect.NoError(t, copied(aggregate.Copy{From: b.S3Key, To: to}))
	opens(t, s, w, aggregate.Blob{S3Key: to}, v)
	expect.Value(w.S3().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.Bucket, Key: &b.S3Key}))(t)
	opens(t, s, w, b, v)
	expect.Fails(t, copied(aggregate.Copy{From: b.S3Key, To: to}), large.ErrExpired)
	other := "talks/" + w.Ref.Tenant + "/" + w.Ref.ID + "/" + key
	expect.Value(w.S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.Bucket, Key: &other,
		Body: strings.NewReader("{}")}))(t)
	_, err = s.Open(t.Context(), w.Ref, aggregate.Blob{S3Key: other})
	expect.That(t, err != nil, "content that has another hash is opened")
	expect.That(t, copied(aggregate.Copy{From: other, To: to}) != nil, "content that has another hash is copied")
	wrong := strings.TrimSuffix(to, key) + aggregate.HashOf("x") + ".json"
	expect.That(t, copied(aggregate.Copy{From: to, To: wrong}) != nil, "an object is copied to another's name")
	opens(t, s, w, aggregate.Blob{S3Key: to}, v)
}

func testKept(t *testing.T, s large.Store, w *ringitest.World) {
	t.Run("what is small stays in the row", func(t *testing.T) {
		before := w.Transport.Count("PUT")
		v := text(large.MaxInline)
		b := keep(t, s, w, v)
		expect.That(t, b.S3Key == "" && b.Bytes == len(v) && w.Transport.Count("PUT") == before, "%+v", b)
		opens(t, s, w, b, v)
	})
	t.Run("what is larger goes to the bucket, once", func(t *testing.T) {
		v := text(large.MaxInline + 1)
		b := keep(t, s, w, v)
		expect.That(t, b.JSON == "" && b.Bytes == len(v) &&
			strings.HasPrefix(b.S3Key, "results/"+w.Ref.Tenant+"/"+w.Ref.ID+"/"), "%+v", b)
		expect.Same(t, b, keep(t, s, w, v))
		opens(t, s, w, b, v)
	})
	t.Run("what a model was sent goes to the bucket, however small", func(t *testing.T) {
		v := json.RawMessage(`{"system":"rules"}`)
		b, err := s.Prompts(w.Ref)(t.Context(), v)
		want := aggregate.Blob{Bytes: len(v), S3Key: "prompts/" + w.Ref.Tenant + "/" + w.Ref.ID + "/" +
			aggregate.HashOf(string(v)) + ".json"}
		expect.NoError(t, err)
		expect.Same(t, want, b)
		opens(t, s, w, b, v)
		_, err = s.Open(t.Context(), task.RefOf(aggregate.TenantID("T0OTHER"), w.Ref.ID), b)
		expect.That(t, errors.Is(err, aggregate.ErrNotFound), "another tenant's: %v", err)
	})
	t.Run("what is too large is named so, and not sent", func(t *testing.T) {
		before := w.Transport.Count("PUT")
		b, err := s.Keep(t.Context(), w.Ref, text(large.MaxBytes+1))
		expect.That(t, errors.Is(err, large.ErrTooLarge) && b.S3Key == "" &&
			w.Transport.Count("PUT") == before, "%+v, %v", b, err)
		expect.That(t, expect.Err(s.Open(t.Context(), w.Ref, b)) != nil, "nothing was opened as the value")
	})
}

func testKeptOfContests(t *testing.T, s large.Store, w *ringitest.World) {
	t.Run("what a contest came to goes to the bucket beyond what its row takes, and expires never", func(t *testing.T) {
		small, large := expect.Value(s.KeepContest(t.Context(), w.Ref, text(100), 100))(t),
			expect.Value(s.KeepContest(t.Context(), w.Ref, text(101), 100))(t)
		expect.That(t, small.S3Key == "" && strings.HasPrefix(large.S3Key, "contests/"+w.Ref.Tenant+"/"+w.Ref.ID+"/") &&
			large.JSON == "", "%+v %+v", small, large)
		opens(t, s, w, small, text(100))
		opens(t, s, w, large, text(101))
		for _, other := range []aggregate.Ref{task.RefOf(aggregate.TenantID("T0OTHER"), w.Ref.ID),
			task.RefOf(w.Ref.Tenant, aggregate.NewID())} {
			expect.Fails(t, expect.Err(s.Open(t.Context(), other, large)), aggregate.ErrNotFound, "another's")
		}
	})
	t.Run("an answer that a contest's round goes on from stands by itself, and one that was kept with what stays is "+
		"found too", func(t *testing.T) {
		small, large := expect.Value(s.KeepTurn(t.Context(), w.Ref, text(100), 100))(t),
			expect.Value(s.KeepTurn(t.Context(), w.Ref, text(102), 100))(t)
		expect.That(t, small.S3Key == "" && strings.HasPrefix(large.S3Key, "turns/"+w.Ref.Tenant+"/"+w.Ref.ID+"/"),
			"%+v %+v", small, large)
		opens(t, s, w, small, text(100))
		opens(t, s, w, large, text(102))
		_, err := s.Open(t.Context(), task.RefOf(aggregate.TenantID("T0OTHER"), w.Ref.ID), large)
		expect.Fails(t, err, aggregate.ErrNotFound, "another's")
	})
}

func testOpened(t *testing.T, s large.Store, w *ringitest.World) {
	t.Run("another task's value is not opened", func(t *testing.T) {
		b := keep(t, s, w, text(large.MaxInline+2))
		for _, ref := range []aggregate.Ref{
			task.RefOf(w.Ref.Tenant, aggregate.NewID()), task.RefOf(aggregate.TenantID("T0OTHER"), w.Ref.ID),
			task.RefOf(w.Ref.Tenant, w.Ref.ID[:25]),
		} {
			before := w.Transport.Count("GET")
			_, err := s.Open(t.Context(), ref, b)
			expect.That(t, errors.Is(err, aggregate.ErrNotFound) && w.Transport.Count("GET") == before, "%v: %v", ref, err)
		}
	})
	t.Run("of the steps that waited only the one that is asked about is opened", func(t *testing.T) {
		a := &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: w.Ref.Tenant}, TaskID: w.Ref.ID}}
		for n := range 10 {
			b := keep(t, s, w, text(large.MaxInline+100+n))
			a.Gates = append(a.Gates, &task.StepGate{ID: fmt.Sprint("01GATE", n), ProcessVersion: 1, Attempt: 1 + n, Order: 1,
				Arguments: b})
		}
		for _, name := range []string{a.Gates[7].ID, a.Gates[7].Key()} {
			before := w.Transport.Count("GET")
			drawn, err := s.Opened(t.Context(), a, name)
			expect.Must(t, err == nil && string(drawn.Gates[7].Arguments.JSON) == string(text(large.MaxInline+107)) &&
				a.Gates[7].Arguments.JSON == "", "%v, %+v", err, a.Gates[7])
			expect.Is(t, w.Transport.Count("GET")-before, 1, "were fetched")
		}
		before := w.Transport.Count("GET")
		drawn, err := s.Opened(t.Context(), a, "01PROMPT")
		expect.That(t, err == nil && drawn == a && w.Transport.Count("GET") == before, "a policy has no arguments: %v", err)
	})
	t.Run("a bucket that is down is worth another try", func(t *testing.T) {
		defer w.Transport.ClearFaults()
		b := keep(t, s, w, text(large.MaxInline+3))
		w.Transport.DropCalls("PUT", 99)
		w.Transport.DropCalls("GET", 99)
		failed, err := s.Keep(t.Context(), w.Ref, text(large.MaxInline+4))
		expect.That(t, pipeline.Name(err) == pipeline.Unavailable && failed.S3Key == "", "keep: %+v, %v", failed, err)
		_, err = s.Open(t.Context(), w.Ref, b)
		expect.That(t, pipeline.Name(err) == pipeline.Unavailable, "open: %v", err)
	})
}

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
			s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			cfg := aws.Config{Region: "ap-northeast-1", BaseEndpoint: &s.URL,
				Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
			read := large.Open(cfg, boot.Results{ResultsBucket: "bucket"}).Texts(cfg, "read-file")
			ref := aggregate.Ref{Tenant: "t", Kind: "session", ID: "s"}
			got, err := read(t.Context(), ref, []byte("PK"))
			expect.NoError(t, err)
			expect.Same(t, tt.want, got)
			expect.Same(t, tt.asked, asked)
		})
	}
}

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
	expect.That(t, expect.Err(s.Difference(t.Context(), session, "../x", version)) != nil, "a version is a path")
}

// opened is the store of a bucket of this test's own.
func opened(t *testing.T) *large.Versions {
	t.Helper()
	endpoint, name := process.MotoForTests(t), strings.ToLower(t.Name())
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

var session = conversation.RefOf("01TENANT", "0b1c")

func config(endpoint string) aws.Config {
	c := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "TOKEN")}
	if endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	return c
}

// upload posts a body as the sandbox does.
func upload(t *testing.T, to isolated.Form, body []byte) int {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for name, value := range to.Fields {
		expect.NoError(t, form.WriteField(name, value))
	}
	file := expect.Value(form.CreateFormFile("file", "workspace.tar"))(t)
	expect.Value(file.Write(body))(t)
	expect.NoError(t, form.Close())
	res := expect.Value(http.Post(to.URL, form.FormDataContentType(), &out))(t)
	res.Body.Close()
	return res.StatusCode
}

func get(t *testing.T, address string) (int, []byte) {
	t.Helper()
	res := expect.Value(http.Get(address))(t)
	defer res.Body.Close()
	return res.StatusCode, expect.Value(io.ReadAll(res.Body))(t)
}

func tree(t *testing.T, content string) (*files.Tree, []byte) {
	t.Helper()
	made := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "main.py", Content: content}}))(t)
	return made, expect.Value(made.Archive())(t)
}

func TestAnActionGetsAndChangesItsWorkspace(t *testing.T) {
	s := opened(t)
	before, archive := tree(t, "1")
	version := expect.Value(s.Put(t.Context(), session, before))(t)
	expect.Is(t, version, files.Sum(archive), "it is kept as")
	o := isolated.Order{Action: "01ACTION"}
	expect.NoError(t, s.Lend(t.Context(), session, conversation.On{Base: version}, time.Now().Add(time.Minute), &o))
	status, body := get(t, o.Workspace)
	expect.That(t, status == http.StatusOK && bytes.Equal(body, archive), "%d, %d bytes", status, len(body))
	expect.Fails(t, expect.Err(s.Take(t.Context(), session, "01ACTION")), large.ErrGone, "before anything is uploaded")
	_, changed := tree(t, "2")
	status = upload(t, o.Upload, changed)
	expect.Must(t, status/100 == 2, "the upload is answered %d", status)
	taken := expect.Value(s.Take(t.Context(), session, "01ACTION"))(t)
	after := expect.Value(s.Get(t.Context(), session, taken))(t)
	content, _ := after.Content("main.py")
	expect.That(t, string(content) == "2" && taken == files.Sum(changed), "version %s holds %q", taken, content)
	if status := upload(t, o.Upload, []byte("no archive at all")); status/100 == 2 {
		expect.Fails(t, expect.Err(s.Take(t.Context(), session, "01ACTION")), files.ErrRefused, "what is no archive")
	}

	status, _ = get(t, o.Cancel)
	expect.That(t, status != http.StatusOK, "it is cancelled before anybody did")
	expect.NoError(t, s.Cancel(t.Context(), session, "01ACTION"))
	status, _ = get(t, o.Cancel)
	expect.That(t, status == http.StatusOK, "a cancel is answered %d", status)

	other := conversation.RefOf(session.Tenant, "other")
	expect.Fails(t, expect.Err(s.Get(t.Context(), other, version)), large.ErrGone, "another session's version")
}

// In AWS the sandbox's network resolves one host name, given in template.yaml, and allows one prefix.
func TestAddressesAreThoseThatTheNetworkPasses(t *testing.T) {
	s := large.OpenVersions(config(""), "ringi-bucket")
	var o isolated.Order
	o.Action = "01ACTION"
	expect.NoError(t, s.Lend(t.Context(), session, conversation.On{Base: strings.Repeat("a", 64)},
		time.Now().Add(time.Hour), &o))
	for name, address := range map[string]string{"workspace": o.Workspace, "cancel": o.Cancel, "upload": o.Upload.URL} {
		u := expect.Value(url.Parse(address))(t)
		expect.That(t, u.Scheme == "https" && u.Host == "ringi-bucket.s3.us-east-1.amazonaws.com" &&
			(name == "upload" || strings.HasPrefix(u.Path, "/workspaces/")), "%s: %s://%s%s", name, u.Scheme, u.Host,
			u.Path)
	}
	key := o.Upload.Fields["key"]
	expect.That(t, strings.HasPrefix(key, "workspaces/actions/01TENANT/0b1c/01ACTION/") &&
		o.Upload.Fields["X-Amz-Security-Token"] != "", "the upload has the fields %v", o.Upload.Fields)
	err := s.Lend(t.Context(), session, conversation.On{}, time.Now().Add(-time.Second), &o)
	expect.That(t, err != nil, "an address is lent for a time that is over")
}

func TestAVersionIsNoPath(t *testing.T) {
	s := large.OpenVersions(config(""), "bucket")
	for _, version := range []string{"../../results/x", "a", strings.Repeat("z", 64)} {
		_, err := s.Get(t.Context(), session, version)
		expect.That(t, err != nil && strings.Contains(err.Error(), "is no SHA-256"), "%q: %v", version, err)
	}
	got, err := s.Get(t.Context(), session, "")
	expect.That(t, err == nil && len(got.Paths()) == 0, "the empty version: %v", err)
}
