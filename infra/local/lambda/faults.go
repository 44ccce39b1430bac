package lambda

import (
	"net/http"
	"time"
)

// The moments of an invocation that are no calls.
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
	Event     []byte // what it was invoked with, or is started for
	Kind      string // DynamoDB.Query, GET /freee/hr/employees/*, or one of the above
	Body      []byte // what is sent
}

// Moment says when a process dies.
type Moment int

const (
	Never  Moment = iota
	Before        // the call never leaves
	After         // the call is done, its answer gets lost
)

// Fate is what becomes of a call and of the process that makes it.
type Fate struct {
	Kill    Moment
	Instead http.Handler // answers the call in the service's place; nil makes it
	// Freeze makes the process stand still from here; its time is up that much later, or
	// at its timeout if that is sooner. The call goes on without it. 0 lets it live.
	Freeze time.Duration
}

// Faults decides about every moment of every invocation. Its methods are called
// from many goroutines; what they wait for, the function waits for.
type Faults interface {
	// Cold reports whether an invocation gets a new process though one is idle, as AWS may give it.
	Cold(function string, event []byte) bool
	Meet(Call) Fate
	// Dying is told of a death just before the process is killed, when the call is done that will be done.
	Dying(Call)
}
