package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

const clients = 32

// contests are the states in which rounds begin, and the decisions besides cancelling that clients try there.
var contests = []struct {
	name  string
	reach []decision
	moves func(by aggregate.Actor) []decision
}{
	{"the policy waits", toPolicy, func(by aggregate.Actor) []decision {
		return []decision{onPrompt(circulation.Stamp, by), onPrompt(circulation.SendBack, by), beginProcess, beginPrompt}
	}},
	{"the steps wait", toSteps, func(by aggregate.Actor) []decision {
		return []decision{onProcess(circulation.Stamp, by), onProcess(circulation.SendBack, by), begun, stopBy(by)}
	}},
	{"a generation is parked", []decision{extract, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", at())
	}}, func(by aggregate.Actor) []decision {
		again := func(a *task.Aggregate) (aggregate.Change, error) { return a.RetryGeneration(by, policy(), at()) }
		return []decision{again, finishPrompt, again}
	}},
	{"a call is out", toCall, func(by aggregate.Actor) []decision {
		return []decision{ended(task.StepCompleted), ended(task.StepFailed), claimed, fail, stopBy(by), retryBy(by)}
	}},
	{"the execution failed", slices.Concat(toCall, []decision{ended(task.StepFailed), fail}),
		func(by aggregate.Actor) []decision {
			return []decision{retryBy(by), retryBy(by), begun, claimed, stopBy(by)}
		}},
}

var (
	toPolicy = []decision{extract, finishPrompt}
	toSteps  = slices.Concat(toPolicy, []decision{approvePrompt, finishProcess(2)})
	toCall   = slices.Concat(toSteps, []decision{approveProcess, start, claimed})
)

func onPrompt(kind circulation.Kind, by aggregate.Actor) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return does(a, kind, a.Prompt().ID, "なぜ", by, at())
	}
}

func onProcess(kind circulation.Kind, by aggregate.Actor) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return does(a, kind, a.Process().ID, "なぜ", by, at())
	}
}

// executing makes a decision about the newest execution, if there is one.
func executing(d func(a *task.Aggregate, e *task.Execution) (aggregate.Change, error)) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		if e := a.Execution(); e != nil {
			return d(a, e)
		}
		return aggregate.Change{}, aggregate.ErrMoved
	}
}

var begun = executing(func(a *task.Aggregate, _ *task.Execution) (aggregate.Change, error) { return start(a) })

// claimed is what a run decides after starting its execution.
var claimed = executing(func(a *task.Aggregate, e *task.Execution) (aggregate.Change, error) {
	if step := a.NextStep(e); step != nil && e.Status != task.ExecutionPending {
		return claim(step.Order)(a)
	}
	return aggregate.Change{}, aggregate.ErrMoved
})

// ended ends the call in flight.
func ended(status task.StepStatus) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		for _, x := range a.Steps {
			if x.Status == task.StepRunning {
				o := task.Outcome{Status: status, Result: &aggregate.Blob{JSON: "{}", Bytes: 2}}
				if status == task.StepFailed {
					o = task.Outcome{Status: status, Reason: task.ReasonToolFailed}
				}
				return a.FinishStep(x.Key(), x.Claim.Invocation, o, at())
			}
		}
		return aggregate.Change{}, aggregate.ErrMoved
	}
}

func fail(a *task.Aggregate) (aggregate.Change, error) {
	return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", at())
}

func stopBy(by aggregate.Actor) decision {
	return executing(func(a *task.Aggregate, e *task.Execution) (aggregate.Change, error) {
		return a.CancelExecution(e.ID, by, policy(), at())
	})
}

func retryBy(by aggregate.Actor) decision {
	return executing(func(a *task.Aggregate, e *task.Execution) (aggregate.Change, error) {
		return a.RetryExecution(e.ID, by, policy(), at())
	})
}

// testRounds lets clients decide, cancel and retry on one task, round after round.
func testRounds(t *testing.T, st *taskStore) {
	rounds := len(contests)
	if expect.Long() {
		rounds = 200
	}
	for i := range rounds {
		r := race(t, st, i)
		expect.Must(t, len(r.wrong) == 0, "seed %d, round %d, %s:\n%s", expect.Seed(), i, r.stage,
			strings.Join(r.wrong, "\n"))
		t.Logf("%s: %d changes", r.stage, r.changes)
	}
}

// testLostRaceIsSeen is the control: with a store whose conditions are removed, the same rounds must find violations.
func testLostRaceIsSeen(t *testing.T, st *taskStore) {
	always := []byte(`"ConditionExpression":"attribute_exists(PK) OR attribute_not_exists(PK) OR `)
	blind := st.over(changing(func(body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`"ConditionExpression":"`), always)
	}, counting()))
	for i := range 40 {
		if r := race(t, blind, i); len(r.wrong) > 0 {
			t.Logf("round %d, %s: %s", i, r.stage, r.wrong[0])
			return
		}
	}
	t.Error("40 rounds without conditions, and nothing was seen")
}

// result is the result of one round.
type result struct {
	stage   string
	changes int
	wrong   []string
}

// move is a change whose client was told that it is committed.
type move struct {
	by     string
	change aggregate.Change
}

