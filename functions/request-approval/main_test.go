package main

import (
	"testing"
	"time"

	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

func TestRequestApproval(t *testing.T) {
	ringitest.Each(t, map[string]func(*testing.T, *ringitest.World){
		"a run waits with its token beside the gate":                           testWaits,
		"a decision that came first wakes the run":                             testDecidedBefore,
		"a decision between the look and the put wakes the run":                testDecidedBetween,
		"nothing but the state's next try sees a decision after a crash":       testDiedAfterThePut,
		"a gate that asks nobody is stamped in the system's name":              testAsksNobody,
		"a task that was cancelled while the system stamps wakes the run":      testCancelledBetween,
		"a run that is not the head's is sent on":                              testSuperseded,
		"a run whose successor waits already is sent on":                       testStale,
		"the state's next try has the newest token":                            testRetried,
		"a kept token whose answer was lost is kept":                           testLostAnswer,
		"a token that can't be answered is an error, and the next try answers": testWakeFails,
		"what the state machine forgot to send is refused":                     testMissing,
	})
}

func handler(w *ringitest.World) *Handler {
	return &Handler{Store: w.StoreOverTransport(), Runs: w.Runs(), Now: w.Now}
}

// input returns the Await state's input for the waiting gate.
func input(w *ringitest.World, token string) pipeline.Input {
	in := w.In()
	in.TaskToken, in.Entered, in.Gate = token, w.Now(), task.PromptKey(1)
	return in
}

// asks brings the task to its first gate, which asks people or nobody, and starts its run.
func asks(w *ringitest.World, people bool) pipeline.Input {
	s := tenancy.DefaultSettings()
	s.PromptApprovalRequired = people
	w.Prompted(s)
	return input(w, w.Open())
}

func handle(t *testing.T, w *ringitest.World, in pipeline.Input) aggregate.Next {
	t.Helper()
	return expect.Value(handler(w).Handle(t.Context(), in))(t)
}

func noWait(t *testing.T, w *ringitest.World) {
	t.Helper()
	expect.Same(t, 0, len(w.Load().Waits))
}

func testWaits(t *testing.T, w *ringitest.World) {
	in := asks(w, true)
	next := handle(t, w, in)
	expect.That(t, next.State == task.StateAwaitPromptApproval && next.Gate == in.Gate, "%+v", next)
	got := w.Load().Waits
	expect.That(t, len(got) == 1 && got[0].Entered.Equal(in.Entered) && got[0].Token == in.TaskToken && got[0].Run == 1,
		"%+v, want %+v", got, in)
	expect.Same(t, sfntypes.ExecutionStatusRunning, w.Status(1))
}

func testDecidedBefore(t *testing.T, w *ringitest.World) {
	in := asks(w, true)
	w.Approve()
	wakes(t, w, in)
}

func testDecidedBetween(t *testing.T, w *ringitest.World) {
	in := asks(w, true)
	w.Transport.Before("PutItem", func() { w.Approve() }) // the relay has run before the token arrives
	wakes(t, w, in)
}

// wakes checks that the run goes on, twice alike.
func wakes(t *testing.T, w *ringitest.World, in pipeline.Input) {
	t.Helper()
	for range 2 {
		expect.Same(t, task.StatePlanProcess, handle(t, w, in).State)
	}
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	noWait(t, w)
}

// The relay saw the decision before there was a token, and the invocation died before its second look.
func testDiedAfterThePut(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	in := input(w, "token")
	wait := aggregate.Wait{Gate: in.Gate, Token: in.TaskToken, Run: in.Run, Entered: in.Entered, Retry: in.Retry}
	w.Approve()
	expect.NoError(t, w.Store.PutWait(t.Context(), w.Ref, wait))
	expect.Is(t, len(w.Load().Effects(w.Now()).Wake), 1, "waits that the sweeper would wake")
	expect.Is(t, handle(t, w, in).State, task.StatePlanProcess)
	noWait(t, w)
}

func testAsksNobody(t *testing.T, w *ringitest.World) {
	wakes(t, w, asks(w, false))
	p := w.Load().Prompt()
	expect.That(t, p.Status == aggregate.Approved && p.ApprovedBy == "" && p.ApprovedAt != nil, "%+v", p)
}

func testCancelledBetween(t *testing.T, w *ringitest.World) {
	in := asks(w, false)
	w.Transport.Before("TransactWriteItems", func() { w.Cancel() })
	next := handle(t, w, in)
	expect.That(t, next.State == task.StateFinish && next.Outcome == string(task.TaskCancelled), "%+v", next)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	expect.Same(t, aggregate.Cancelled, w.Load().Prompt().Status)
}

func testSuperseded(t *testing.T, w *ringitest.World) {
	in := asks(w, false)
	w.Restart()
	handle(t, w, in)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	p := w.Load().Prompt()
	expect.That(t, p.Status == aggregate.PendingApproval, "an old run stamped the prompt: %s", p.Status)
	noWait(t, w)
}

// The old run checked while it was still the head's, but its successor saved its token first. Only this invocation
// knows the old run's token, which would keep that run open for a week.
func testStale(t *testing.T, w *ringitest.World) {
	in := asks(w, true)
	w.Transport.Before("PutItem", func() {
		w.Approve()
		w.Restart()
		wait := aggregate.Wait{Gate: in.Gate, Token: "the successor's", Run: 2, Entered: w.Now()}
		expect.NoError(t, w.Store.PutWait(t.Context(), w.Ref, wait))
	})
	handle(t, w, in)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	waits := w.Load().Waits
	expect.That(t, len(waits) == 1 && waits[0].Token == "the successor's", "%+v, want the successor's", waits)
}

func testRetried(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	first := input(w, "the first try's")
	second := input(w, w.Open())
	second.Retry = 1
	handle(t, w, second)
	handle(t, w, first) // this delivery was slower, and its state has already given up
	waits := w.Load().Waits
	expect.That(t, len(waits) == 1 && waits[0].Token == second.TaskToken, "%+v, want the second try's", waits)
	expect.Same(t, sfntypes.ExecutionStatusRunning, w.Status(1))
}

func testLostAnswer(t *testing.T, w *ringitest.World) {
	in := asks(w, true)
	w.Transport.DropAnswers("PutItem", 1)
	handle(t, w, in)
	waits := w.Load().Waits
	expect.That(t, len(waits) == 1 && waits[0].Token == in.TaskToken, "%+v", waits)
	w.Transport.DropAnswers("PutItem", 99)
	_, err := handler(w).Handle(t.Context(), in)
	expect.That(t, pipeline.Name(err) == pipeline.Unavailable, "%v, want one that is tried again", err)
}

func testWakeFails(t *testing.T, w *ringitest.World) {
	in := asks(w, true)
	w.Approve()
	w.Transport.DropCalls("SendTaskSuccess", 99)
	_, err := handler(w).Handle(t.Context(), in)
	expect.Must(t, pipeline.Name(err) == pipeline.Unavailable, "%v, want one that is tried again", err)
	w.Transport.ClearFaults()
	handle(t, w, in)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
}

func testMissing(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	for name, spoil := range map[string]func(*pipeline.Input){
		"gate": func(in *pipeline.Input) { in.Gate = "" }, "token": func(in *pipeline.Input) { in.TaskToken = "" },
		"entered": func(in *pipeline.Input) { in.Entered = time.Time{} },
	} {
		in := input(w, "token")
		spoil(&in)
		expect.Fails(t, expect.Err(handler(w).Handle(t.Context(), in)), explain.ErrBadInput, "%s", name)
	}
	noWait(t, w)
}
