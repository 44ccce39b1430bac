package pipelinetest

import (
	"errors"
	"net/http"
	"strings"
	"sync"
)

// FaultyTransport is what calls to AWS go through. It loses some of them when it is told to.
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
}

var errDropped = errors.New("the call was dropped")

// DropCalls loses the next so many calls whose name ends like call, "SendMessage" or
// "PUT", before they reach the service.
func (w *FaultyTransport) DropCalls(call string, times int) { w.add(&fault{call: call, times: times}) }

// DropAnswers lets the next so many calls be done and loses their answers.
func (w *FaultyTransport) DropAnswers(call string, times int) {
	w.add(&fault{call: call, times: times, answer: true})
}

// Before does something once, just before the next such call.
func (w *FaultyTransport) Before(call string, do func()) {
	w.add(&fault{call: call, times: 1, before: do})
}

// ClearFaults forgets all faults.
func (w *FaultyTransport) ClearFaults() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

// Count is how many calls of that name arrived here.
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

// RoundTrip makes the call, or returns errDropped.
func (w *FaultyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	call := r.Header.Get("X-Amz-Target")
	if call == "" {
		call = r.Method
	}
	switch f := w.take(call); {
	case f == nil:
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

// take notes a call and uses up what is to happen to it.
func (w *FaultyTransport) take(call string) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
	for _, f := range w.faults {
		if f.times > 0 && strings.HasSuffix(call, f.call) {
			f.times--
			return f
		}
	}
	return nil
}
