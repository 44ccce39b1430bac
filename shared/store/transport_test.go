package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// counter counts the calls that go through.
type counter struct{ calls atomic.Int32 }

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// actionCounter records the size of the largest transaction.
type actionCounter struct{ most atomic.Int32 }

func (c *actionCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	if operation(r) == "TransactWriteItems" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var in struct{ TransactItems []json.RawMessage }
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		c.most.Store(max(c.most.Load(), int32(len(in.TransactItems))))
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func operation(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// dropper lets calls of one operation through and drops their answers.
type dropper struct {
	operation string
	left      atomic.Int32 // answers that it still drops
	dropped   atomic.Int32
}

func dropping(operation string, answers int32) *dropper {
	d := &dropper{operation: operation}
	d.left.Store(answers)
	return d
}

func (d *dropper) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || operation(r) != d.operation || d.left.Add(-1) < 0 {
		return res, err
	}
	d.dropped.Add(1)
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return nil, errors.New("connection reset by peer")
}

// refuser answers the first calls of an operation itself.
type refuser struct {
	operation string
	body      string
	left      atomic.Int32
	refused   atomic.Int32
}

func (f *refuser) RoundTrip(r *http.Request) (*http.Response, error) {
	if operation(r) != f.operation || f.left.Add(-1) < 0 {
		return http.DefaultTransport.RoundTrip(r)
	}
	f.refused.Add(1)
	return answer(r, http.StatusBadRequest, []byte(f.body)), nil
}

// editor changes the answers of an operation.
type editor struct {
	operation string
	edit      func([]byte) []byte
}

func (e *editor) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || operation(r) != e.operation {
		return res, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return answer(r, res.StatusCode, e.edit(body)), nil
}

func answer(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}

// forgetful removes the token by which DynamoDB recognises a repeated transaction.
type forgetful struct{ next http.RoundTripper }

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	if operation(r) != "TransactWriteItems" {
		return f.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	delete(in, "ClientRequestToken")
	if body, err = json.Marshal(in); err != nil {
		return nil, err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return f.next.RoundTrip(r)
}

// unreachable fails all transactions before they are sent.
type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	if operation(r) == "TransactWriteItems" {
		return nil, errors.New("no route to host")
	}
	return http.DefaultTransport.RoundTrip(r)
}
