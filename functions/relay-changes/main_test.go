package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestRelay(t *testing.T) {
	ringitest.Each(t, map[string]func(*testing.T, *ringitest.World){
		"a new task gets its run and its card":                               testNewTask,
		"a batch delivered again does nothing twice":                         testTwice,
		"records of several tasks go back from the first that was not drawn": testGivesBack,
		"runs go on while the card queue is down":                            testRunsGoOn,
		"what fails for a moment is done":                                    testTriesAgain,
		"what its time does not suffice for goes back":                       testTimeUp,
		"a task that can't be handled holds up no other":                     testPoisonous,
		"what is shown already is not drawn":                                 testShown,
		"progress is drawn once in three seconds, and all else at once":      testProgress,
		"what a pending request for cards will show is not even loaded":      testAlike,
		"an acceptance is drawn only if its card is not posted":              testAccepted,
	})
}

func relaying(w *ringitest.World, s Store) *Handler {
	return &Handler{Kinds: aggregate.Kinds{task.Kind}, Store: s, Effects: w.Effects()}
}

func handle(t *testing.T, w *ringitest.World, records ...events.DynamoDBEventRecord) []events.DynamoDBBatchItemFailure {
	t.Helper()
	h := relaying(w, w.StoreOverTransport().KindStore.Store)
	return expect.Value(h.Handle(t.Context(), events.DynamoDBEvent{Records: records}))(t).BatchItemFailures
}

// moved returns the n-th record, which changes a task's head; created one of a new task, and committed that of its
// first commit.
func moved(n int, ref aggregate.Ref, before, now image) events.DynamoDBEventRecord {
	r := record(fmt.Sprint(n), ref.ID, before, now)
	r.Change.Keys["PK"] = events.NewStringAttribute("TASK#" + ref.Tenant + "#" + ref.ID)
	return r
}

func created(n int, w *ringitest.World) events.DynamoDBEventRecord {
	return moved(n, w.Ref, nil, head("1", "1", ""))
}

func committed(n int, w *ringitest.World) events.DynamoDBEventRecord {
	return moved(n, w.Ref, head("1", "1", ""), head("2", "1", ""))
}

func testNewTask(t *testing.T, w *ringitest.World) {
	back := handle(t, w, created(1, w))
	expect.That(t, back == nil, "gave back %v", back)
	w.Becomes(1, sfntypes.ExecutionStatusRunning)
	expect.Same(t, 1, w.Drawn())
}

func testTwice(t *testing.T, w *ringitest.World) {
	batch := []events.DynamoDBEventRecord{
		created(1, w), committed(2, w),
	}
	for range 3 {
		handle(t, w, batch...)
	}
	expect.Same(t, 1, w.Drawn())
	expect.Same(t, 1, w.Load().Head.Run)
}

// The second task's first record comes before the first task's last one. Records are returned from there, so that none
// of the second task is lost.
func testGivesBack(t *testing.T, w *ringitest.World) {
	other, third := w.Another(), w.Another()
	w.Transport.Before("SendMessage", func() { w.Transport.DropCalls("SendMessage", 99) }) // the first goes through
	back := handle(t, w,
		created(1, w), created(2, other),
		created(3, third),
		committed(4, w), committed(5, other),
	)
	expect.Must(t, len(back) == 1 && back[0].ItemIdentifier == "s2", "gave back %v, want from s2", back)
	w.Transport.ClearFaults()
	handle(t, w, created(2, other), created(3, third),
		committed(4, w), committed(5, other))
	expect.Is(t, w.Drawn(), 3, "messages")
}

func testRunsGoOn(t *testing.T, w *ringitest.World) {
	other := w.Another()
	w.Transport.DropCalls("SendMessage", 99)
	back := handle(t, w, created(1, w), created(2, other))
	expect.That(t, len(back) == 1 && back[0].ItemIdentifier == "s1", "gave back %v, want all", back)
	w.Becomes(1, sfntypes.ExecutionStatusRunning)
	other.Becomes(1, sfntypes.ExecutionStatusRunning)
	n := w.Transport.Count("SendMessage")
	expect.That(t, n <= 3, "the queue was asked %d times though it is down", n)
}

// testTriesAgain: a service is away as often as a client tries.
func testTriesAgain(t *testing.T, w *ringitest.World) {
	for n, call := range []string{"StartExecution", "Query"} {
		x := w.Another()
		x.Transport.DropCalls(call, 3)
		back := handle(t, x, created(n+1, x))
		expect.That(t, back == nil, "gave back %v", back)
		x.Becomes(1, sfntypes.ExecutionStatusRunning)
		expect.Same(t, 1, x.Drawn())
	}
}

