package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/lambda"
	"ringi/shared/store/table"
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
var services = map[string]string{"AWSStepFunctions": "StepFunctions", "AmazonSQS": "SQS", "TrentService": "KMS",
	"secretsmanager": "SecretsManager"}

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

// Item is an item encoded as DynamoDB's JSON.
type Item map[string]types.AttributeValue

// UnmarshalJSON reads DynamoDB's JSON. It returns an error for a value of no known type.
func (it *Item) UnmarshalJSON(text []byte) (err error) {
	*it, err = attributevalue.UnmarshalMapJSON(text)
	if err == nil && !whole(&types.AttributeValueMemberM{Value: *it}) {
		err = errors.New("an attribute has a value of no known type")
	}
	return err
}

// whole reports whether all parts of a value have known types.
func whole(v types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.UnknownUnionMember:
		return false
	case *types.AttributeValueMemberL:
		return !slices.ContainsFunc(v.Value, func(x types.AttributeValue) bool { return !whole(x) })
	case *types.AttributeValueMemberM:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v.Value)),
			func(x types.AttributeValue) bool { return !whole(x) })
	}
	return v != nil
}

func (it Item) MarshalJSON() ([]byte, error) { return attributevalue.MarshalMapJSON(it) }

// Sizes, in bytes, of values without a length.
const (
	sizeOfFlag      = 1 // a boolean or null
	sizeOfContainer = 3 // of a list or map, besides its elements
	sizeOfElement   = 1 // for each element of a list or map
)

// Size is an item's size in bytes: its attributes' names in UTF-8 and their values.
func Size(it Item) (total int) {
	for name, v := range it {
		total += len(name) + sizeOf(v)
	}
	return total
}

func sizeOf(v types.AttributeValue) (total int) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return sizeOfNumber(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberSS:
		return sum(v.Value, func(x string) int { return len(x) })
	case *types.AttributeValueMemberNS:
		return sum(v.Value, sizeOfNumber)
	case *types.AttributeValueMemberBS:
		return sum(v.Value, func(x []byte) int { return len(x) })
	case *types.AttributeValueMemberL:
		return sizeOfContainer + len(v.Value)*sizeOfElement + sum(v.Value, sizeOf)
	case *types.AttributeValueMemberM:
		return sizeOfContainer + len(v.Value)*sizeOfElement + Size(v.Value)
	}
	return sizeOfFlag
}

func sum[T any](list []T, size func(T) int) (total int) {
	for _, x := range list {
		total += size(x)
	}
	return total
}

// sizeOfNumber is one byte, one more for every two significant digits, and one for a minus.
func sizeOfNumber(text string) int {
	digits, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	if whole, fraction, ok := strings.Cut(digits, "."); ok {
		digits = whole + strings.TrimRight(fraction, "0")
		if strings.Trim(fraction, "0") == "" {
			digits = strings.TrimRight(whole, "0")
		}
	} else {
		digits = strings.TrimRight(digits, "0")
	}
	n := 1 + (len(strings.TrimLeft(digits, "0"))+1)/2
	if strings.HasPrefix(text, "-") {
		n++
	}
	return n
}

const (
	readUnit  = 4 << 10 // bytes of a read unit
	writeUnit = 1 << 10 // bytes of a write unit
	// A transaction counts twice: every item is prepared and committed.
	transaction = 2
	eventual    = 0.5 // of a strongly consistent read
)

// Index is a global secondary index that projects all attributes.
type Index struct{ PK, SK string }

// Units are capacity units. Index counts the write units of indexes, which a transaction does not double.
type Units struct{ Read, Write, Index float64 }

func (u Units) Plus(v Units) Units {
	return Units{u.Read + v.Read, u.Write + v.Write, u.Index + v.Index}
}

// Read returns the cost of one read: all items that a Query reads together, or one item of GetItem or BatchGetItem.
// Finding nothing costs one unit.
func Read(consistent bool, items ...Item) Units {
	n := ceil(sum(items, Size), readUnit)
	if !consistent {
		n *= eventual
	}
	return Units{Read: n}
}

// Write returns the cost of changing an item from before to after; either may be nil. A check costs as much as a write.
func Write(before, after Item, transactional bool, indexes ...Index) Units {
	was, is := Size(before), Size(after)
	u := Units{Write: ceil(max(was, is), writeUnit)}
	if transactional {
		u.Write *= transaction
	}
	for _, x := range indexes {
		u.Index += x.follow(before, after, was, is)
	}
	return u
}

// follow returns the cost of a write for an index: an added or removed entry is one write, a changed key two, any other
// change one.
func (x Index) follow(before, after Item, was, is int) float64 {
	old, had := x.key(before)
	now, has := x.key(after)
	switch {
	case !had && !has:
		return 0
	case !had:
		return ceil(is, writeUnit)
	case !has:
		return ceil(was, writeUnit)
	case old != now:
		return ceil(was, writeUnit) + ceil(is, writeUnit)
	case reflect.DeepEqual(before, after):
		return 0
	}
	return ceil(max(was, is), writeUnit)
}

func (x Index) key(it Item) (key [2]string, ok bool) {
	pk, sk := table.TextOf(it, x.PK), table.TextOf(it, x.SK)
	return [2]string{pk, sk}, pk != "" && sk != "" // a key is never empty
}

func ceil(n, unit int) float64 { return float64(max(1, (n+unit-1)/unit)) }
