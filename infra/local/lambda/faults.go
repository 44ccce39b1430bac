package lambda

import (
	"net/http"
	"time"
)

// The moments of an invocation that are not calls.
const (
	KindInit   = "init"   // the process has come up, and has not asked for its first event
	KindStart  = "start"  // the process has the event and has done nothing yet
	KindAnswer = "answer" // the process has done everything and says so
)

// Call is a moment at which a function's process can be made to die: one of its
// outgoing calls, its start or its answer.
type Call struct {
	Function  string
	RequestID string // of the invocation; empty while the process starts up
	Event     []byte // of the invocation, or of the one that the process is started for
	Kind      string // DynamoDB.Query, GET /freee/hr/employees/*, or one of the above
	Body      []byte // what is sent
}

// Moment says when a process dies.
type Moment int

const (
	Never  Moment = iota
	Before        // the call never leaves
	After         // the call is done, its answer is lost
)

// Fault is what happens to a call and to the process that makes it; the zero value is none.
type Fault struct {
	Kill    Moment
	Instead http.Handler // answers the call in the service's place; nil makes it
	// Freeze stops the process here (SIGSTOP) and times its invocation out after this long, or
	// at the function's timeout or when Over is closed if that is sooner. The call goes on without it. 0 freezes nothing.
	Freeze time.Duration
	Over   <-chan struct{} // may be nil
}

// Faults decides about every moment of every invocation. Its methods are called
// from many goroutines; the function waits until they return.
type Faults interface {
	// Busy reports whether Lambda refuses an invocation, as where an account runs as many functions as it may.
	Busy(function string, event []byte) bool
	// Cold reports whether an invocation gets a new process though one is idle, as AWS may give it.
	Cold(function string, event []byte) bool
	Meet(Call) Fault
	// Dying is called just before the process is killed; with After, the call has been done by then.
	Dying(Call)
}
