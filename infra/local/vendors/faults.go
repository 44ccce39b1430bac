package vendors

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

const writeRows = "write_rows_to_google_sheet"

// Tools are those that can be made to fail here.
func Tools() (names []string) {
	for _, one := range freeeRoutes {
		if one.tool != "" {
			names = append(names, one.tool)
		}
	}
	return append(names, writeRows, listRooms, BookRoom)
}

type faults struct {
	mu    sync.Mutex
	fail  map[string]int
	hang  map[string]hanging
	drop  map[string]cut
	calls map[string]int
}

// hanging is how long calls wait, and what ends that earlier.
type hanging struct {
	d    time.Duration
	over chan struct{}
}

// cut is how much of an answer is lost.
type cut int

const (
	whole cut = iota
	half
	all
)

func newFaults() *faults {
	return &faults{fail: map[string]int{}, hang: map[string]hanging{}, drop: map[string]cut{}, calls: map[string]int{}}
}

// Fail answers a tool's calls with an HTTP status, without doing anything, until switched off.
func (v *Vendors) Fail(tool string, status int, on bool) {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	if on {
		v.faults.fail[tool] = status
	} else {
		delete(v.faults.fail, tool)
	}
}

// Hang keeps a tool's calls waiting before they are done; 0 ends that, for those that wait too.
func (v *Vendors) Hang(tool string, d time.Duration) {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	if before := v.faults.hang[tool]; before.over != nil {
		close(before.over)
	}
	v.faults.hang[tool] = hanging{}
	if d > 0 {
		v.faults.hang[tool] = hanging{d, make(chan struct{})}
	}
}

// Drop does a tool's next call and closes the connection without an answer.
func (v *Vendors) Drop(tool string) { v.faults.lose(tool, all) }

// CutAnswer does a tool's next call and cuts the connection in the middle of the answer.
func (v *Vendors) CutAnswer(tool string) { v.faults.lose(tool, half) }

func (f *faults) lose(tool string, much cut) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop[tool] = much
}

// Fails reports whether Fail is on for a tool.
func (v *Vendors) Fails(tool string) bool {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	_, on := v.faults.fail[tool]
	return on
}

// Calls counts the HTTP requests that arrived for a tool, failed ones included. One
// call of list_attendance is a request per employee.
func (v *Vendors) Calls(tool string) int {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	return v.faults.calls[tool]
}

// next counts a call and says what is to happen to it.
func (f *faults) next(tool string) (fail int, hang hanging, drop cut) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[tool]++
	fail, hang, drop = f.fail[tool], f.hang[tool], f.drop[tool]
	delete(f.drop, tool)
	return fail, hang, drop
}

// apply does a call with the faults that are on for its tool. refuse writes a
// failure in the vendor's own form.
func (f *faults) apply(tool string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc,
	refuse func(w http.ResponseWriter, status int)) {
	if tool == "" {
		do(w, r)
		return
	}
	fail, hang, drop := f.next(tool)
	if hang.over != nil {
		// Only a server that has read the body sees the client hang up.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		select {
		case <-time.After(hang.d):
		case <-hang.over:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case fail != 0:
		if fail == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		refuse(w, fail)
	case drop != whole:
		done := httptest.NewRecorder()
		do(done, r)
		if drop == half {
			for name, values := range done.Header() {
				w.Header()[name] = values
			}
			w.Header().Set("Content-Length", strconv.Itoa(done.Body.Len()))
			w.WriteHeader(done.Code)
			_, _ = w.Write(done.Body.Bytes()[:done.Body.Len()/2]) // the client has gone
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler) // cuts the connection
	default:
		do(w, r)
	}
}
