package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// minute is a table of tasks in memory, with services that are slow or fail.
type minute struct {
	effect.Store
	now    time.Time
	faults map[string]func(ctx context.Context) error // by the called service

	mu    sync.Mutex
	rows  map[aggregate.Ref]*task.Aggregate
	due   [store.Shards][]aggregate.Ref
	later map[aggregate.Ref]time.Time // when each task is next due
	off   int                         // how many were postponed
	calls map[string]int
}

const took = 20 * time.Millisecond

func (m *minute) Erase(context.Context, store.Objects, aggregate.Ref) (int, error) {
	panic("nothing is forgotten")
}

// call is made as a client's is.
func (m *minute) call(ctx context.Context, what string) error {
	return guarded(ctx, what, func(ctx context.Context) error {
		m.mu.Lock()
		m.calls[what]++
		fault := m.faults[what]
		m.mu.Unlock()
		if fault != nil {
			return fault(ctx)
		}
		time.Sleep(took)
		return ctx.Err()
	})
}

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func refuses(context.Context) error {
	time.Sleep(took)
	return &smithy.OperationError{Err: &smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}}
}

func (m *minute) Due(ctx context.Context, shard int, _ time.Time) iter.Seq2[aggregate.Ref, error] {
	return func(yield func(aggregate.Ref, error) bool) {
		for i, ref := range m.due[shard] {
			if i%50 == 0 {
				if err := m.call(ctx, "due"); err != nil {
					yield(ref, err)
					return
				}
			}
			if m.isDue(ref) && !yield(ref, nil) {
				return
			}
		}
	}
}

func (m *minute) isDue(ref aggregate.Ref) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, moved := m.later[ref]
	return !moved || !at.IsZero() && !at.After(m.now)
}

func (m *minute) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	if err := m.call(ctx, "load"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[ref], nil
}

func (m *minute) Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error) {
	a, err := m.Load(ctx, ref)
	if err != nil {
		return nil, err
	}
	return a.Root(), nil
}

func (m *minute) Decide(
	ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate],
) (aggregate.Aggregate, error) {
	if err := m.call(ctx, "write"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := decide(m.rows[ref])
	if err != nil {
		return nil, err
	}
	m.rows[ref] = m.rows[ref].After(c).(*task.Aggregate)
	return m.rows[ref], nil
}

func (m *minute) Postpone(ctx context.Context, ref aggregate.Ref, _ aggregate.Head, due *time.Time) error {
	if err := m.call(ctx, "write"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.later[ref] = time.Time{}
	if due != nil {
		m.later[ref] = *due
	}
	return nil
}

func (m *minute) SweepFailed(ctx context.Context, ref aggregate.Ref, _ int, due, _ time.Time) error {
	if err := m.call(ctx, "write"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.later[ref] = due
	m.off++
	return nil
}

func (m *minute) StartExecution(
	ctx context.Context, _ *sfn.StartExecutionInput, _ ...func(*sfn.Options),
) (*sfn.StartExecutionOutput, error) {
	return &sfn.StartExecutionOutput{}, m.call(ctx, "runs")
}

func (m *minute) DescribeExecution(
	ctx context.Context, _ *sfn.DescribeExecutionInput, _ ...func(*sfn.Options),
) (*sfn.DescribeExecutionOutput, error) {
	return &sfn.DescribeExecutionOutput{}, m.call(ctx, "runs")
}

func (m *minute) SendTaskSuccess(
	ctx context.Context, _ *sfn.SendTaskSuccessInput, _ ...func(*sfn.Options),
) (*sfn.SendTaskSuccessOutput, error) {
	return &sfn.SendTaskSuccessOutput{}, m.call(ctx, "runs")
}

func (m *minute) SendMessage(
	ctx context.Context, _ *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	return &sqs.SendMessageOutput{}, m.call(ctx, "queue")
}

const heads = 3000

// newMinute has tasks of which every second has a waiting gate. The others need a run.
func newMinute(t *testing.T) *minute {
	t.Helper()
	m := &minute{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), rows: map[aggregate.Ref]*task.Aggregate{}}
	s := tenancy.DefaultSettings()
	for n := range heads {
		c, ref, err := task.Receive(aggregate.TenantID("T1"), task.Request{TeamID: "T1", Text: "x", User: "U1",
			Channel: "C1", ChannelType: "channel", MessageTS: fmt.Sprintf("1763629200.%06d", n),
			ThreadTS: "1763629200.000000"}, m.now)
		expect.NoError(t, err)
		a := (&task.Aggregate{}).After(c).(*task.Aggregate)
		for _, decide := range []func() (aggregate.Change, error){
			func() (aggregate.Change, error) {
				return a.Extracted(1, task.Extract{Title: "x", Description: "x", Priority: task.High, TaskType: task.TypeStandard},
					m.now)
			},
			func() (aggregate.Change, error) { return a.BeginPrompt(1, m.now) },
			func() (aggregate.Change, error) { return a.FinishPrompt(1, task.Drafted{Content: "x"}, s, m.now) },
		}[:1+2*(n%2)] {
			a = a.After(expect.Value(decide())(t)).(*task.Aggregate)
		}
		m.rows[ref] = a
		m.due[n%store.Shards] = append(m.due[n%store.Shards], ref)
	}
	return m
}

// again is the same table without what has happened to it.
func (m *minute) again() *minute {
	return &minute{now: m.now, rows: maps.Clone(m.rows), due: m.due, later: map[aggregate.Ref]time.Time{},
		calls: map[string]int{}}
}

// sweep runs one minute's sweep, and returns how long it took.
func (m *minute) sweep(t *testing.T) time.Duration {
	t.Helper()
	now := func() time.Time { return m.now }
	h := &Handler{Store: m, Reminders: noReminders{}, Effects: effect.Runner{Store: m, Runs: m, Queue: m, Now: now},
		Now: now}
	ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second)
	defer cancel()
	began := time.Now()
	expect.Metrics(t, func() { _ = h.Sweep(ctx) })
	return time.Since(began)
}

func (m *minute) expired() (n int) {
	for _, a := range m.rows {
		if a.Head.Ended != nil {
			n++
		}
	}
	return n
}

// A sweep of 3,000 tasks, of which half have a gate whose time is over, while a service fails.
func TestABrownOutDelaysNoExpiry(t *testing.T) {
	expect.Patience(t)
	quiet := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(quiet) })
	received := newMinute(t)
	for name, tt := range map[string]struct {
		down    string
		fault   func(context.Context) error
		expired int           // of heads/2
		done    int           // tasks that were completely handled
		asked   int           // the most calls of the service
		within  time.Duration // the sweep
	}{
		"all is well":                {"", nil, heads / 2, heads, heads, 10 * time.Second},
		"the card queue hangs":       {"queue", hangs, heads / 2, 0, 160, 15 * time.Second},
		"the card queue fails":       {"queue", refuses, heads / 2, 0, 160, 15 * time.Second},
		"Step Functions hangs":       {"runs", hangs, heads / 2, heads / 2, 160, 15 * time.Second},
		"Step Functions fails":       {"runs", refuses, heads / 2, heads / 2, 160, 15 * time.Second},
		"the table takes no writes":  {"write", hangs, 0, 0, 160, 15 * time.Second},
		"the table can't be read":    {"load", hangs, 0, 0, 160, 15 * time.Second},
		"what is due can't be asked": {"due", hangs, 0, 0, store.Shards, 56 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := received.again()
				m.now = m.now.Add(1000 * time.Hour)
				if tt.fault != nil {
					m.faults = map[string]func(context.Context) error{tt.down: tt.fault}
				}
				took := m.sweep(t)
				done := len(m.later) - m.off
				t.Logf("%v: %d of %d gates expired, %d tasks handled, %d put off, %d calls of what is down", took, m.expired(),
					heads/2, done, m.off, m.calls[tt.down])
				expect.That(t, m.expired() == tt.expired && done == tt.done && m.calls[tt.down] <= tt.asked &&
					took <= tt.within, "%d expired, %d handled, %d calls, %s", m.expired(), done, m.calls[tt.down], took)
				m.faults = nil
				for range 6 { // as each minute's sweep
					m.now = m.now.Add(time.Minute)
					m.sweep(t)
				}
				expect.That(t, len(m.later) == heads && m.expired() == heads/2,
					"six minutes after it is over: %d tasks handled, %d gates expired", len(m.later), m.expired())
			})
		})
	}
}

