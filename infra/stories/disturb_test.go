package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/lambda"
	"ringi/shared/runtime/clock"
)

// between stands before the invocations by streams, queues and schedules.
func (w *world) between(next lambda.Invoker) lambda.Invoker { return delivery{w.injector, next} }

// delivery passes invocations on. It drops the table's records of plays that the relay does not attend, and delivers
// others' batches twice, late or shuffled where they are to come so.
type delivery struct {
	*injector
	next lambda.Invoker
}

// Invoke implements lambda.Invoker.
func (p delivery) Invoke(ctx context.Context, function string, payload []byte) (lambda.Result, error) {
	payload, some := p.attended(payload)
	if !some {
		return lambda.Result{Payload: []byte(`{"batchItemFailures":[]}`)}, nil
	}
	twice, late, mixed := p.draw(payload)
	if err := clock.Sleep(ctx, late); err != nil {
		return lambda.Result{}, err
	}
	if twice {
		var copies sync.WaitGroup
		defer copies.Wait()
		// The copy's answer is dropped: AWS too uses only one.
		copies.Go(func() { _, _ = p.next.Invoke(ctx, function, payload) })
	}
	return p.next.Invoke(ctx, function, mixed)
}

// batch is what streams and queues deliver.
type batch struct {
	Records []json.RawMessage `json:"Records"`
}

// attended removes records that are to be lost from a batch of the table's changes, and reports whether any are left;
// it returns other payloads unchanged.
func (p delivery) attended(payload []byte) (rest []byte, some bool) {
	var all batch
	if json.Unmarshal(payload, &all) != nil {
		return payload, true
	}
	kept := slices.DeleteFunc(slices.Clone(all.Records), func(r json.RawMessage) bool {
		t := p.whose(lambda.Call{Event: r})
		return bytes.Contains(r, []byte(`"aws:dynamodb"`)) && t != nil && t.unattended
	})
	if len(kept) == len(all.Records) {
		return payload, true
	}
	rest, err := json.Marshal(batch{kept})
	return rest, err == nil && len(kept) > 0
}

