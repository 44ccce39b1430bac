package main

import (
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// A failed turn is answered with a sentence.
func TestAConversationIsGivenUp(t *testing.T) {
	server := storetest.Start(t)
	_, table := server.Store(t)
	k := ringitest.Begin(t, store.NewConversations(server.DB, table), time.Now,
		ringitest.Heard(ringitest.Root, "U1", "hello"), conversation.Opening{AgentID: "codex", Locale: "en"})
	h := &Handler{Conversations: k.Rows, Now: time.Now}
	var next aggregate.Next
	out := expect.Metrics(t, func() { next = expect.Value(h.Handle(t.Context(), k.In()))(t) })
	expect.Has(t, out, `"RunFailed":1`)
	a := k.Load()
	expect.That(t, next.State == aggregate.StateFinish && a.Head.Resting &&
		a.Conversation.Status == conversation.Failing && len(a.Inbox) == 0,
		"%+v, %+v, %d messages wait", next, a.Conversation, len(a.Inbox))
}

func TestATaskIsGivenUp(t *testing.T) {
	ringitest.Each(t, map[string]func(*testing.T, *ringitest.World){
		"a generation that failed is parked with its reason":  testParks,
		"an execution that failed fails its task":             testFails,
		"a gate that waits is left to people":                 testWaits,
		"a gate decided while the run died gets the next run": testDecided,
		"a call that is out is waited for":                    testInFlight,
		"what was done already is not done twice":             testTwice,
	})
}

func handle(w *ringitest.World, in pipeline.Input, caught string) (aggregate.Next, error) {
	in.Error = caught
	return (&Handler{Tasks: w.StoreOverTransport(), Now: w.Now}).Handle(w.T.Context(), in)
}

func done(t *testing.T, w *ringitest.World, caught string) aggregate.Next {
	t.Helper()
	return expect.Value(handle(w, w.In(), caught))(t)
}

func testParks(t *testing.T, w *ringitest.World) {
	expect.Same(t, task.StateFail, done(t, w, pipeline.ModelUnavailable).State)
	p := w.Load().Head.Parked
	expect.That(t, p != nil && p.Layer == task.L1 && p.Sentence == task.ReasonModelUnavailable, "%+v", p)
	other := w.Another()
	other.Extracted()
	done(t, other, "Lambda.Unknown")
	p = other.Load().Head.Parked
	expect.That(t, p != nil && p.Layer == task.L2 && p.Sentence == task.ReasonRunFailed, "%+v", p)
}

func executing(w *ringitest.World) {
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "list_employees", aggregate.Read, "{}"))
	w.Begin()
}

func testFails(t *testing.T, w *ringitest.World) {
	executing(w)
	expect.Same(t, task.StateFail, done(t, w, pipeline.ModelUnavailable).State)
	e := w.Load().Execution()
	expect.That(t, e.Status == task.ExecutionFailed && e.Error == task.ReasonRunFailed, "%s for %s", e.Status, e.Error)
}

func testWaits(t *testing.T, w *ringitest.World) {
	before := w.Prompted(tenancy.DefaultSettings()).Head.Rev
	next := done(t, w, pipeline.Unavailable)
	expect.That(t, next.State == task.StateFinish && next.Gate == task.PromptKey(1), "%+v", next)
	expect.Same(t, before, w.Load().Head.Rev)
}

func testDecided(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	in := w.In()
	w.Approve()
	expect.Fails(t, expect.Err(handle(w, in, pipeline.Unavailable)), aggregate.ErrSuperseded)
	h := w.Load().Head
	expect.That(t, h.Run == 2 && h.Parked == nil, "run %d, parked %+v", h.Run, h.Parked)
}

func testInFlight(t *testing.T, w *ringitest.World) {
	executing(w)
	w.Claim("somebody's")
	next := done(t, w, pipeline.Internal)
	expect.That(t, next.State == task.StatePause && next.WaitSeconds == 60, "%+v, want to wait for the lease's end", next)
	w.Later(61 * time.Second)
	expect.Same(t, task.StateFail, done(t, w, pipeline.Internal).State)
	a := w.Load()
	expect.That(t, a.Steps[0].Status == task.StepFailed && a.Execution().Status == task.ExecutionFailed,
		"step %s, execution %s", a.Steps[0].Status, a.Execution().Status)
}

func testTwice(t *testing.T, w *ringitest.World) {
	w.Transport.DropAnswers("TransactWriteItems", 3) // all that the client tries
	done(t, w, pipeline.Internal)
	expect.Same(t, task.StateFail, done(t, w, pipeline.Internal).State)
	h := w.Load().Head
	expect.That(t, h.Rev == 2, "%d commits, want one after the task's first", h.Rev-1)
}