// A slow first task uses all of the time: it is left to the sweeper, and the other tasks' records are returned.
func testTimeUp(t *testing.T, w *ringitest.World) {
	other := w.Another()
	ctx, cancel := context.WithTimeout(t.Context(), margin+100*time.Millisecond)
	defer cancel()
	hangs := slow{w.StoreOverTransport().KindStore.Store, w.Ref}
	batch := []events.DynamoDBEventRecord{created(1, w),
		created(2, other)}
	out, err := relaying(w, hangs).Handle(ctx,
		events.DynamoDBEvent{Records: batch})
	expect.Must(t, err == nil && len(out.BatchItemFailures) == 1 && out.BatchItemFailures[0].ItemIdentifier == "s2",
		"gave back %v, %v; want from s2", out.BatchItemFailures, err)
	expect.That(t, ctx.Err() == nil, "the invocation would have timed out")
	handle(t, w, batch[1])
	other.Becomes(1, sfntypes.ExecutionStatusRunning)
}

// slow answers for one task only after the time is over.
type slow struct {
	Store
	of aggregate.Ref
}

func (s slow) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	if ref == s.of {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Load(ctx, ref)
}

func testPoisonous(t *testing.T, w *ringitest.World) {
	nobody := task.RefOf(w.Ref.Tenant, aggregate.NewID())
	back := handle(t, w, moved(1, nobody, nil, head("1", "1", "")), created(2, w))
	expect.That(t, back == nil, "gave back %v", back)
	w.Becomes(1, sfntypes.ExecutionStatusRunning)

	panics := relaying(w, w.StoreOverTransport().KindStore.Store)
	panics.Effects.Runs = nil
	out, err := panics.Handle(t.Context(),
		events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{moved(3, w.Ref, head("1", "1", ""), head("2", "2", ""))}})
	expect.That(t, err == nil && out.BatchItemFailures == nil, "a panic gave back %v, %v", out.BatchItemFailures, err)
}

func testShown(t *testing.T, w *ringitest.World) {
	expect.NoError(t, w.Store.Shown(t.Context(), w.Ref, aggregate.Head{Rev: 1}))
	handle(t, w, created(1, w))
	expect.Is(t, w.Drawn(), 0, "messages for what is shown")
}

// Steps' claims and results come faster than people read.
func testProgress(t *testing.T, w *ringitest.World) {
	h := relaying(w, w.Store.KindStore.Store)
	now := time.Now().Truncate(effect.ProgressEvery).Add(effect.ProgressEvery)
	h.Effects.Now = func() time.Time { return now }
	messages := func(want int, after string) {
		t.Helper()
		rev := w.Load().Head.Rev
		record := moved(rev, w.Ref, head(fmt.Sprint(rev-1), "1", ""), head(fmt.Sprint(rev), "1", ""))
		expect.Value(h.Handle(t.Context(), events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{record}}))(t)
		expect.Is(t, w.Drawn(), want, "messages after", after)
	}
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "list_employees", aggregate.Read, "{}"),
		ringitest.Step(2, "send_slack_dm", aggregate.Write, "{}"))
	messages(1, "the stamp")
	w.Begin()
	messages(1, "the beginning, for the end of the interval")
	a := w.Claim("i")
	messages(0, "a claim")
	w.Decide(func(*task.Aggregate) (aggregate.Change, error) {
		return a.FinishStep(a.Steps[0].Key(), "i", task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{}},
			w.Now())
	})
	messages(0, "a result")
	now = now.Add(effect.ProgressEvery)
	w.Claim("j")
	messages(1, "a claim in the next interval")
	w.Cancel()
	messages(1, "a cancel")
}

// counted counts loads.
type counted struct {
	Store
	loads int
}

func (c *counted) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	c.loads++
	return c.Store.Load(ctx, ref)
}

func testAlike(t *testing.T, w *ringitest.World) {
	store := &counted{Store: w.Store.KindStore.Store}
	h := relaying(w, store)
	now := time.Now().Truncate(effect.ProgressEvery).Add(effect.ProgressEvery)
	h.Effects.Now = func() time.Time { return now }
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "list_employees", aggregate.Read, "{}"))
	w.Begin()
	rev := w.Load().Head.Rev
	loaded := func(want int, before, now image) {
		t.Helper()
		records := []events.DynamoDBEventRecord{moved(1, w.Ref, before, now)}
		expect.Value(h.Handle(t.Context(), events.DynamoDBEvent{Records: records}))(t)
		expect.Same(t, want, store.loads)
	}
	was, is, next, last := fmt.Sprint(rev-2), fmt.Sprint(rev-1), fmt.Sprint(rev), fmt.Sprint(rev+1)
	loaded(1, running(was), running(is)) // nothing is requested yet
	loaded(2, running(is), running(next))
	h.asked.Keep(w.Ref, requested{now.Add(time.Second), rev - 1}, now, time.Minute)
	loaded(2, running(next), running(last))
	loaded(3, running(next), head(last, "1", "3"))
	now = now.Add(time.Second)
	loaded(4, running(next), running(last))
}