// race lets all clients decide on one task and checks the rows.
func race(t *testing.T, st *taskStore, round int) result {
	t.Helper()
	stage := contests[round%len(contests)]
	draw := rand.New(rand.NewPCG(expect.Seed(), uint64(round)))
	ref := created(t, st, int(raced.Add(1)))
	decided(t, st, ref, stage.reach...)
	before := loaded(t, st, ref)
	audited := len(audit(t, st, ref))

	var mu sync.Mutex
	var won []move
	wrong := []string{}
	var all sync.WaitGroup
	gun := make(chan struct{})
	for i := range clients {
		by := approver()
		by.ID = fmt.Sprintf("U_%02d", i)
		moves := append(stage.moves(by), func(a *task.Aggregate) (aggregate.Change, error) {
			return a.End(by, policy(), at())
		})
		d := moves[draw.IntN(len(moves))]
		if draw.IntN(4) > 0 { // cancels are rare, or nothing else would ever win
			d = moves[draw.IntN(len(moves)-1)]
		}
		all.Go(func() {
			<-gun
			var last aggregate.Change
			_, err := st.Decide(context.Background(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
				c, err := d(a)
				last = c
				return c, err
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && !last.Empty():
				won = append(won, move{by.ID, last})
			case err != nil && !expected(err):
				wrong = append(wrong, fmt.Sprintf("%s got %v", by.ID, err))
			}
		})
	}
	close(gun)
	all.Wait()
	after := loaded(t, st, ref)
	wrong = append(wrong, violations(before, after, won)...)
	if diff := cmp.Diff(entries(won), audit(t, st, ref)[audited:], cmpopts.SortSlices(strings.Compare)); diff != "" {
		wrong = append(wrong, "audit log against the changes that were made:\n"+diff)
	}
	return result{stage.name, len(won), wrong}
}

// violations lists the design's invariants that the rows break.
func violations(before, after *task.Aggregate, won []move) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if want := before.Head.Rev + len(won); after.Head.Rev != want {
		complain("the head is at rev %d after %d changes of rev %d", after.Head.Rev, len(won), before.Head.Rev)
	}
	// Every row is as the last change wrote it, and each gate is decided once.
	writers := map[string][]string{}
	for _, m := range won {
		for _, r := range m.change.Rows {
			if verdict(r) != "" && verdict(before.Rows()[r.Key()]) == "" {
				writers[r.Key()] = append(writers[r.Key()], m.by)
			}
		}
	}
	for key, by := range writers {
		if len(by) > 1 {
			complain("%s was decided by %v", key, by)
		}
		if now := verdict(after.Rows()[key]); now == "" {
			complain("%s was decided by %v and is open again", key, by)
		}
	}
	for key, r := range after.Rows() {
		if r.Revision() > after.Head.Rev {
			complain("%s is of rev %d, the head of %d", key, r.Revision(), after.Head.Rev)
		}
	}
	if e := after.Head.Ended; e != nil && e.As == task.TaskCancelled {
		if _, open := after.OpenGate(); open || after.Task.Status != task.TaskCancelled {
			complain("cancelled, and the task is %s", after.Task.Status)
		}
		if x := after.Execution(); x != nil && (x.Status == task.ExecutionRunning || x.Status == task.ExecutionPending) {
			complain("cancelled, and the execution is %s", x.Status)
		}
	}
	for i, x := range after.Executions {
		if x.Attempt != i+1 || i < len(after.Executions)-1 && x.Status != task.ExecutionFailed {
			complain("attempt %d of %d is %s", x.Attempt, len(after.Executions), x.Status)
		}
	}
	return wrong
}

// verdict returns a gate's decision, or "".
func verdict(r aggregate.Row) string {
	status := aggregate.GateStatus("")
	switch r := r.(type) {
	case *task.Prompt:
		status = r.Status
	case *task.Process:
		status = r.Status
	}
	if status == aggregate.Generating || status == aggregate.PendingApproval {
		return ""
	}
	return string(status)
}

// entries returns the audit entries of the changes.
func entries(won []move) []string {
	out := []string{}
	for _, m := range won {
		for _, x := range m.change.Audit {
			out = append(out, string(x.Action)+" by "+x.ActorID)
		}
	}
	return out
}

// audit returns the task's audit log, oldest first.
func audit(t *testing.T, s *taskStore, ref aggregate.Ref) (out []string) {
	page := expect.Value(s.Audit(context.Background(), ref.Tenant, AuditFilter{Resource: ref.ID}, "", 100))(t)
	for _, x := range slices.Backward(page.Items) {
		out = append(out, string(x.Action)+" by "+x.ActorID)
	}
	return out
}

var raced atomic.Int64

// expected reports whether a losing client may get this error.
func expected(err error) bool {
	for _, known := range []error{aggregate.ErrNotFound, aggregate.ErrSuperseded, aggregate.ErrMoved,
		aggregate.ErrInFlight, task.ErrNothingToRetry, task.ErrMaxRetries, aggregate.ErrNotDue} {
		if errors.Is(err, known) {
			return true
		}
	}
	return errors.As(err, new(aggregate.ErrDecided)) || errors.As(err, new(aggregate.ErrNotLatest)) ||
		errors.As(err, new(task.StopError))
}
