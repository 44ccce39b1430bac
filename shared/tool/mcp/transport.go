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

// maxAnswer is how many bytes an answer may have, and maxSaid says so: the library decodes an answer whole, into many
// times its size.
const maxAnswer, maxSaid = 2 << 20, "2 MiB"

// transport sends the requests of one session and records each answer.
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
	if r.Method == http.MethodGet {
		return nil, errors.New("an answer that ended is not asked for again")
	}
	if m := messageIn(r); m.ID != nil {
		rec.note(func() { rec.id = m.ID })
	}
	rec.note(func() { // the last request's answer is forgotten
		rec.status, rec.header, rec.kind, rec.err = 0, nil, "", nil
		rec.body.Reset()
	})
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
	res.Body = &tee{res.Body, rec}
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
	sent   bool            // part of the request may have reached the server
	status int
	header http.Header
	kind   string
	body   bytes.Buffer
	err    error
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

// tee records a body while it is read, up to maxAnswer.
type tee struct {
	io.ReadCloser
	record *record
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.record.note(func() {
		if t.record.body.Len()+n > maxAnswer {
			n, err = 0, outbound.ErrTooLarge
		}
		t.record.body.Write(p[:n])
		if err != nil && err != io.EOF {
			t.record.err = err
		}
	})
	return n, err
}

// message is a JSON-RPC response in raw form.
type message struct {
	ID     json.RawMessage            `json:"id"`
	Method string                     `json:"method"`
	Result map[string]json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// response finds the operation's response in the body, which is JSON or a stream of events. Without one with its id, it
// is an error that lacks the id, or any of a refused request. An error beside a result counts alone.
func (r *record) response() (out message, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range events(r.kind, r.body.Bytes()) {
		var m message
		if json.Unmarshal(text, &m) != nil || m.Method != "" || m.Result == nil && m.Error == nil {
			continue
		}
		if m.Error != nil || r.status >= 300 {
			m.Result = nil
		}
		var is, of float64 // the library makes ids numbers
		if bytes.Equal(m.ID, r.id) || json.Unmarshal(m.ID, &is) == nil && json.Unmarshal(r.id, &of) == nil && is == of {
			return m, true
		}
		if !found && m.Error != nil && (m.ID == nil || string(m.ID) == "null" || r.status >= 300) {
			out, found = m, true
		}
	}
	return out, found
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

// events are the messages in a body: the body itself, or the data of each event of a stream.
func events(contentType string, body []byte) [][]byte {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != "text/event-stream" {
		return [][]byte{body}
	}
	var all [][]byte
	var data []byte
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
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
