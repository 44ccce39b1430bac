package aws

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// serviceFaults makes AWS fail functions' calls. Seed and the number of earlier calls of the same kind decide which
// fail.
type serviceFaults struct {
	seed uint64

	mu     sync.Mutex
	odds   float64 // of each try
	whole  float64 // of a call whose every try then fails
	calls  map[string]uint64
	tried  map[string]*fault // of calls that were tried before
	hit    map[string]int    // by the fault's name
	denied func(lambda.Call) *fault
}

// fault is an answer sent instead of the service's.
type fault struct {
	name   string
	status int
	body   string
}

// set changes how often calls fail.
func (w *serviceFaults) set(odds, whole float64, denied func(lambda.Call) *fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.odds, w.whole, w.denied = odds, whole, denied
}

func (w *serviceFaults) Busy(string, []byte) bool { return false }

func (w *serviceFaults) Cold(string, []byte) bool { return false }

func (w *serviceFaults) Dying(lambda.Call) {}

func (w *serviceFaults) Meet(c lambda.Call) lambda.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.draw(c, faultsOf(c))
	if f == nil {
		return lambda.Fault{}
	}
	service, _, _ := strings.Cut(c.Kind, ".")
	w.hit[service+" "+f.name]++
	return lambda.Fault{Instead: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		kind := "application/x-amz-json-1.0"
		if strings.HasPrefix(f.body, "<") {
			kind = "application/xml"
		}
		rw.Header().Set("Content-Type", kind)
		rw.WriteHeader(f.status)
		_, _ = rw.Write([]byte(f.body)) // the caller may have disconnected
	})}
}

func (w *serviceFaults) draw(c lambda.Call, faults []fault) *fault {
	if len(faults) == 0 {
		return nil
	}
	if w.denied != nil {
		if f := w.denied(c); f != nil {
			return f
		}
	}
	kind := fnv.New64a()
	fmt.Fprint(kind, c.Function, " ", c.Kind)
	w.calls[c.Function+c.Kind]++
	random := rand.New(rand.NewPCG(w.seed^kind.Sum64(), w.calls[c.Function+c.Kind]))
	call := c.RequestID + c.Kind + string(c.Body)
	if f, tried := w.tried[call]; tried && f != nil {
		return f
	} else if !tried {
		w.tried[call] = nil
		if random.Float64() < w.whole {
			w.tried[call] = &faults[random.IntN(len(faults))]
			return w.tried[call]
		}
	}
	if random.Float64() < w.odds {
		return &faults[random.IntN(len(faults))]
	}
	return nil
}

// services are the ways in which each service fails a call.
var services = map[string][]fault{
	"DynamoDB": {failing("ProvisionedThroughputExceededException", 400), failing("ThrottlingException", 400),
		failing("InternalServerError", 500)},
	"AmazonSQS":        {failing("RequestThrottled", 400), failing("ServiceUnavailable", 503)},
	"AWSStepFunctions": {failing("ThrottlingException", 400), failing("InternalServerError", 500)},
	"TrentService": {failing("ThrottlingException", 400), failing("KMSInternalException", 500),
		failing("DependencyTimeoutException", 503)},
	"secretsmanager": {failing("ThrottlingException", 400), failing("InternalServiceError", 500)},
	"S3": {{"SlowDown", 503, "<Error><Code>SlowDown</Code><Message>drawn at random</Message></Error>"},
		{"InternalError", 500, "<Error><Code>InternalError</Code><Message>drawn at random</Message></Error>"}},
}

func failing(name string, status int) fault {
	return fault{name, status, fmt.Sprintf(`{"__type":"com.amazonaws#%s","message":"drawn at random"}`, name)}
}

// faultsOf returns the ways in which AWS fails a call; none if the call is not to AWS.
func faultsOf(c lambda.Call) []fault {
	name, operation, aws := strings.Cut(c.Kind, ".")
	_, path, call := strings.Cut(c.Kind, " /")
	switch all := services[name]; {
	case aws && operation == "TransactWriteItems":
		return append(slices.Clip(all), cancelled(c.Body, "TransactionConflict"), cancelled(c.Body, "ThrottlingError"))
	case aws && name == "DynamoDB" && slices.Contains([]string{"UpdateItem", "PutItem", "DeleteItem"}, operation):
		return append(slices.Clip(all), failing("TransactionConflictException", 400))
	case aws:
		return all
	case call && !slices.ContainsFunc([]string{"api/", "freee/", "sheets/"},
		func(other string) bool { return strings.HasPrefix(path, other) }):
		return services["S3"]
	}
	return nil // to Slack or a vendor, or a moment without a call
}

// cancelled is a refused transaction whose first action gets this code as its reason.
func cancelled(body []byte, code string) fault {
	var in struct{ TransactItems []json.RawMessage }
	_ = json.Unmarshal(body, &in) // without actions there are no reasons
	reasons := make([]map[string]string, len(in.TransactItems))
	for i := range reasons {
		reasons[i] = map[string]string{"Code": "None"}
	}
	if len(reasons) > 0 {
		reasons[0] = map[string]string{"Code": code, "Message": "drawn at random"}
	}
	answer, _ := json.Marshal(map[string]any{ // of strings only
		"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message": "drawn at random",
		"CancellationReasons": reasons,
	})
	return fault{"TransactionCanceled " + code, 400, string(answer)}
}

// say makes a request, allowing more time until it is stored.
func say(t *testing.T, s *stack.Stack, user, text string) *driver.Request {
	t.Helper()
	d := driver.Say(t, s, user, webapi.HR, "<@"+webapi.Bot+"> "+text)
	expect.Eventually(t, "the request is kept", func() bool {
		_, err := d.Store.Load(t.Context(), d.Ref)
		return err == nil
	})
	return withLongTimeout(d)
}