// draw decides at random what happens to a delivery: by the play to which one of its records belongs, or a schedule's
// event.
func (p delivery) draw(payload []byte) (twice bool, late time.Duration, mixed []byte) {
	var all batch
	_ = json.Unmarshal(payload, &all) // a schedule's event has no records
	for _, of := range append(all.Records, payload) {
		t := p.whose(lambda.Call{Event: of})
		if t == nil || t.late == nil {
			continue
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.disturbed++
		if t.late.IntN(3) == 0 {
			late = time.Duration(t.late.IntN(600)) * time.Millisecond
		}
		t.late.Shuffle(len(all.Records), func(i, j int) {
			all.Records[i], all.Records[j] = all.Records[j], all.Records[i]
		})
		if b, err := json.Marshal(all); err == nil && len(all.Records) > 0 {
			payload = b
		}
		return t.late.IntN(2) == 0, late, payload
	}
	return false, 0, payload
}

// failing makes AWS and Slack fail calls at random.
type failing struct {
	odds   float64 // of each try
	whole  float64 // of a call whose every try then fails
	random *rand.Rand
	slack  http.Handler

	mu    sync.Mutex
	tried map[string]*fault // of calls that were tried before
	hit   map[string]int    // by service and the fault's name
}

func newFailing(seed uint64, odds, whole float64, slack http.Handler) *failing {
	return &failing{odds: odds, whole: whole, random: rand.New(rand.NewPCG(seed, 3)), slack: slack,
		tried: map[string]*fault{}, hit: map[string]int{}}
}

// fault is an answer that is sent instead of the service's. With done, the call of Slack is made, and its answer lost.
type fault struct {
	name   string
	status int
	body   string
	done   bool
}

// answers draws the answer to a call, nil if the service gives it. made reports whether the call comes to the service.
func (w *failing) answers(c lambda.Call) (answer http.Handler, made bool) {
	if w == nil {
		return nil, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.draw(c)
	if f == nil {
		return nil, true
	}
	service, _, _ := strings.Cut(c.Kind, ".")
	w.hit[service+" "+f.name]++
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if f.done {
			w.slack.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		rw.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(f.body, "<") {
			rw.Header().Set("Content-Type", "application/xml")
		}
		if f.status == http.StatusTooManyRequests {
			rw.Header().Set("Retry-After", "1")
		}
		rw.WriteHeader(f.status)
		_, _ = rw.Write([]byte(f.body)) // the caller may have disconnected
	}), f.done
}

func (w *failing) draw(c lambda.Call) *fault {
	faults := faultsOf(c)
	if len(faults) == 0 {
		return nil
	}
	call := c.RequestID + c.Kind + string(c.Body)
	if f, tried := w.tried[call]; tried && f != nil {
		return f
	} else if !tried {
		w.tried[call] = nil
		if w.random.Float64() < w.whole && w.odds < 1 {
			w.tried[call] = &faults[w.random.IntN(len(faults))]
			return w.tried[call]
		}
	}
	if w.random.Float64() < w.odds {
		return &faults[w.random.IntN(len(faults))]
	}
	return nil
}

// services are the ways in which each service fails a call.
var services = map[string][]fault{
	"DynamoDB": {named("ProvisionedThroughputExceededException", 400), named("ThrottlingException", 400),
		named("InternalServerError", 500)},
	"AmazonSQS":        {named("RequestThrottled", 400), named("ServiceUnavailable", 503)},
	"AWSStepFunctions": {named("ThrottlingException", 400), named("InternalServerError", 500)},
	"TrentService": {named("ThrottlingException", 400), named("KMSInternalException", 500),
		named("DependencyTimeoutException", 503)},
	"secretsmanager": {named("ThrottlingException", 400), named("InternalServiceError", 500)},
	"S3": {{name: "SlowDown", status: 503, body: "<Error><Code>SlowDown</Code><Message>drawn</Message></Error>"},
		{name: "InternalError", status: 500, body: "<Error><Code>InternalError</Code><Message>drawn</Message></Error>"}},
	"Slack": {{name: "ratelimited", status: 429, body: `{"ok":false,"error":"ratelimited"}`},
		{name: "unavailable", status: 503, body: "unavailable"}, {name: "lost", done: true}},
}

func named(name string, status int) fault {
	return fault{name: name, status: status, body: fmt.Sprintf(`{"__type":"com.amazonaws#%s","message":"drawn"}`, name)}
}

// faultsOf returns the ways in which a call fails; none if it is one of a vendor, or no call.
func faultsOf(c lambda.Call) []fault {
	name, operation, aws := strings.Cut(c.Kind, ".")
	_, path, call := strings.Cut(c.Kind, " /")
	switch all := services[name]; {
	case aws && operation == "TransactWriteItems":
		return append(slices.Clip(all), cancelled(c.Body, "TransactionConflict"), cancelled(c.Body, "ThrottlingError"))
	case aws && name == "DynamoDB" && slices.Contains([]string{"UpdateItem", "PutItem", "DeleteItem"}, operation):
		return append(slices.Clip(all), named("TransactionConflictException", 400))
	case aws:
		return all
	case call && c.Function == drawer && strings.HasPrefix(path, "api/"):
		return services["Slack"]
	case call && !slices.ContainsFunc([]string{"api/", "freee/", "sheets/", "github/", "rooms", "20"},
		func(other string) bool { return strings.HasPrefix(path, other) }):
		return services["S3"]
	}
	return nil
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
		reasons[0] = map[string]string{"Code": code, "Message": "drawn"}
	}
	answer, _ := json.Marshal(map[string]any{ // of strings only
		"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message": "drawn",
		"CancellationReasons": reasons,
	})
	return fault{name: "TransactionCanceled " + code, status: 400, body: string(answer)}
}
