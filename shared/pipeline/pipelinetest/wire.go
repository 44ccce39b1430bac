package pipelinetest

import (
	"errors"
	"net/http"
	"strings"
	"sync"
)

// Wire is what calls to AWS go through. It loses some of them when it is told to.
type Wire struct {
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

var errWire = errors.New("the wire is cut")

// Cut loses the next so many calls whose name ends like call, "SendMessage" or
// "PUT": nobody hears them.
func (w *Wire) Cut(call string, times int) { w.add(&fault{call: call, times: times}) }

// LoseAnswer lets the next so many calls be done and loses their answers.
func (w *Wire) LoseAnswer(call string, times int) {
	w.add(&fault{call: call, times: times, answer: true})
}

// Before does something once, just before the next such call.
func (w *Wire) Before(call string, do func()) {
	w.add(&fault{call: call, times: 1, before: do})
}

// Mend forgets all faults.
func (w *Wire) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

// Count is how many calls of that name arrived here.
func (w *Wire) Count(call string) int {
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

func (w *Wire) add(f *fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, f)
}

// RoundTrip makes the call, or says that the wire is cut.
func (w *Wire) RoundTrip(r *http.Request) (*http.Response, error) {
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
		return nil, errWire
	default:
		return nil, errWire
	}
	return w.next.RoundTrip(r)
}

// take notes a call and uses up what is to happen to it.
func (w *Wire) take(call string) *fault {
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
