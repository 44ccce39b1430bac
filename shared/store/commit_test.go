package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testCommit(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"what it returns is what a load finds", testCommitReturnsWhatIsLoaded},
		{"bookkeeping beside a commit survives it", testBookkeepingSurvives},
		{"changes that are refused, and an empty one", testRefusedChanges},
		{"a claim relies on the tool's permission", testClaimReliesOnPermission},
		{"a gate relies on the settings it opens under", testGateReliesOnSettings},
		{"the head stays small at its fullest", testHeadStaysSmall},
		{"sixty steps carried into a retry fit one transaction", testCarriedSteps},
		{"more than a transaction takes is said clearly", testTooManyActions},
		{"audit entries keep their order within a commit", testAuditOrder},
	})
}

func testCommitReturnsWhatIsLoaded(t *testing.T, st *taskStore) {
	ref := running(t, st, 1, 2)
	after := decided(t, st, ref, claim(1), finishStep(1), claim(2), finishStep(2),
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.CompleteExecution(a.Head.Run, "完了しました", at())
		})
	loaded := loaded(t, st, ref)
	after.Head.DueAt = loaded.Head.DueAt // due_at is bookkeeping that the change does not write
	expect.Same(t, after, loaded)
	want := loaded.Head.ChangedAt.Add(time.Minute)
	expect.That(t, loaded.Head.DueAt.Equal(want), "due at %v, want a minute after the change, %v", loaded.Head.DueAt, want)
}

func testBookkeepingSurvives(t *testing.T, st *taskStore) {
	ref := created(t, st, 3)
	a := loaded(t, st, ref)
	expect.NoError(t, st.Shown(t.Context(), ref, aggregate.Head{Rev: 1}))
	expect.Value(st.Commit(t.Context(), a, expect.Value(extract(a))(t)))(t)
	h := headOf(t, st, ref)
	expect.That(t, h.ShownRev == 1 && h.Rev == 2, "shown_rev %d at rev %d, want 1 at 2", h.ShownRev, h.Rev)
}

// testRefusedChanges: a newer commit wins; neither a run that is not the head's nor a change of another task commits;
// and an empty change is no call.
func testRefusedChanges(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 4)
	a := loaded(t, st, ref)
	c := expect.Value(approvePrompt(a))(t)
	decided(t, st, ref, cancel)
	before := rows(t, st, "TASK#"+ref.Tenant+"#"+ref.ID)
	wantError(t, expect.Err(st.Commit(t.Context(), a, c)), aggregate.ErrConflict)
	expect.Same(t, before, rows(t, st, "TASK#"+ref.Tenant+"#"+ref.ID), items())

	a = loaded(t, st, created(t, st, 12))
	c = expect.Value(extract(a))(t)
	err := expect.Err(st.Commit(t.Context(), loaded(t, st, created(t, st, 6)), c))
	expect.That(t, err != nil && !errors.Is(err, aggregate.ErrConflict), "%v, want an error that is no conflict", err)
	a.Head.Run++ // nothing else differs
	c = expect.Value(extract(a))(t)
	wantError(t, expect.Err(st.Commit(t.Context(), a, c)), aggregate.ErrConflict)

	counted := counting()
	got, err := st.over(counted).Commit(t.Context(), a, aggregate.Change{})
	expect.That(t, err == nil && got == a && counted.met.Load() == 0, "%v, %v, %d calls", got, err, counted.met.Load())
}

func testClaimReliesOnPermission(t *testing.T, st *taskStore) {
	ref := running(t, st, 7, 1)
	a := loaded(t, st, ref)
	c := expect.Value(claim(1)(a))(t)
	p, _, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	expect.NoError(t, err)
	p.Allowed = false
	p = expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at()))(t)
	expect.Fails(t, expect.Err(st.Commit(t.Context(), a, c)), aggregate.ErrConflict, "a claim that saw no row")
	c.Owned = []aggregate.Owned{{Key: tenancy.ToolKey(p.ToolName), Rev: p.Rev}}
	_, err = st.Commit(t.Context(), a, c)
	expect.That(t, err == nil, "a claim that saw the row: %v", err)
}

func testGateReliesOnSettings(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	ref := created(t, st, 1)
	before := decided(t, st, ref, extract, beginPrompt)
	saved := tenancy.DefaultSettings()
	saved.PromptApprovalRequired = false
	saved = expect.Value(st.SaveSettings(t.Context(), tenant, saved, approver(), at()))(t)
	finish := func(under tenancy.Settings) error {
		_, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, under, at())
		})
		return err
	}
	err := finish(tenancy.DefaultSettings())
	expect.That(t, errors.Is(err, aggregate.ErrSettings) && !errors.Is(err, aggregate.ErrConflict),
		"under settings of before: %v, want ErrSettings at once", err)
	a, err := st.Load(t.Context(), ref)
	expect.That(t, err == nil && a.Head.Rev == before.Head.Rev, "it wrote rev %d, %v", a.Head.Rev, err)
	err = finish(saved)
	expect.That(t, err == nil, "under those that are: %v", err)
}

