package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync"

	"ringi/shared/explain"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/wire"
)

// maxResumes bounds how often the rest of one operation's answer is asked for.
const maxResumes = 600

// transport sends the requests of one session and records each answer. Where a server ends the stream of an answer
// after an event with an id, the library asks for the rest by GET with Last-Event-ID (protocol 2025-11-25, Resumability
// and Redelivery), and never makes the call again.
type transport struct {
	ctx         context.Context
	next        http.RoundTripper
	name, value string // the header with the secret
}

// RoundTrip sends nothing after the session's context has ended. The library would otherwise send a cancellation of the
// call, and wait for a slow server's answer to it.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	rec, _ := r.Context().Value(recordKey{}).(*record)
	if rec == nil {
		rec = new(record)
	}
	if err := t.ctx.Err(); err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	last := r.Header.Get("Last-Event-ID")
	if m := messageIn(r); m.ID != nil {
		rec.note(func() { rec.id, rec.method = m.ID, m.Method })
	}
	if rec.note(func() { rec.begin(last != "") }); rec.resumes > maxResumes {
		return nil, errors.New("the server ended its answer too often")
	}
	r = r.Clone(httptrace.WithClientTrace(r.Context(),
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { rec.note(func() { rec.sent = true }) }}))
	r.GetBody = nil // otherwise net/http may send the request twice
	if t.name != "" {
		r.Header.Set(t.name, t.value)
	}
	res, err := t.next.RoundTrip(r)
	if err != nil {
		rec.note(func() { rec.err = err })
		return nil, err
	}
	rec.note(func() { rec.status, rec.header, rec.kind = res.StatusCode, res.Header, res.Header.Get("Content-Type") })
	if last != "" && (res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests) {
		res.Body.Close()
		return nil, fmt.Errorf("status %d", res.StatusCode) // the library asks again after a while
	}
	body := slimmed(&tee{res.Body, rec}, res.Header.Get("Content-Type"))
	if last != "" && body.lines != nil {
		// The library knows an id and a wait only from the present stream, which may end without any.
		body.left = fmt.Appendf(nil, "id: %s\nretry: %s\n\n", last, rec.retry)
	}
	res.Body = body
	return res, nil
}

// messageIn returns the message in a request, which has no id if there is none.
func messageIn(r *http.Request) (m message) {
	if r.GetBody == nil {
		return m
	}
	body, err := r.GetBody()
	if err != nil {
		return m
	}
	defer body.Close()
	_ = json.NewDecoder(body).Decode(&m) // the library writes nothing else than messages
	return m
}

// record is the outcome of an operation's last request. It is needed because the library reports a request whose answer
// was cut off as one that never arrived.
type record struct {
	mu     sync.Mutex
	id     json.RawMessage // of the operation
	method string
	sent   bool // part of the request may have reached the server
	status int
	header http.Header
	kind   string
	body   bytes.Buffer
	err    error

	resumes int    // how often the rest of the answer was asked for
	retry   string // the milliseconds that the server named last to wait before that
}

type recordKey struct{}

func (r *record) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

func (r *record) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// begin forgets the last request's answer, of which the next may ask for the rest.
func (r *record) begin(resumes bool) {
	if resumes {
		r.resumes++
		for line := range bytes.Lines(r.body.Bytes()) {
			if wait, ok := bytes.CutPrefix(line, []byte("retry:")); ok {
				r.retry = string(bytes.TrimSpace(wait))
			}
		}
	}
	r.status, r.header, r.kind, r.err = 0, nil, "", nil
	r.body.Reset()
}

// tee records a body while it is read. The outbound dialer limits its size.
type tee struct {
	io.ReadCloser
	record *record
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.record.note(func() {
		t.record.body.Write(p[:n])
		if err != nil && err != io.EOF {
			t.record.err = err
		}
	})
	return n, err
}

