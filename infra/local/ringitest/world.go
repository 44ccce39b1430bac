// Package ringitest gives tests what surrounds a function: tasks and conversations that they advance as people and the
// pipeline do, a table, runs that wait with a token, a queue, a bucket, and a Slack workspace behind a real Web API.
package ringitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// Server emulates AWS for all tests of a package.
type Server struct{ *storetest.Server }

// worlds numbers the worlds of all tests, since they share the server.
var worlds atomic.Int32

// Start starts the server unless an earlier test did.
func Start(t testing.TB) *Server {
	t.Helper()
	return &Server{storetest.Start(t)}
}

// Each runs tests at once, each with its own world.
func Each(t *testing.T, tests map[string]func(*testing.T, *World)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Start(t).World(t))
		})
	}
}

// World is a new task with its own table, state machine, queue and bucket.
type World struct {
	Story
	Transport *FaultyTransport
	Config    aws.Config // uses FaultyTransport

	Machine  string // ARN
	QueueURL string
	Bucket   string

	plain  aws.Config
	tokens string
	table  string
}

// machine is a state machine that sends its token to a queue and waits.
const machine = `{"StartAt":"Ask","States":{"Ask":{"Type":"Task",
"Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",
"Parameters":{"QueueUrl":%q,"MessageBody":{"token.$":"$$.Task.Token","input.$":"$"}},"TimeoutSeconds":600,"End":true}}}`

// World makes a new world.
func (s *Server) World(t testing.TB) *World {
	t.Helper()
	n := worlds.Add(1)
	w := &World{Story: Story{T: t, By: Approver()}, Transport: &FaultyTransport{Next: s.Transport}, plain: s.Config,
		Bucket: fmt.Sprintf("results-%d", n)}
	w.Config = s.Config
	w.Config.HTTPClient = &http.Client{Transport: w.Transport}
	w.Config.Retryer = func() aws.Retryer { return retry.AddWithMaxBackoffDelay(retry.NewStandard(), 5*time.Millisecond) }
	w.Store, w.table = s.Store(t)
	w.StartClock()
	w.tokens = w.queue(fmt.Sprintf("tokens-%d", n), nil)
	w.QueueURL = w.queue(fmt.Sprintf("cards-%d.fifo", n), map[string]string{"FifoQueue": "true"})
	made := expect.Value(sfn.NewFromConfig(s.Config).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(fmt.Sprintf("pipeline-%d", n)), RoleArn: aws.String("arn:aws:iam::123456789012:role/local"),
		Definition: aws.String(fmt.Sprintf(machine, w.tokens)),
	}))(w.T)
	w.Machine = *made.StateMachineArn
	expect.Value(w.S3().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &w.Bucket}))(w.T)
	w.receiveIn("")
	return w
}

func (w *World) queue(name string, attributes map[string]string) string {
	out := expect.Value(sqs.NewFromConfig(w.plain).CreateQueue(w.T.Context(),
		&sqs.CreateQueueInput{QueueName: &name, Attributes: attributes}))(w.T)
	return *out.QueueUrl
}

// StoreOverTransport returns a store whose calls go through FaultyTransport, as a function has it.
func (w *World) StoreOverTransport() *store.TaskStore {
	return store.NewTasks(dynamodb.NewFromConfig(w.Config), w.table)
}

func (w *World) Table() string { return w.table }

// Runs returns a Step Functions client as a function has it.
func (w *World) Runs() *sfn.Client { return sfn.NewFromConfig(w.Config) }

// S3 returns an S3 client as a function has it.
func (w *World) S3() *s3.Client {
	return s3.NewFromConfig(w.Config, func(o *s3.Options) { o.UsePathStyle = true })
}

// Results returns the store of large values as a function has it.
func (w *World) Results() large.Store {
	return large.Open(w.Config, boot.Results{ResultsBucket: w.Bucket})
}

// Effects returns a runner of effects.
func (w *World) Effects() effect.Runner {
	return effect.Runner{
		Store: w.StoreOverTransport().KindStore.Store, Runs: w.Runs(), Queue: sqs.NewFromConfig(w.Config),
		Machines: map[string]string{task.Kind.Name: w.Machine}, QueueURL: w.QueueURL, Now: w.Now,
	}
}

// Open starts the head's run and returns the token with which it waits.
func (w *World) Open() string {
	w.T.Helper()
	h := w.Load().Head
	expect.Value(sfn.NewFromConfig(w.plain).StartExecution(w.T.Context(), &sfn.StartExecutionInput{
		StateMachineArn: &w.Machine, Name: aws.String(fmt.Sprintf("%s-%d", h.TaskID, h.Run)),
		Input: aws.String(fmt.Sprintf(`{"tenant":%q,"task":%q,"run":%d}`, h.TenantID, h.TaskID, h.Run)),
	}))(w.T)
	return w.Token()
}

// Token returns the token of a run that began to wait.
func (w *World) Token() string {
	w.T.Helper()
	out := expect.Value(sqs.NewFromConfig(w.plain).ReceiveMessage(w.T.Context(),
		&sqs.ReceiveMessageInput{QueueUrl: &w.tokens, WaitTimeSeconds: 10}))(w.T)
	expect.Must(w.T, len(out.Messages) == 1, "no run waits")
	var said struct {
		Token string `json:"token"`
	}
	expect.NoError(w.T, json.Unmarshal([]byte(*out.Messages[0].Body), &said))
	expect.Value(sqs.NewFromConfig(w.plain).DeleteMessage(w.T.Context(),
		&sqs.DeleteMessageInput{QueueUrl: &w.tokens, ReceiptHandle: out.Messages[0].ReceiptHandle}))(w.T)
	return said.Token
}

