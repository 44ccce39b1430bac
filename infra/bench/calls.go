package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/clock"
)

const (
	sweeper = "SweepTasksFunction"
	// rest is the time before each request, longer than a minute of Slack's at the local stack's pace: so the calls of
	// one request take nothing of what Slack leaves to the next.
	rest = time.Second
)

// usage is what a request makes functions do, on average.
type usage struct {
	invocations, rows   float64 // rows that are written
	aws, slack, vendors float64 // calls
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f invocations; calls of AWS %.1f, Slack %.1f, vendors %.1f; %.1f rows", u.invocations, u.aws,
		u.slack, u.vendors, u.rows)
}

// recorder notes every moment of every function. It never disturbs one.
type recorder struct {
	mu    sync.Mutex
	calls []lambda.Call
}

func (r *recorder) Meet(c lambda.Call) lambda.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	return lambda.Fault{}
}

func (r *recorder) Busy(string, []byte) bool { return false }

func (r *recorder) Cold(string, []byte) bool { return false }

func (r *recorder) Dying(lambda.Call) {}

func (r *recorder) take() []lambda.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// quiet returns what was recorded after 1.5 seconds without a call: some rows are written after people have seen the
// end.
func (r *recorder) quiet(ctx context.Context) (all []lambda.Call, err error) {
	for {
		calls := r.take()
		if all = append(all, calls...); len(calls) == 0 {
			return all, nil
		}
		if err := clock.Sleep(ctx, 1500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// kind is what is measured, from its first message to its end.
type kind func(t driver.T, s *stack.Stack)

// measureCalls measures n times of do one after another, after one more that starts the processes.
func measureCalls(ctx context.Context, n int, do kind) (u usage, err error) {
	r := &recorder{}
	s, err := open(ctx, r, 0)
	if err != nil {
		return u, err
	}
	defer s.Close()
	for _, times := range []int{1, n} {
		for range times {
			if err := clock.Sleep(ctx, rest); err != nil {
				return u, err
			}
			if err := driver.Try(ctx, func(t driver.T) { do(t, s) }); err != nil {
				return u, err
			}
		}
		calls, err := r.quiet(ctx)
		if err != nil {
			return u, err
		}
		u = added(calls, float64(times))
	}
	return u, nil
}

// added adds up the calls of all functions but the sweeper, which runs each minute anyway, and but those that a process
// makes at its start.
func added(calls []lambda.Call, n float64) (u usage) {
	for _, c := range calls {
		_, path, _ := strings.Cut(c.Kind, " /")
		switch first, _, _ := strings.Cut(path, "/"); {
		case c.Function == sweeper:
		case c.Kind == lambda.KindStart:
			u.invocations += 1 / n
		case c.Kind == lambda.KindAnswer, c.RequestID == "":
		case first == "api":
			u.slack += 1 / n
		case first == "freee", first == "sheets":
			u.vendors += 1 / n
		default:
			u.aws += 1 / n
			u.rows += rowsOf(c) / n
		}
	}
	return u
}

// rowsOf counts the rows that a call writes. A check writes none.
func rowsOf(c lambda.Call) (n float64) {
	switch c.Kind {
	case "DynamoDB.PutItem", "DynamoDB.UpdateItem", "DynamoDB.DeleteItem":
		return 1
	case "DynamoDB.TransactWriteItems":
		var in struct {
			TransactItems []struct{ Put, Update, Delete json.RawMessage }
		}
		_ = json.Unmarshal(c.Body, &in)
		for _, x := range in.TransactItems {
			if x.Put != nil || x.Update != nil || x.Delete != nil {
				n++
			}
		}
	}
	return n
}

func request(t driver.T, s *stack.Stack) { finish(ask(t, s, 25*time.Millisecond)) }

type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// outside has an agent with a key of its own ask for a message, a person stamp it, and the agent learn that it was
// sent.
func outside(t driver.T, s *stack.Stack) {
	text := "Closed: " + time.Now().String()
	secret := driver.Key(t, s, "bench", "send_slack_dm")
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearing(secret)}}, nil)
	if err != nil {
		t.Fatalf("reach the door: %v", err)
	}
	asks := func() (status string) {
		out, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_slack_dm", Arguments: map[string]any{
			"recipient": webapi.Tanaka, "text": text, "details": []any{}}})
		if err != nil || out.IsError {
			t.Fatalf("ask: %v %+v", err, out)
		}
		var is struct{ Status string }
		if err := json.Unmarshal([]byte(out.Content[0].(*mcp.TextContent).Text), &is); err != nil {
			return ""
		}
		return is.Status
	}
	asks()
	d := &driver.Dialogue{Thread: driver.In(t, s, webapi.HR, ""), User: webapi.Sato}
	d.Timeout = patience
	d.Press(webapi.Suzuki, d.Shows(text), "approve_call")
	d.Eventually("the message is sent", func() bool {
		return strings.Contains(fmt.Sprint(s.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "")), text)
	})
	d.Eventually("the agent learns the end", func() bool { return asks() == "succeeded" })
}