func testHeadStaysSmall(t *testing.T, st *taskStore) {
	ref := created(t, st, 8)
	until := at().Add(time.Hour)
	a := loaded(t, st, ref)
	c := expect.Value(extract(a))(t)
	h := c.Head.(*task.Head)
	h.Run, h.Restarts, h.PausedUntil, h.Entered = 1_000_000, 3, &until, &until
	h.Parked = &task.Parked{Layer: task.L4, Sentence: longest(task.Reasons), Detail: strings.Repeat("d", 180)}
	h.Ended = &task.Ended{As: task.TaskCancelled, By: "U" + strings.Repeat("0", 20), At: at(),
		Reason: longest(task.Reasons)}
	h.Ended.Detail = "1000000.000001/1000000.000001"
	expect.Value(st.Commit(t.Context(), a, c))(t)
	expect.NoError(t, st.Shown(t.Context(), ref, aggregate.Head{Rev: 1_000_000}))
	expect.NoError(t, st.SweepFailed(t.Context(), ref, 1_000_000, at(), at()))
	head := raw(t, st, "TASK#"+ref.Tenant+"#"+ref.ID, "HEAD")
	noted := " TASK=1000000 PROMPT#0050=1000000 PROCESS#0050=1000000 EXECUTION#0050#999=1000000 " +
		"GATE#0050#999#60=1000000" // in place of what the commit noted
	size := table.SizeOf(head) - len(table.TextOf(head, "newest")) + len(noted)
	expect.That(t, size <= 1024, "%d bytes, want at most 1024", size)
}

func testCarriedSteps(t *testing.T, st *taskStore) {
	const steps = 60
	ref := running(t, st, 9, steps)
	// All steps but the last are done and the attempt failed. This is written as one commit because 59 claims would
	// take too long.
	a := loaded(t, st, ref)
	e, failed := *a.Execution(), *a.Task
	e.Status, failed.Status = task.ExecutionFailed, task.TaskFailed
	h := a.Head
	c := aggregate.Change{Head: &h, Now: at().Add(time.Second), Rows: []aggregate.Row{&e, &failed}}
	h.Ended = &task.Ended{As: task.TaskFailed, At: c.Now, Reason: task.ReasonToolFailed}
	for i := 1; i < steps; i++ {
		c.Rows = append(c.Rows, &task.StepResult{
			TaskID: ref.ID, ProcessVersion: 1, Attempt: 1, Order: i, StepID: fmt.Sprintf("step-%d",
				i), Access: aggregate.Read, Call: 1,
			Status: task.StepCompleted, Result: &aggregate.Blob{JSON: aggregate.JSON(`"` + strings.Repeat("x", 4<<10) +
				`"`)}, StartedAt: c.Now, CompletedAt: &c.Now,
		})
	}
	expect.Value(st.Commit(t.Context(), a, c))(t)
	a = decided(t, st, ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RetryExecution(a.Execution().ID, approver(), policy(), at())
	})
	expect.Is(t, len(a.StepsOf(a.Execution())), steps-1, "steps carried over")
	is := loaded(t, st, ref)
	expect.Is(t, len(is.StepsOf(is.Execution())), steps-1, "steps carried over in the table")
}

func testTooManyActions(t *testing.T, st *taskStore) {
	a := loaded(t, st, created(t, st, 10))
	c := expect.Value(extract(a))(t)
	for v := 1; v <= 100; v++ {
		c.Rows = append(c.Rows, &task.Prompt{ID: aggregate.NewID(), Version: v})
	}
	_, err := st.Commit(t.Context(), a, c)
	want := fmt.Sprintf("%d actions in one change, a transaction takes at most 100", 1+len(c.Rows)+len(c.Audit))
	expect.That(t, err != nil && strings.Contains(err.Error(), want), "%v, want %q", err, want)
}

func testAuditOrder(t *testing.T, st *taskStore) {
	ref := running(t, st, 11, 1)
	falling := st.over(nil) // ids that are not ascending, as random ones may be
	n := 1_000_000
	falling.newID = func() string { n--; return fmt.Sprint(n) }
	decided(t, falling, ref, cancel)
	var got []string
	for _, it := range rows(t, st, "AUDIT#"+tenant+"#2026-04") {
		if table.TextOf(it, "task_id") == ref.ID {
			got = append(got, table.TextOf(it, "action"))
		}
	}
	want := []string{"task.created", "prompt.approved", "process.approved", "execution.started", "execution.cancelled",
		"task.cancelled"}
	expect.Same(t, want, got)
}

