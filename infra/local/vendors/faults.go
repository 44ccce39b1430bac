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

// Tools returns the names of the tools that Fail can make fail.
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

// hanging is how long calls wait. Closing over ends the wait early.
type hanging struct {
	d    time.Duration
	over chan struct{}
}

// cut is the part of an answer that is lost.
type cut int

const (
	whole cut = iota
	half
	all
)

func newFaults() *faults {
	return &faults{fail: map[string]int{}, hang: map[string]hanging{}, drop: map[string]cut{}, calls: map[string]int{}}
}

// Fail makes a tool's calls return an HTTP status without any effect, until it is switched off.
func (v *Vendors) Fail(tool string, status int, on bool) {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	if on {
		v.faults.fail[tool] = status
	} else {
		delete(v.faults.fail, tool)
	}
}

// Hang delays a tool's calls before they are handled. 0 ends the delay, also for calls that are waiting.
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

// Drop handles a tool's next call and closes the connection without an answer.
func (v *Vendors) Drop(tool string) { v.faults.lose(tool, all) }

// CutAnswer handles a tool's next call and closes the connection in the middle of the answer.
func (v *Vendors) CutAnswer(tool string) { v.faults.lose(tool, half) }

func (f *faults) lose(tool string, much cut) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop[tool] = much
}

func (v *Vendors) Fails(tool string) bool {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	_, on := v.faults.fail[tool]
	return on
}

// Calls counts the HTTP requests for a tool, including failed ones. One call of list_attendance makes a request per
// employee.
func (v *Vendors) Calls(tool string) int {
	v.faults.mu.Lock()
	defer v.faults.mu.Unlock()
	return v.faults.calls[tool]
}

// next counts a call and returns its faults.
func (f *faults) next(tool string) (fail int, hang hanging, drop cut) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[tool]++
	fail, hang, drop = f.fail[tool], f.hang[tool], f.drop[tool]
	delete(f.drop, tool)
	return fail, hang, drop
}

// apply handles a call with the faults of its tool. refuse writes an error in the vendor's format.
func (f *faults) apply(tool string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc,
	refuse func(w http.ResponseWriter, status int)) {
	if tool == "" {
		do(w, r)
		return
	}
	fail, hang, drop := f.next(tool)
	if hang.over != nil {
		// The server only notices that the client disconnects once it has read the body.
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
			_, _ = w.Write(done.Body.Bytes()[:done.Body.Len()/2]) // a failure means that the client has disconnected
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler) // closes the connection
	default:
		do(w, r)
	}
}