func TestOnlyServicesAreLeftAlone(t *testing.T) {
	down, own := refuses(t.Context()), errors.New("a task's own fault")
	for name, tt := range map[string]struct {
		answers []error
		want    bool
	}{
		"it failed twice":                     {[]error{down, down}, false},
		"it failed three times":               {[]error{down, down, down}, true},
		"it answered in between":              {[]error{down, down, nil, down, down}, false},
		"it refused in between":               {[]error{down, down, aggregate.ErrConflict, down, down}, false},
		"it is left alone though one answers": {[]error{down, down, down, nil}, true},
		"three tasks are at fault":            {[]error{own, own, own}, false},
	} {
		ctx := ofOneSweep(t.Context())
		for _, err := range tt.answers {
			_ = guarded(ctx, name, func(context.Context) error { return err })
		}
		expect.Is(t, errors.Is(guarded(ctx, name, func(context.Context) error { return nil }), errLeftAlone), tt.want, name)
	}
	ctx, cancel := context.WithCancel(ofOneSweep(t.Context()))
	cancel() // the task's time is over
	for range 9 {
		err := guarded(ctx, "x", func(ctx context.Context) error { return ctx.Err() })
		expect.That(t, !errors.Is(err, errLeftAlone), "a task whose time is over says something of a service")
	}
}

// down answers no request, and counts them.
type down struct{ asked int }

func (d *down) Do(*http.Request) (*http.Response, error) {
	d.asked++
	return nil, errors.New("no route to host")
}

// Clients stop calling what fails, and the table is read though it takes no writes.
func TestClientsAreWatched(t *testing.T) {
	var http down
	cfg := watched(aws.Config{Region: "x", HTTPClient: &http, Credentials: aws.AnonymousCredentials{},
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }})
	ctx, table := ofOneSweep(t.Context()), dynamodb.NewFromConfig(cfg)
	key := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "x"}}
	for n := 1; n <= 9; n++ {
		_, err := table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("t"), Key: key})
		expect.That(t, unavailable(err) && errors.Is(err, errLeftAlone) == (n > mostFailures), "%d: %v", n, err)
	}
	_, err := table.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("t"), Key: key})
	expect.That(t, err != nil && !errors.Is(err, errLeftAlone), "%v", err)
	expect.Is(t, http.asked, mostFailures+1)
}
