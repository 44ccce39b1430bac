package measure

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/lambda"
)

// Call is an outgoing call of a function, or the start or answer of an invocation.
type Call struct {
	Function string
	Request  string // id of the invocation; empty while the process starts up
	Name     string // service and action: DynamoDB.Query, slack chat.update, freee GET employees
	At       time.Time
	Units    Units
	Rows     map[string]int // rows that it writes, by kind; a check writes none
	Failed   bool           // the recorder made it fail
}

// Recorder implements lambda.Faults without killing processes. It must be attached before the first invocation.
type Recorder struct {
	mu     sync.Mutex
	meter  *Meter
	calls  []Call
	odds   float64
	random *rand.Rand
	broken error
}

// New returns a recorder whose faults depend only on seed.
func New(seed uint64) *Recorder { return &Recorder{random: rand.New(rand.NewPCG(seed, seed))} }

// Attach sets the meter for DynamoDB's calls.
func (r *Recorder) Attach(m *Meter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.meter = m
}

// Fail makes calls to AWS and Slack fail with these odds from now on. It spares the calls of a step that writes,
// because a person would have to judge their outcome.
func (r *Recorder) Fail(odds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.odds = odds
}

// Take returns what was recorded since the last Take, and the first call that could not be measured.
func (r *Recorder) Take() ([]Call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls, err := r.calls, r.broken
	r.calls, r.broken = nil, nil
	return calls, err
}

// Meet records a call, and makes it fail with the odds.
func (r *Recorder) Meet(c lambda.Call) lambda.Fault {
	call := Call{Function: c.Function, Request: c.RequestID, Name: name(c.Kind), At: time.Now()}
	r.mu.Lock()
	call.Failed = r.odds > 0 && mayFail(call) && r.random.Float64() < r.odds
	meter := r.meter
	r.mu.Unlock()
	if operation, ok := strings.CutPrefix(call.Name, "DynamoDB."); ok && !call.Failed && meter != nil {
		return lambda.Fault{Instead: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r.measured(w, q, meter, operation, call)
		})}
	}
	r.keep(call, nil)
	if call.Failed {
		return lambda.Fault{Instead: refusal(call.Name)}
	}
	return lambda.Fault{}
}

func (r *Recorder) Busy(string, []byte) bool { return false }

func (r *Recorder) Cold(string, []byte) bool { return false }

func (r *Recorder) Dying(lambda.Call) {}

func (r *Recorder) keep(c Call, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	if r.broken == nil {
		r.broken = err
	}
}

func (r *Recorder) measured(w http.ResponseWriter, q *http.Request, m *Meter, operation string, call Call) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	// A service carries out a call even after the caller is gone.
	ctx := context.WithoutCancel(q.Context())
	units, err := m.Measure(ctx, operation, body, func() (int, []byte) {
		status, answer, err := m.Call(ctx, operation, body)
		if err != nil {
			status = http.StatusBadGateway
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		w.Write(answer)
		return status, answer
	})
	call.Units, call.Rows = units, rowsOf(operation, body)
	r.keep(call, err)
}

// mayFail reports whether Fail applies to a call.
func mayFail(c Call) bool {
	switch {
	case c.Name == lambda.KindStart, c.Name == lambda.KindAnswer, c.Request == "":
		return false
	case c.Function == "ExecuteProcessFunction":
		return strings.Contains(c.Name, ".") && !strings.Contains(c.Name, " ")
	}
	return true
}

// refusal answers like an overloaded service.
func refusal(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(name, "slack ") {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amzn-Errortype", "InternalServerError")
		w.WriteHeader(http.StatusInternalServerError)
		io.Copy(w, bytes.NewReader([]byte(`{"__type":"InternalServerError","message":"Internal server error"}`)))
	})
}

// services has short names of AWS's services by their names in requests.
var services = map[string]string{"AWSStepFunctions": "StepFunctions", "AmazonSQS": "SQS", "TrentService": "KMS", "secretsmanager": "SecretsManager"}

// name returns the service and action of a lambda.Call's kind.
func name(kind string) string {
	method, path, isPath := strings.Cut(kind, " /")
	if !isPath {
		service, action, ok := strings.Cut(kind, ".")
		if short := services[service]; ok && short != "" {
			return short + "." + action
		}
		return kind
	}
	parts := strings.Split(path, "/")
	switch parts[0] {
	case "api":
		return "slack " + strings.Join(parts[1:], "/")
	case "freee", "sheets":
		return parts[0] + " " + method + " " + parts[len(parts)-1]
	}
	switch method {
	case "PUT":
		return "S3.PutObject"
	case "GET":
		return "S3.GetObject"
	}
	return kind
}