// scenarios are what people do; each returns the expected audit log, in order.
var scenarios = map[string]func(*testing.T, *stack.Stack) (*driver.Request, []string){
	"done":                doneAtOnce,
	"rejected, then done": rejectedFirst,
	"cancelled":           withdrawn,
	"tried again":         triedAgain,
}

func doneAtOnce(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	d := say(t, s, webapi.Sato, "従業員一覧を取得して demo: mark "+markText)
	d.Approve(webapi.Tanaka)
	return d, finish(d, "task.created by system", "prompt.approved by "+webapi.Tanaka,
		"process.approved by "+webapi.Tanaka,
		"execution.started by system")
}

func rejectedFirst(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	d := say(t, s, webapi.Sato, "従業員一覧を取得して demo: mark "+markText)
	a := d.Until("a run waits", func(a *task.Aggregate) bool { return len(a.Waits) == 1 })
	planted.Store(a.Waits[0].Token, true)
	d.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", markReason)
	d.Click(webapi.Tanaka, "CARD#prompt#0002", "approve_prompt")
	d.Click(webapi.Tanaka, "CARD#process#0001", "approve_process")
	return d, finish(d, "task.created by system", "prompt.rejected by "+webapi.Suzuki, "prompt.approved by "+webapi.Tanaka,
		"process.approved by "+webapi.Tanaka, "execution.started by system")
}

func withdrawn(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	d := say(t, s, webapi.Sato, "従業員一覧を確認したい demo: mark "+markText)
	d.Click(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	expect.Eventually(t, "the cancel is taken", func() bool {
		_ = d.TryCancel(webapi.Sato, d.Root) // only the rows count
		return d.Load().Head.Ended != nil
	})
	d.Until("cancelled and shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCancelled })
	return d, []string{"task.created by system", "prompt.approved by " + webapi.Tanaka, "task.cancelled by " + webapi.Sato}
}

// triedAgain is the only scenario that reads attendance, because reading it fails at first for everybody.
func triedAgain(t *testing.T, s *stack.Stack) (*driver.Request, []string) {
	s.Vendors.Fail("list_attendance", http.StatusBadRequest, true)
	d := say(t, s, webapi.Sato, "今月の勤怠をまとめて demo: mark "+markText)
	d.Approve(webapi.Tanaka)
	d.Card("CARD#execution", "retry_execution")
	s.Vendors.Fail("list_attendance", 0, false)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	return d, finish(d, "task.created by system", "prompt.approved by "+webapi.Tanaka,
		"process.approved by "+webapi.Tanaka, "execution.started by system", "execution.failed by system",
		"execution.retried by "+webapi.Sato, "execution.started by system")
}

// finish waits until the work is done and returns the expected audit log, which starts with log. If a fault outlasts a
// call's tries, its step fails, and a person retries it as the card says.
func finish(d *driver.Request, log ...string) []string {
	for {
		a := d.Until("done or failed", func(a *task.Aggregate) bool {
			return completed(a) || a.Task != nil && a.Task.Status == task.TaskFailed
		})
		if completed(a) {
			return append(log, "execution.completed by system")
		}
		attempt := a.Execution().Attempt
		d.Click(webapi.Sato, "CARD#execution", "retry_execution")
		if d.Load().Execution().Attempt > attempt { // else the click only found a write with an unknown outcome
			log = append(log, "execution.failed by system", "execution.retried by "+webapi.Sato, "execution.started by system")
		}
	}
}

func completed(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted }

// TestCallsToAWSFailAtRandom: one in ten calls to AWS fails, and of one in fifty every try fails. Every task still ends
// as its people decided, and nothing secret is left in logs.
func TestCallsToAWSFailAtRandom(t *testing.T) {
	s := start(t)
	rounds := 1
	if expect.Long() {
		rounds = 10
	}
	calls := s.Vendors.Calls("write_rows_to_google_sheet")
	faulty.set(0.10, 0.02, nil)
	defer func() { t.Log(faulty.seed, faulty.hit) }()
	var ended []*driver.Request
	told := 0
	results := make(chan *driver.Request, rounds*len(scenarios))
	t.Run("scenarios", func(t *testing.T) {
		for round := range rounds {
			for name, act := range scenarios {
				if name == "tried again" && round > 0 {
					continue // makes a tool fail for everybody
				}
				told++
				t.Run(fmt.Sprint(name, " ", round), func(t *testing.T) {
					t.Parallel()
					d, want := act(t, s)
					expect.Same(t, want, d.Audit())
					results <- d
				})
			}
		}
	})
	close(results)
	wrote := 0
	for d := range results {
		ended = append(ended, d)
		a := d.Load()
		for _, c := range a.Cards {
			expect.Is(t, len(d.Cards(c.Key())), 1, "%s of %s is … messages", c.Key(), d.Ref.ID)
		}
		if e := a.Execution(); e != nil {
			for _, x := range a.StepsOf(e) {
				if x.Tool == "write_rows_to_google_sheet" {
					wrote++
				}
			}
		}
	}
	n := s.Vendors.Calls("write_rows_to_google_sheet") - calls
	expect.That(t, t.Failed() || n >= wrote, "%d writes are recorded, the vendor saw %d calls", wrote, n)
	faulty.set(0, 0, nil)
	t.Run("tokens are renewed", renewed)
	t.Run("what is left behind", func(t *testing.T) { checkLeaks(t, ended) })
	expect.That(t, t.Failed() || len(ended) == told && len(faulty.hit) >= 8, "%d tasks ended, under %d kinds of fault",
		len(ended), len(faulty.hit))
}