// Stop stops a run as an operator with the AWS CLI does.
func (w *World) Stop(run int) {
	w.T.Helper()
	expect.Value(sfn.NewFromConfig(w.plain).StopExecution(w.T.Context(),
		&sfn.StopExecutionInput{ExecutionArn: w.execution(run).ExecutionArn}))(w.T)
	w.Becomes(run, sfntypes.ExecutionStatusAborted)
}

// NoRoom ends a run as its state machine does when Lambda's concurrency limit is reached.
func (w *World) NoRoom(run int, token string) {
	w.T.Helper()
	expect.Value(sfn.NewFromConfig(w.plain).SendTaskFailure(w.T.Context(),
		&sfn.SendTaskFailureInput{TaskToken: &token, Error: aws.String(aggregate.EndedNoRoom)}))(w.T)
	w.Becomes(run, sfntypes.ExecutionStatusFailed)
}

// Becomes waits until a run has a status.
func (w *World) Becomes(run int, want sfntypes.ExecutionStatus) {
	w.T.Helper()
	expect.Eventually(w.T, fmt.Sprintf("run %d is %q", run, want), func() bool { return w.Status(run) == want })
}

// Status returns a run's status, empty if it was never started.
func (w *World) Status(run int) sfntypes.ExecutionStatus {
	w.T.Helper()
	return w.execution(run).Status
}

// execution returns a run as Step Functions lists it, empty if it was never started.
func (w *World) execution(run int) (none sfntypes.ExecutionListItem) {
	w.T.Helper()
	out := expect.Value(sfn.NewFromConfig(w.plain).ListExecutions(w.T.Context(),
		&sfn.ListExecutionsInput{StateMachineArn: &w.Machine}))(w.T)
	for _, e := range out.Executions {
		if *e.Name == fmt.Sprintf("%s-%d", w.Ref.ID, run) {
			return e
		}
	}
	return none
}

// Drawn receives the messages that ask for cards to be drawn, and returns their number.
func (w *World) Drawn() int {
	w.T.Helper()
	n := 0
	for {
		out := expect.Value(sqs.NewFromConfig(w.plain).ReceiveMessage(w.T.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: &w.QueueURL}))(w.T)
		if len(out.Messages) == 0 {
			return n
		}
		for _, m := range out.Messages {
			_, err := effect.ReadMessage(*m.Body)
			expect.That(w.T, err == nil, "the queue has %q: %v", *m.Body, err)
			expect.Value(sqs.NewFromConfig(w.plain).DeleteMessage(w.T.Context(),
				&sqs.DeleteMessageInput{QueueUrl: &w.QueueURL, ReceiptHandle: m.ReceiptHandle}))(w.T)
			n++
		}
	}
}

// FaultyTransport is the transport of calls to AWS. Tests can make it lose or refuse calls.
type FaultyTransport struct {
	Next   http.RoundTripper
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
	Refused = `{"__type":"com.amazon.coral.validate#ValidationException","message":"Item size has exceeded the ` +
		`maximum allowed size"}`
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
		answer := httptest.NewRecorder()
		answer.WriteHeader(http.StatusBadRequest)
		_, err := answer.WriteString(f.says)
		return answer.Result(), err
	case f.before != nil:
		f.before()
	case f.answer:
		res, err := w.Next.RoundTrip(r)
		if err == nil {
			res.Body.Close()
		}
		return nil, errDropped
	default:
		return nil, errDropped
	}
	return w.Next.RoundTrip(r)
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

// Death ends a process at one of the calls by which it changes something: before the call, or after it and before its
// answer. All later calls fail, too.
type Death struct {
	At    int  // 0: it lives, and its calls are counted
	After bool // the call is made
	Then  func()

	mu    sync.Mutex
	calls int
}

// Over is a transport of the process.
func (d *Death) Over(next http.RoundTripper) http.RoundTripper { return mortal{d, next} }

// Calls returns how many calls there were.
func (d *Death) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// Live lets another process make the calls from here on.
func (d *Death) Live() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.At, d.Then = 0, nil
}

// EachDeath runs something in a process that lives, and then in one that dies at each of its calls: before it or after
// it by day, and both at night. It returns how many processes died.
func EachDeath(t *testing.T, run func(d *Death)) (died int) {
	t.Helper()
	alive := &Death{}
	run(alive)
	for at := 1; at <= alive.Calls(); at++ {
		for _, after := range []bool{false, true} {
			if !expect.Long() && after == (at%2 == 0) {
				continue
			}
			run(&Death{At: at, After: after})
			expect.Must(t, !t.Failed(), "it died at call %d, after it: %t", at, after)
			died++
		}
	}
	return died
}

// Over has the world's clients be those of a process that may die.
func (w *World) Over(d *Death) *World {
	w.Config.HTTPClient = &http.Client{Transport: d.Over(w.Transport)}
	return w
}

type mortal struct {
	*Death
	next http.RoundTripper
}

var errDead = errors.New("the process is dead")

// changes reports whether a call of AWS or of another service changes something, or signs.
func changes(r *http.Request) bool {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return r.Method != http.MethodGet && r.Method != http.MethodHead &&
		!slices.Contains([]string{"Query", "GetItem", "BatchGetItem", "Scan", "GetPublicKey"}, call)
}

func (m mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	dead := m.At > 0 && m.calls >= m.At
	if !dead && changes(r) {
		m.calls++
	}
	dies := !dead && m.At > 0 && m.calls >= m.At
	m.mu.Unlock()
	switch {
	case dead, dies && !m.After:
	case dies:
		if answer, err := m.next.RoundTrip(r); err == nil {
			answer.Body.Close()
		}
	default:
		return m.next.RoundTrip(r)
	}
	if dies && m.Then != nil {
		m.Then()
	}
	return nil, errDead
}
