package pipelinetest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
)

// FaultyTransport is the transport of calls to AWS. Tests can make it lose or refuse calls.
type FaultyTransport struct {
	next   http.RoundTripper
	mu     sync.Mutex
	faults []*fault
	calls  []string
}

type fault struct {
	call   string
	times  int
	answer bool
	before func()
	holds  string // text in the call's body; empty: any
	says   string // the answer instead of the service's
}

// Refused is DynamoDB's answer to an invalid write. Transactions that change a task's head contain movesHead.
const (
	Refused   = `{"__type":"com.amazon.coral.validate#ValidationException","message":"Item size has exceeded the maximum allowed size"}`
	movesHead = `{"S":"HEAD"}`
)

var errDropped = errors.New("the call was dropped")

// DropCalls drops the next times calls whose name ends in call, such as "SendMessage" or "PUT", before they reach the
// service.
func (w *FaultyTransport) DropCalls(call string, times int) { w.add(&fault{call: call, times: times}) }

// DropAnswers makes the next times calls and drops their answers.
func (w *FaultyTransport) DropAnswers(call string, times int) {
	w.add(&fault{call: call, times: times, answer: true})
}

// Refuse answers calls whose body contains holds with an AWS error, until ClearFaults.
func (w *FaultyTransport) Refuse(call, holds, says string) {
	w.add(&fault{call: call, times: 1 << 30, holds: holds, says: says})
}

// Before calls do once just before the next such call.
func (w *FaultyTransport) Before(call string, do func()) {
	w.add(&fault{call: call, times: 1, before: do})
}

// ClearFaults forgets all faults.
func (w *FaultyTransport) ClearFaults() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

// Count returns how many calls of that name have arrived here.
func (w *FaultyTransport) Count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.calls {
		if strings.HasSuffix(c, call) {
			n++
		}
	}
	return n
}

func (w *FaultyTransport) add(f *fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, f)
}

// RoundTrip makes the call or returns errDropped.
func (w *FaultyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	call := r.Header.Get("X-Amz-Target")
	if call == "" {
		call = r.Method
	}
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	switch f := w.take(call, body); {
	case f == nil:
	case f.says != "":
		return &http.Response{
			StatusCode: http.StatusBadRequest, Status: "400 Bad Request", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(f.says)), ContentLength: int64(len(f.says)),
		}, nil
	case f.before != nil:
		f.before()
	case f.answer:
		res, err := w.next.RoundTrip(r)
		if err == nil {
			res.Body.Close()
		}
		return nil, errDropped
	default:
		return nil, errDropped
	}
	return w.next.RoundTrip(r)
}

// bodyOf reads a request's body and restores it.
func bodyOf(r *http.Request) (string, error) {
	if r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body), err
}

// take counts a call and returns the fault for it, which is used up.
func (w *FaultyTransport) take(call, body string) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
	for _, f := range w.faults {
		if f.times > 0 && strings.HasSuffix(call, f.call) && strings.Contains(body, f.holds) {
			f.times--
			return f
		}
	}
	return nil
}
