package aws

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/lambda"
	"ringi/shared/runtime/clock"
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
		return fault{name: name, status: status, body: fmt.Sprintf(`{"__type":%q,"message":"drawn at random","Message":"drawn at random"}`, name)}
	}
	switch {
	case !aws && isBucket(c.Kind):
		return []fault{
			{name: "SlowDown", status: 503, body: "<Error><Code>SlowDown</Code><Message>drawn at random</Message></Error>"},
			{name: "InternalError", status: 500, body: "<Error><Code>InternalError</Code><Message>drawn at random</Message></Error>"},
		}
	case name == "DynamoDB":
		const space = "com.amazonaws.dynamodb.v20120810#"
		all := []fault{json(space+"ProvisionedThroughputExceededException", 400), json(space+"ThrottlingException", 400), json(space+"InternalServerError", 500)}
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
		return []fault{json("ThrottlingException", 400), json("KMSInternalException", 500), json("DependencyTimeoutException", 503)}
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
		"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message": "drawn at random", "CancellationReasons": reasons,
	})
	return fault{name: "TransactionCanceled " + code, status: 400, body: string(answer)}
}