func testAccepted(t *testing.T, w *ringitest.World) {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(1, w.By, tenancy.DefaultSettings(), w.Now())
	})
	accepted := committed(2, w)
	handle(t, w, accepted)
	expect.Is(t, w.Drawn(), 1, "messages while the card is not posted")
	c, now := w.Load().Cards[0], w.Now()
	expect.Value(w.Store.ClaimCard(t.Context(), w.Ref, c.Key(), "x", now, now))(t)
	first := aggregate.Head{Rev: 1}
	expect.NoError(t, w.Store.PostedCard(t.Context(), w.Ref, c.Key(), "x", "1.1", "C", "hash", &first))
	accepted.EventID = "again"
	handle(t, w, accepted)
	expect.Is(t, w.Drawn(), 0, "messages once it is")
}

type image = map[string]events.DynamoDBAttributeValue

func head(rev, run, shown string) image {
	m := image{"type": events.NewStringAttribute("head"), "rev": events.NewNumberAttribute(rev),
		"run": events.NewNumberAttribute(run)}
	if shown != "" {
		m["shown_rev"] = events.NewNumberAttribute(shown)
	}
	return m
}

// running is the head of an execution that runs.
func running(rev string) image {
	m := head(rev, "1", "3")
	m["status"] = events.NewStringAttribute("running")
	return m
}

func redrawn(times string) image {
	m := head("3", "1", "")
	m["redraws"] = events.NewNumberAttribute(times)
	return m
}

func record(id, taskID string, before, now image) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventID: id, Change: events.DynamoDBStreamRecord{
		Keys:     image{"PK": events.NewStringAttribute("TASK#T#" + taskID), "SK": events.NewStringAttribute("HEAD")},
		OldImage: before, NewImage: now, SequenceNumber: "s" + id,
	}}
}

// of is a record of another aggregate than a task.
func of(id, key, sk string, before, now image) events.DynamoDBEventRecord {
	r := record(id, "", before, now)
	r.Change.Keys["PK"], r.Change.Keys["SK"] = events.NewStringAttribute(key), events.NewStringAttribute(sk)
	return r
}

// key is a key of an outside agent.
func key(rev string) image {
	return image{"tenant_id": events.NewStringAttribute("T"), "rev": events.NewNumberAttribute(rev)}
}

func TestMoves(t *testing.T) {
	ref := func(id string) aggregate.Ref { return task.RefOf("T", id) }
	first := func(m move) []move {
		m.ref, m.event, m.first = ref("A"), "1", "s1"
		return []move{m}
	}
	one := func(before, now image) []events.DynamoDBEventRecord {
		return []events.DynamoDBEventRecord{record("1", "A", before, now)}
	}
	for name, tt := range map[string]struct {
		records []events.DynamoDBEventRecord
		want    []move
	}{
		"a new task starts a run and shows its card": {one(nil, head("1", "1", "")),
			first(move{run: true, cards: true})},
		"a commit redraws, but starts nothing": {one(head("3", "1", "3"), head("4", "1", "3")),
			first(move{cards: true})},
		"a new run is started": {one(head("3", "1", "3"), head("4", "2", "3")),
			first(move{run: true, cards: true})},
		"what was shown, and when it is due, moves nothing": {one(head("3", "1", "2"), head("3", "1", "3")), nil},
		"a card's first showing moves nothing":              {one(head("3", "1", ""), head("3", "1", "3")), nil},
		"a forced redraw": {one(head("3", "1", "3"), head("3", "1", "")),
			first(move{cards: true, again: true})},
		"a redraw that is asked for while the one before is being drawn": {one(redrawn("1"), redrawn("2")),
			first(move{cards: true, again: true})},
		"a running execution goes on": {one(running("3"), running("4")),
			first(move{cards: true, alike: true})},
		"a stamp before a step is more than going on": {one(head("3", "1", "3"), running("4")),
			first(move{cards: true})},
		"one task is looked at once, in the order of first records": {[]events.DynamoDBEventRecord{
			record("1", "A", head("1", "1", ""), head("2", "1", "")), record("2", "B", nil, head("1", "1", "")),
			record("3", "A", head("2", "1", ""), head("3", "2", ""))},
			[]move{{ref: ref("A"), run: true, cards: true, event: "3", first: "s1"},
				{ref: ref("B"), run: true, cards: true, event: "2", first: "s2"}}},
		"a saved or revoked key has its calls followed, and one that was used doesn't": {[]events.DynamoDBEventRecord{
			of("1", "KEY#k1", "KEY", key("1"), key("2")), of("2", "KEY#k2", "KEY", key("1"), key("1"))},
			[]move{{ref: aggregate.Ref{Tenant: "T", Kind: keyKind, ID: "k1"}, event: "1", first: "s1"}}},
		"a row of another kind is no task, and nothing follows from a kind that is still": {[]events.DynamoDBEventRecord{
			of("1", "TENANT#T", "HEAD", nil, head("1", "1", "")), of("2", "TEAM#T#a", "HEAD", nil, head("1", "1", ""))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, tt.want, moves(aggregate.Kinds{task.Kind, contest.TeamKind}, tt.records), cmp.AllowUnexported(move{}))
		})
	}
}