// message is a JSON-RPC response in raw form.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *struct {
		StructuredContent json.RawMessage `json:"structuredContent"`
		Tools             json.RawMessage `json:"tools"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// response finds the operation's response in the body, which is JSON or a stream of events. An error may lack the id,
// and that of a refused request may have any.
func (r *record) response() (m message, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range events(r.kind, r.body.Bytes()) {
		var m message
		if json.Unmarshal(text, &m) != nil || m.Method != "" || m.Result == nil && m.Error == nil {
			continue
		}
		if sameID(m.ID, r.id) || m.Error != nil && (m.ID == nil || string(m.ID) == "null" || r.status >= 300) {
			return m, true
		}
	}
	return m, false
}

// sameID compares ids as the library does, which makes them numbers.
func sameID(a, b json.RawMessage) bool {
	var x, y float64
	return bytes.Equal(a, b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y
}

// notBegun are the error codes of a call that the server did not start. The first four are JSON-RPC's own. The others
// are the protocol's: a header that does not match, a capability that the client lacks, a version that the server does
// not support (schema 2026-07-28), and an action that a person has to take first (2025-11-25).
var notBegun = map[int]bool{
	-32700: true, -32600: true, -32601: true, -32602: true,
	-32020: true, -32021: true, -32022: true, -32042: true,
}

// judge returns the error of a failed operation, whose outcome says whether the operation can have had an effect. It
// returns nil if the operation did not fail.
func (r *record) judge(ctx context.Context, s Server, err error) *explain.CallError {
	if err == nil {
		return nil
	}
	m, answered := r.response()
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.failure(ctx, s, m, answered)
	if own := answered && m.Error != nil && r.status < 300; r.resumes > 0 && !own {
		e.Outcome = explain.CallUnknown // the server had begun to answer: what failed is the request for the rest
	}
	return e
}

// failure is judge of the last request alone.
func (r *record) failure(ctx context.Context, s Server, m message, answered bool) *explain.CallError {
	p := s.provider()
	switch {
	case errors.Is(r.err, outbound.ErrRefused):
		return explain.Fail(explain.ProblemAddress, outbound.ErrRefused, p)
	case !r.sent:
		cause := r.err
		if cause == nil {
			cause = ctx.Err()
		}
		if cause == nil { // the library has closed the session
			cause = errors.New("nothing was sent")
		}
		return wire.Broken(p, &wire.NotSent{Err: cause})
	case r.status >= 300 && r.resumes > 0:
		return wire.Broken(p, fmt.Errorf("the rest of the answer: status %d", r.status))
	case r.status >= 300:
		said := ""
		if m.Error != nil {
			said = m.Error.Message
		}
		e := wire.Refused(p, r.status, r.header, said)
		if r.status == http.StatusUnauthorized && s.Secret == "" {
			e.Problem = explain.ProblemNotConnected
		}
		return e
	case answered && m.Error != nil:
		e := &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemRejected,
			Args: []any{p, fmt.Sprintf("%d %s", m.Error.Code, wire.Short(m.Error.Message))}, Err: errors.New("JSON-RPC error")}
		if notBegun[m.Error.Code] {
			e.Outcome = explain.CallFailed
		}
		return e
	case errors.Is(r.err, outbound.ErrTooLarge):
		return &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemBadAnswer, Args: []any{p},
			Err: outbound.ErrTooLarge}
	case ctx.Err() != nil:
		return wire.Broken(p, ctx.Err())
	case r.err != nil:
		return wire.Broken(p, r.err)
	}
	return &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemBadAnswer, Args: []any{p},
		Err: errors.New("the answer is not the protocol's")}
}

const (
	eventStream = "text/event-stream"
	dataField   = "data:" // begins a line of an event with a part of its message
)

// events are the messages in a body: the body itself, or the data of each event of a stream.
func events(contentType string, body []byte) [][]byte {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != eventStream {
		return [][]byte{body}
	}
	var all [][]byte
	var data []byte
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		if more, ok := bytes.CutPrefix(line, []byte(dataField)); ok {
			data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
		}
		if len(line) == 0 && data != nil {
			all, data = append(all, data), nil
		}
	}
	if data != nil {
		all = append(all, data)
	}
	return all
}
