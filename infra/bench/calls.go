package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
)

const (
	sweeper = "SweepTasksFunction"
	// rest is the time before each request, longer than a minute of Slack's at the local stack's pace: so the calls of
	// one request take nothing of what Slack leaves to the next.
	rest = time.Second
)

// usage is what a request makes functions do, on average.
type usage struct {
	invocations map[string]float64 // by function
	calls       map[string]float64 // by service: AWS, Slack, vendors
	rows        map[string]float64 // written, by kind
	transitions float64            // of state machines
}

func (u usage) String() string {
	return fmt.Sprintf("%s invocations (%s); calls of %s; %s rows (%s); %s state transitions", num(sum(u.invocations)),
		amounts(u.invocations), amounts(u.calls), num(sum(u.rows)), amounts(u.rows), num(u.transitions))
}

func sum(amounts map[string]float64) (all float64) {
	for _, n := range amounts {
		all += n
	}
	return round(all)
}

func amounts(of map[string]float64) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, name+" "+num(of[name]))
	}
	return strings.Join(list, ", ")
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

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

// kind is what is measured, from its first message to its end. It returns the state transitions of its run.
type kind func(t driver.T, s *stack.Stack) int

// measureCalls measures n times of do one after another, after one more that starts the processes.
func measureCalls(ctx context.Context, n int, do kind) (u usage, err error) {
	r := &recorder{}
	s, err := open(ctx, r, webapi.Rates{})
	if err != nil {
		return u, err
	}
	defer s.Close()
	for _, times := range []int{1, n} {
		transitions := 0
		for range times {
			if err := clock.Sleep(ctx, rest); err != nil {
				return u, err
			}
			if err := driver.Try(ctx, func(t driver.T) { transitions += do(t, s) }); err != nil {
				return u, err
			}
		}
		calls, err := r.quiet(ctx)
		if err != nil {
			return u, err
		}
		u = added(calls, times)
		u.transitions = round(float64(transitions) / float64(times))
	}
	return u, nil
}

// added adds up the calls of all functions but the sweeper, which runs each minute anyway, and but those that a process
// makes at its start.
func added(calls []lambda.Call, n int) usage {
	u := usage{invocations: map[string]float64{}, calls: map[string]float64{}, rows: map[string]float64{}}
	for _, c := range calls {
		switch {
		case c.Function == sweeper:
		case c.Kind == lambda.KindStart:
			u.invocations[c.Function]++
		case c.Kind == lambda.KindAnswer, c.RequestID == "":
		default:
			u.calls[service(c.Kind)]++
			for kind, rows := range rowsOf(c) {
				u.rows[kind] += float64(rows)
			}
		}
	}
	for _, all := range []map[string]float64{u.invocations, u.calls, u.rows} {
		for name, times := range all {
			all[name] = round(times / float64(n))
		}
	}
	return u
}

// service returns whose service a call is of, by its kind.
func service(kind string) string {
	_, path, _ := strings.Cut(kind, " /")
	switch first, _, _ := strings.Cut(path, "/"); first {
	case "api":
		return "Slack"
	case "freee", "sheets":
		return "vendors"
	}
	return "AWS"
}

// row is a row's keys as DynamoDB's JSON has them.
type row struct {
	PK, SK struct{ S string }
}

// kind is the start of the sort key, or of the partition key if each row has its own partition.
func (r row) kind() string {
	kind, _, _ := strings.Cut(r.SK.S, "#")
	if first, _, _ := strings.Cut(r.PK.S, "#"); first != "TASK" && first != "TENANT" {
		kind = first
	}
	return kind
}

// rowsOf counts the rows that a call writes, by kind. A check writes none.
func rowsOf(c lambda.Call) map[string]int {
	type write struct{ Key, Item *row }
	var in struct {
		write
		TransactItems []map[string]write
	}
	operation, is := strings.CutPrefix(c.Kind, "DynamoDB.")
	if !is || !slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}, operation) ||
		json.Unmarshal(c.Body, &in) != nil {
		return nil
	}
	out := map[string]int{}
	if in.TransactItems == nil {
		in.TransactItems = []map[string]write{{operation: in.write}}
	}
	for _, actions := range in.TransactItems {
		for action, w := range actions {
			for _, r := range []*row{w.Key, w.Item} {
				if r != nil && action != "ConditionCheck" {
					out[r.kind()]++
				}
			}
		}
	}
	return out
}

func request(t driver.T, s *stack.Stack) (transitions int) {
	r := ask(t, s, 25*time.Millisecond)
	finish(r)
	allShown(r)
	v, err := s.Task(t.Context(), r.Ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range v.Runs {
		transitions += len(run.States)
	}
	return transitions
}

type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// outside has an agent with a key of its own ask for a message, a person stamp it, and the agent learn that it was
// sent.
func outside(t driver.T, s *stack.Stack) int {
	team, text := s.Sandbox.TeamID(), "Closed: "+time.Now().String()
	_, secret, err := store.OpenAll(s.AWS, boot.Table{TableName: s.TableName}).CreateKey(t.Context(),
		tenancy.Key{TenantID: aggregate.TenantID(team), Team: team, Name: "bench", Answers: webapi.Sato,
			Tools: []string{"send_slack_dm"}, Channel: webapi.HR, QuotaDay: 1000,
			ExpiresAt: time.Now().AddDate(0, 1, 0)}, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
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
	d := &driver.Dialogue{T: t, S: s, User: webapi.Sato, Channel: webapi.HR, Timeout: patience}
	d.Press(webapi.Suzuki, d.Shows(text), "approve_call")
	d.Eventually("the message is sent", func() bool {
		return strings.Contains(fmt.Sprint(s.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "")), text)
	})
	d.Eventually("the agent learns the end", func() bool { return asks() == "succeeded" })
	return 0
}
