package aws

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
)

// serviceFaults makes AWS fail functions' calls. Seed and the number of earlier calls of the same kind decide which
// fail.
type serviceFaults struct {
	seed uint64

	mu     sync.Mutex
	odds   float64 // of each try
	whole  float64 // of a call whose every try then fails
	calls  map[string]int
	tried  map[string]*fault // of calls that were tried before
	hit    map[string]int    // faults by kind and name
	denied func(lambda.Call) *fault
}

// fault is an answer sent instead of the service's.
type fault struct {
	name   string
	status int
	body   string
	delay  time.Duration // before it
}

func newServiceFaults(seed uint64) *serviceFaults {
	return &serviceFaults{seed: seed, calls: map[string]int{}, tried: map[string]*fault{}, hit: map[string]int{}}
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
	f := w.faultOf(c)
	if f == nil {
		return lambda.Fault{}
	}
	return lambda.Fault{Instead: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if clock.Sleep(r.Context(), f.delay) != nil {
			return
		}
		kind := "application/x-amz-json-1.0"
		if strings.HasPrefix(f.body, "<") {
			kind = "application/xml"
		}
		rw.Header().Set("Content-Type", kind)
		rw.WriteHeader(f.status)
		_, _ = rw.Write([]byte(f.body)) // the caller may have disconnected
	})}
}

func (w *serviceFaults) faultOf(c lambda.Call) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	faults := faultsOf(c)
	if len(faults) == 0 {
		return nil
	}
	f := w.draw(c, faults)
	if f != nil {
		w.hit[service(c)+" "+f.name]++
	}
	return f
}

func (w *serviceFaults) draw(c lambda.Call, faults []fault) *fault {
	if w.denied != nil {
		if f := w.denied(c); f != nil {
			return f
		}
	}
	call := c.RequestID + c.Kind + string(c.Body)
	if f, tried := w.tried[call]; tried && f != nil {
		return f
	} else if !tried {
		w.tried[call] = nil
		if x := w.random(c, "call"); x < w.whole {
			w.tried[call] = &faults[int(x/w.whole*float64(len(faults)))]
			return w.tried[call]
		}
	}
	if x := w.random(c, "try"); x < w.odds {
		return &faults[int(x/w.odds*float64(len(faults)))]
	}
	return nil
}

// random returns the seed's number from 0 to 1 for this call.
func (w *serviceFaults) random(c lambda.Call, what string) float64 {
	kind := c.Function + " " + c.Kind + " " + what
	w.calls[kind]++
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, kind, w.calls[kind])
	x := h.Sum64()
	x ^= x >> 33 // similar texts hash to similar low bits
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// service returns the service that a call goes to.
func service(c lambda.Call) string {
	name, _, _ := strings.Cut(c.Kind, ".")
	if !slices.Contains([]string{"DynamoDB", "AmazonSQS", "AWSStepFunctions", "TrentService", "secretsmanager"}, name) {
		return "S3"
	}
	return name
}

// faultsOf returns the ways in which AWS fails a call; none if the call is not to AWS.
func faultsOf(c lambda.Call) []fault {
	name, operation, aws := strings.Cut(c.Kind, ".")
	json := func(name string, status int) fault {
		return fault{name: name, status: status,
			body: fmt.Sprintf(`{"__type":%q,"message":"drawn at random","Message":"drawn at random"}`, name)}
	}
	switch {
	case !aws && isBucket(c.Kind):
		return []fault{
			{name: "SlowDown", status: 503, body: "<Error><Code>SlowDown</Code><Message>drawn at random</Message></Error>"},
			{name: "InternalError", status: 500,
				body: "<Error><Code>InternalError</Code><Message>drawn at random</Message></Error>"},
		}
	case name == "DynamoDB":
		const space = "com.amazonaws.dynamodb.v20120810#"
		all := []fault{json(space+"ProvisionedThroughputExceededException", 400), json(space+"ThrottlingException", 400),
			json(space+"InternalServerError", 500)}
		switch operation {
		case "TransactWriteItems":
			return append(all, cancelled(c.Body, "TransactionConflict"), cancelled(c.Body, "ThrottlingError"))
		case "UpdateItem", "PutItem", "DeleteItem":
			return append(all, json(space+"TransactionConflictException", 400))
		}
		return all
	case name == "AmazonSQS":
		return []fault{json("com.amazonaws.sqs#RequestThrottled", 400), json("com.amazonaws.sqs#ServiceUnavailable", 503)}
	case name == "AWSStepFunctions":
		return []fault{json("ThrottlingException", 400), json("InternalServerError", 500)}
	case name == "TrentService":
		return []fault{json("ThrottlingException", 400), json("KMSInternalException", 500),
			json("DependencyTimeoutException", 503)}
	case name == "secretsmanager":
		return []fault{json("ThrottlingException", 400), json("InternalServiceError", 500)}
	}
	return nil
}

// isBucket reports whether a call is to S3, rather than to Slack or a vendor or a moment without a call.
func isBucket(kind string) bool {
	_, path, call := strings.Cut(kind, " /")
	for _, other := range []string{"api/", "freee/", "sheets/"} {
		call = call && !strings.HasPrefix(path, other)
	}
	return call
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
	return fault{name: "TransactionCanceled " + code, status: 400, body: string(answer)}
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
	planted.keep(a.Waits[0].Token)
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
		"process.approved by "+webapi.Tanaka,
		"execution.started by "+
			"system", "execution.failed by system", "execution.retried by "+webapi.Sato, "execution.started by system")
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
	defer func() { t.Log(faulty) }()
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
