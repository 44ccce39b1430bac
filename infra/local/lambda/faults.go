package lambda

import "net/http"

// The moments of an invocation that are no calls.
const (
	KindStart  = "start"  // the process has the event and has done nothing yet
	KindAnswer = "answer" // the process has done everything and says so
)

// Call is a moment at which a function's process can be made to die: one of its
// outgoing calls, its start or its answer.
type Call struct {
	Function  string
	RequestID string // of the invocation; empty while the process starts up
	Event     []byte // what it was invoked with; nil while the process starts up
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
}

// Faults decides about every moment of every invocation. Both methods are called
// from many goroutines; what they wait for, the function waits for.
type Faults interface {
	Meet(Call) Fate
	// Dying is told of a death just before the process is killed, when the call is done that will be done.
	Dying(Call)
}
