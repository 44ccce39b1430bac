package stories

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const team = "T0RACES"

var (
	dawn   = time.Date(2026, 4, 18, 5, 30, 0, 0, time.UTC)
	policy = aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true}
	sent   atomic.Int64 // messages so far, so that each makes its own task
)

func person(id string) aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: team, Member: true}
}

// contested is one task that is moved from state to state.
type contested struct {
	store    *store.TaskStore
	ref      aggregate.Ref
	settings tenancy.Settings
	now      time.Time
}

func begin(t *testing.T, s *store.TaskStore) *contested {
	ts := fmt.Sprintf("1776490200.%06d", sent.Add(1))
	c, ref, err := task.Receive(aggregate.TenantID(team), task.Request{TeamID: team, Text: "今月の勤怠をまとめて", User: "U_SATO",
		Channel: "C_HR", ChannelType: "channel", MessageTS: ts, ThreadTS: ts, Source: task.SourceChannel,
		EventID: "Ev1"}, dawn)
	if err == nil {
		err = s.Create(context.Background(), c)
	}
	expect.NoError(t, err)
	return &contested{s, ref, tenancy.DefaultSettings(), dawn.Add(time.Second)}
}

func (s *contested) load(t *testing.T) *task.Aggregate {
	return expect.Value(s.store.Load(context.Background(), s.ref))(t)
}

// try decides and commits; it reports whether anything changed.
func (s *contested) try(d task.Decision) (changed bool, err error) {
	_, err = s.store.Decide(context.Background(), s.ref, func(a *task.Aggregate) (aggregate.Change, error) {
		c, err := d(a)
		changed = err == nil && !c.Empty()
		return c, err
	})
	return changed && err == nil, err
}

// do calls try for decisions that must change something.
func (s *contested) do(t *testing.T, decisions ...task.Decision) {
	for i, d := range decisions {
		changed, err := s.try(d)
		expect.Must(t, err == nil && changed, "decision %d: changed %v, %v", i+1, changed, err)
		s.now = s.now.Add(time.Second)
	}
}

func (s *contested) extract(a *task.Aggregate) (aggregate.Change, error) {
	return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard}, s.now)
}

func (s *contested) beginPrompt(a *task.Aggregate) (aggregate.Change, error) {
	return a.BeginPrompt(a.Head.Run, s.now)
}

func (s *contested) finishPrompt(a *task.Aggregate) (aggregate.Change, error) {
	return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, s.settings, s.now)
}

func (s *contested) beginProcess(a *task.Aggregate) (aggregate.Change, error) {
	return a.BeginProcess(a.Head.Run, s.now)
}

func (s *contested) finishProcess(a *task.Aggregate) (aggregate.Change, error) {
	steps := make([]task.Step, 2)
	for i := range steps {
		steps[i] = task.Step{StepID: fmt.Sprint("step-", i+1), Order: i + 1, Tool: "list_employees", ToolInput: "{}",
			Access: aggregate.Read, ToolVersion: "v1", Description: "一覧"}
	}
	return a.FinishProcess(a.Head.Run, steps, "", s.settings, s.now)
}

// start is what a run decides when it begins to execute: it makes the execution.
func (s *contested) start(a *task.Aggregate) (aggregate.Change, error) {
	if a.Execution() == nil {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.StartExecution(a.Head.Run, task.Series{}, s.now)
}

// claim is what a run decides after starting its execution.
func (s *contested) claim(a *task.Aggregate) (aggregate.Change, error) {
	e := a.Execution()
	if e == nil || e.Status == task.ExecutionPending || a.NextStep(e) == nil {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	step := a.NextStep(e)
	return a.ClaimStep(a.Head.Run, task.Call{Order: step.Order, Arguments: aggregate.Blob{JSON: step.ToolInput},
		ArgumentsHash: aggregate.HashOf(string(step.ToolInput)),
		Claim:         aggregate.Claim{Invocation: "one", LeaseUntil: s.now.Add(75 * time.Second)},
		Tool:          task.ToolRef{Name: step.Tool}}, s.now)
}

// finish ends the call in flight.
func (s *contested) finish(status task.StepStatus) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		for _, x := range a.Steps {
			if x.Status == task.StepRunning {
				o := task.Outcome{Status: status, Result: &aggregate.Blob{JSON: "{}", Bytes: 2}}
				if status == task.StepFailed {
					o = task.Outcome{Status: status, Reason: task.ReasonToolFailed}
				}
				return a.FinishStep(x.Key(), x.Claim.Invocation, o, s.now)
			}
		}
		return aggregate.Change{}, aggregate.ErrMoved
	}
}

func (s *contested) fail(a *task.Aggregate) (aggregate.Change, error) {
	return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", s.now)
}

// Decisions of people on the newest version.

func (s *contested) approvePrompt(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, idOf(a.Prompt()), by, policy, s.now)
	}
}

func (s *contested) rejectPrompt(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("もっと詳しく")(a, idOf(a.Prompt()), by, policy, s.now)
	}
}

func (s *contested) approveProcess(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, idOf(a.Process()), by, policy, s.now)
	}
}

func (s *contested) rejectProcess(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("確認を増やして")(a, idOf(a.Process()), by, policy, s.now)
	}
}

func (s *contested) cancel(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) { return a.End(by, policy, s.now) }
}

func (s *contested) cancelExecution(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CancelExecution(idOf(a.Execution()), by, policy, s.now)
	}
}

func (s *contested) retry(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RetryExecution(idOf(a.Execution()), by, policy, s.now)
	}
}

func (s *contested) retryGeneration(by aggregate.Actor) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) { return a.RetryGeneration(by, policy, s.now) }
}

// idOf returns a row's id, or an id that no row has if there is no row.
func idOf(r aggregate.Row) string {
	switch r := r.(type) {
	case *task.Prompt:
		if r != nil {
			return r.ID
		}
	case *task.Process:
		if r != nil {
			return r.ID
		}
	case *task.Execution:
		if r != nil {
			return r.ID
		}
	}
	return "01JS0000000000000000000000"
}

// over returns a client of the same server that uses a transport.
func over(server *storetest.Server, through http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(server.DB.Options(), func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: through} })
}

// expected reports whether a losing client may get this error.
func expected(err error) bool {
	for _, known := range []error{aggregate.ErrNotFound, aggregate.ErrSuperseded, aggregate.ErrMoved,
		aggregate.ErrInFlight, task.ErrNothingToRetry, task.ErrMaxRetries, aggregate.ErrNotDue} {
		if errors.Is(err, known) {
			return true
		}
	}
	var decided aggregate.ErrDecided
	var old aggregate.ErrNotLatest
	var stop task.StopError
	return errors.As(err, &decided) || errors.As(err, &old) || errors.As(err, &stop)
}