func longest[S ~string](all []S) (out S) {
	for _, s := range all {
		if len(s) > len(out) {
			out = s
		}
	}
	return out
}

func testCreate(t *testing.T, st *taskStore) {
	c, ref := received(t, 1)
	expect.NoError(t, st.Create(t.Context(), c))

	t.Run("makes the head, the request and the task's card", func(t *testing.T) {
		a := loaded(t, st, ref)
		want := (&task.Aggregate{}).Apply(c)
		due := c.Now.Add(time.Minute)
		want.Head.DueAt, want.Head.LastChange = &due, a.Head.LastChange
		expect.Same(t, want, a)
		expect.That(t, a.Head.LastChange != "", "the head does not say which change made it")
	})

	t.Run("the items are as documented", func(t *testing.T) {
		pk := "TASK#" + tenant + "#" + ref.ID
		type shape struct{ SK, Type, Rev, Schema, GSI1PK, GSI1SK, GSI2PK, GSI2SK string }
		var got []shape
		for _, it := range rows(t, st, pk) {
			got = append(got, shape{
				table.TextOf(it, "SK"), table.TextOf(it, "type"), fmt.Sprint(table.IntOf(it, "rev")), fmt.Sprint(table.IntOf(it,
					"schema_version")),
				table.TextOf(it, "GSI1PK"), table.TextOf(it, "GSI1SK"), table.TextOf(it, "GSI2PK"), table.TextOf(it, "GSI2SK"),
			})
		}
		want := []shape{
			{SK: "CARD#task", Type: "card", Rev: "1", Schema: "1"},
			{SK: "HEAD", Type: "head", Rev: "1", Schema: "1", GSI1PK: fmt.Sprintf("DUE#%d", shardOf(ref.ID)),
				GSI1SK: "2026-04-18T14:31:00.001Z"},
			{SK: "REQUEST", Type: "request", Rev: "1", Schema: "1"},
		}
		expect.Same(t, want, got)
	})

	t.Run("a repeated message is refused and changes nothing", func(t *testing.T) {
		before := rows(t, st, "TASK#"+tenant+"#"+ref.ID)
		later, _, err := task.Receive(tenant, request(1), at().Add(time.Hour))
		expect.NoError(t, err)
		wantError(t, st.Create(t.Context(), later), aggregate.ErrExists)
		expect.Same(t, before, rows(t, st, "TASK#"+tenant+"#"+ref.ID), items())
	})

	t.Run("five deliveries at once make one task", func(t *testing.T) { testDeliveriesAtOnce(t, st) })
}

func testDeliveriesAtOnce(t *testing.T, st *taskStore) {
	c, _ := received(t, 2)
	won, lost := atOnce(t, 5, func(int) error { return st.Create(t.Context(), c) }, aggregate.ErrExists)
	expect.That(t, won == 1 && lost == 4, "%d made the task, want 1", won)
}

// held is DynamoDB's answer to a single write while a transaction holds its item.
const held = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"Transaction is ` +
	`ongoing for the item"}`

// Transactions hold rows that other calls update one by one: these calls wait shortly and then succeed. Three refusals
// are what a call outlasts however long its tries take (table.Unhindered). What is held longer is an error after which
// whoever called is called again.
func testHinderedWrites(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 1)
	wait := aggregate.Wait{Gate: "PROMPT#0001", Token: "token", Run: 1, Entered: at()}
	claim := func(st *taskStore) error {
		return expect.Err(st.ClaimCard(t.Context(), ref, "CARD#task", "me", at(), at()))
	}
	for _, c := range []struct {
		name, operation string
		write           func(*taskStore) error
	}{
		{"a claim of a card", "UpdateItem", claim},
		{"a redraw", "UpdateItem", func(st *taskStore) error { return st.Redraw(t.Context(), ref) }},
		{"a run's token", "PutItem", func(st *taskStore) error { return st.PutWait(t.Context(), ref, wait) }},
		{"a token that was answered", "DeleteItem", func(st *taskStore) error { return st.DropWait(t.Context(), ref, wait) }},
	} {
		r := refusing(c.operation, held, 3)
		expect.NoError(t, c.write(st.over(r)))
		expect.Is(t, r.met.Load(), 3, "%s is refused (times)", c.name)
	}
	a := loaded(t, st, ref)
	expect.That(t, len(a.Waits) == 0 && a.Card("CARD#task").State == aggregate.CardPosting, "waits %v, the card is %s",
		a.Waits, a.Card("CARD#task").State)
	r := refusing("UpdateItem", held, always)
	expect.Within(t, 2500*time.Millisecond, func() {
		err := claim(st.over(r))
		expect.Is(t, explain.ClassOf(err), explain.Unavailable, fmt.Sprint("held for good: ", err))
	})
}
