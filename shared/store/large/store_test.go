package large_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
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
