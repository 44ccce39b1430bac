package lambda

import (
	"net/http"
	"time"
)

// The moments of an invocation at which the function makes no call.
const (
	KindInit   = "init"   // the process has started and has not asked for an event
	KindStart  = "start"  // the process has the event and has not made a call
	KindAnswer = "answer" // the process is done and sends its answer
)

// Call is a moment at which a function's process can be killed: an outgoing call, its start or its answer.
type Call struct {
	Function  string
	RequestID string // of the invocation; empty while the process starts
	Event     []byte // of the invocation, or the event for which the process is starting
	Kind      string // DynamoDB.Query, GET /freee/hr/employees/*, or one of the constants above
	Body      []byte // of the request or answer
}

type Moment int

const (
	Never  Moment = iota
	Before        // the call is not sent
	After         // the call is done, but its answer is lost
)

// Fault is what happens to a call and to the process that makes it. The zero value does nothing.
type Fault struct {
	Kill    Moment
	Instead http.Handler // answers the call in place of the service; may be nil
	// Freeze pauses the process (SIGSTOP). Its invocation times out after this long, or at the function's timeout or
	// when Over is closed, if that is earlier. The call itself is still made. 0 pauses nothing.
	Freeze time.Duration
	Over   <-chan struct{} // may be nil
}

// Faults decides what happens at every moment of every invocation. Its methods are called from many goroutines. The
// function waits until they return.
type Faults interface {
	// Busy reports whether to refuse an invocation, as Lambda does when an account reaches its concurrency limit.
	Busy(function string, event []byte) bool
	// Cold reports whether to start a new process even if one is idle, as AWS may do.
	Cold(function string, event []byte) bool
	Meet(Call) Fault
	// Dying is called just before the process is killed. With After, the call has already been made.
	Dying(Call)
}
