package tasks_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/store/tasks"
)

// testdata/before is a table written by an earlier release: every item as DynamoDB's JSON, what that release read of
// each task ten seconds after at, and its lists. That release stored usage in heads.

const tenant = "01TENANT"

func at() time.Time { return time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC) }

// read is what the earlier release read of one task.
type read struct {
	Name, Task string
	Aggregate  map[string]any
	Next       any
	Effects    any
	DueAt      any `json:"due_at"`
	Asked      any
	Spent      any
	Generating any
}

// before is the table of the earlier release.
type before struct {
	*tasks.Store
	db    *dynamodb.Client
	table string
}

func TestATableOfAnEarlierReleaseIsRead(t *testing.T) {
	server := storetest.Start(t)
	b := before{db: server.DB}
	b.Store, b.table = server.Store(t)
	b.fill(t)
	was := map[string]read{}
	for line := range lines(t, "tasks.jsonl.gz") {
		var r read
		decode(t, line, &r)
		was[r.Name] = r
		t.Run(r.Name, func(t *testing.T) { b.same(t, r) })
	}
	t.Run("lists", b.lists)
	for name, next := range goesOn() {
		t.Run("goes on: "+name, func(t *testing.T) { b.goesOn(t, task.RefOf(tenant, was[name].Task), next) })
	}
	t.Run("goes on: a session is polled", func(t *testing.T) { b.pauses(t, task.RefOf(tenant, was["a session is polled"].Task)) })
	t.Run("every task can be cancelled or is over", func(t *testing.T) {
		for _, r := range was {
			b.cancelled(t, r)
		}
	})
}

// fill puts all items into the table.
func (b before) fill(t *testing.T) {
	t.Helper()
	var batch []types.WriteRequest
	put := func() {
		t.Helper()
		if len(batch) == 0 {
			return
		}
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{b.table: batch}}
		expect.Value(b.db.BatchWriteItem(t.Context(), in))(t)
		batch = nil
	}
	for line := range lines(t, "rows.jsonl.gz") {
		var it map[string]map[string]any
		decode(t, line, &it)
		batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(it)}})
		if len(batch) == 25 { // the limit of one call
			put()
		}
	}
	put()
}

// same compares how a task is read now with how the earlier release read it.
func (b before) same(t *testing.T, was read) {
	a := expect.Value(b.Load(t.Context(), task.RefOf(tenant, was.Task)))(t)
	now := at().Add(10 * time.Second)
	next := plain(t, a.Next(now)).(map[string]any)
	delete(next, "Reason")
	got := plain(t, a).(map[string]any)
	delete(got, "Uses") // rows that the earlier release did not have
	delete(got, "Leases")
	delete(got, "Copies")
	delete(got, "Listing")
	delete(got, "Agains")
	expect.Same(t, was.Aggregate, got)
	for _, x := range []struct {
		name     string
		was, got any
	}{
		{"next", was.Next, next}, {"effects", was.Effects, ofTasks(t, a.Effects(now))}, {"due", was.DueAt, a.DueAt(now)},
		{"asked", was.Asked, a.Asked()}, {"spent", was.Spent, a.Spent()}, {"generating", was.Generating, a.Generating()},
	} {
		diff := cmp.Diff(x.was, plain(t, x.got))
		expect.That(t, diff == "", "%s: %s", x.name, diff)
	}
}

// ofTasks returns the effects that the earlier release knew.
func ofTasks(t *testing.T, e aggregate.Effects) any {
	t.Helper()
	expect.That(t, e.Begin == nil && len(e.Make) == 0, "a task begins runs, or makes %d others", len(e.Make))
	return struct {
		Run   *aggregate.Run
		Wake  []aggregate.Wait
		Cards bool
	}{e.Run, e.Wake, e.Cards}
}

// lists compares pages of lists and a tenant's settings.
func (b before) lists(t *testing.T) {
	var was map[string]any
	decode(t, unzipped(t, "lists.json.gz"), &was)
	got := map[string]any{}
	for name, f := range map[string]task.Filter{
		"all": {}, "completed": {Status: task.StatusDone}, "cancelled": {Status: task.StatusCancelled}, "of the requester": {Requester: "U0REQUESTER"},
	} {
		page := b.listed(t, f)
		if f.Status == task.StatusCancelled { // that release did not tell them apart
			f.Status = task.StatusExpired
			expired := b.listed(t, f)
			expect.That(t, len(expired) == 1, "%d have expired", len(expired))
			page = append(expired, page...)
		}
		got["tasks: "+name] = page
	}
	waiting, err := b.Waiting(t.Context(), tenant, "", 100)
	expect.NoError(t, err)
	pending := plain(t, waiting.Items).([]any)
	for _, x := range pending { // that release returned only the task
		it := x.(map[string]any)
		it["TaskID"] = it["Ref"].(map[string]any)["ID"]
		delete(it, "Ref")
	}
	got["pending"] = pending
	log, err := b.Audit(t.Context(), tenant, store.AuditFilter{To: at().Add(24 * time.Hour)}, "", 100)
	expect.NoError(t, err)
	got["audit"] = log.Items
	got["tenant"], err = b.Tenant(t.Context(), tenant)
	expect.NoError(t, err)
	settings, err := b.Settings(t.Context(), tenant)
	expect.NoError(t, err)
	known := plain(t, settings).(map[string]any)
	for later, want := range map[string]any{ // added since that release
		"max_cost_day_usd": json.Number("0"), "max_cost_month_usd": json.Number("0"), "self_approval_chosen": false, "approval_copies": string(tenancy.CopiesListed),
		"agents": []any{}, "auto_actions": []any{}, "listed_reads": []any{}, "sources": []any{}, "prices": []any{},
		"ai_sessions": map[string]any{"cache": map[string]any{"enabled": false}}, "action_timeout_hours": json.Number("24"),
		"max_messages_per_hour": json.Number("60"), "max_session_cost_usd": json.Number("0"),
		"max_agents_cost_day_usd": json.Number("20"), "max_sources_per_day": json.Number("100"),
		"approval_days": json.Number("14"), "fiscal_year_month": json.Number("4"), "register": false,
		"direct_approvers":  map[string]any{"channel": "", "users": []any{}},
		"session_idle_days": json.Number("14"), "contest_search": false,
		"draft_contest": map[string]any{
			"enabled": false, "file": "configs/contest.toml", "max_rounds": json.Number("3"), "budget_usd": json.Number("1"),
			"seconds": json.Number("300"), "rejected": tenancy.RejectedToTeam,
		},
	} {
		diff := cmp.Diff(want, known[later])
		expect.That(t, diff == "", "settings of an earlier release have another %s: %s", later, diff)
		delete(known, later)
	}
	got["settings"] = known
	got["tools"], err = b.ToolPermissions(t.Context(), tenant)
	expect.NoError(t, err)
	got["integrations"], err = b.Integrations(t.Context(), tenant)
	expect.NoError(t, err)
	for name := range was {
		diff := cmp.Diff(was[name], plain(t, got[name]))
		expect.That(t, diff == "", "%s: %s", name, diff)
	}
}

func (b before) listed(t *testing.T, f task.Filter) (out []task.Task) {
	t.Helper()
	for _, x := range expect.Value(b.Search(t.Context(), tenant, f, "", 100, 0, nil))(t).Items {
		out = append(out, x.Task)
	}
	return out
}

// goesOn returns the next decisions on some tasks.
func goesOn() map[string]task.Decision {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0APPROVER", Team: "T0TEAM", Member: true}
	policy := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversChannel, AllowSelf: true}
	now := at().Add(10 * time.Second)
	type agg = *task.Aggregate
	return map[string]task.Decision{
		"received":                         func(a agg) (aggregate.Change, error) { return a.Accept(a.Head.Run, by, tenancy.DefaultSettings(), now) },
		"prompt waits, with a run's token": func(a agg) (aggregate.Change, error) { return a.Approve(a.Prompt().ID, by, policy, now) },
		"second prompt waits": func(a agg) (aggregate.Change, error) {
			return a.Reject(a.Prompt().ID, "もっと詳しく", by, policy, now)
		},
		"process waits":                func(a agg) (aggregate.Change, error) { return a.Approve(a.Process().ID, by, policy, now) },
		"step gate waits":              func(a agg) (aggregate.Change, error) { return a.Approve(a.Gates[0].ID, by, policy, now) },
		"asked what it is meant to be": func(a agg) (aggregate.Change, error) { return a.TakeAsReason(a.Choice.ID, by, policy, now) },
		"process approved":             func(a agg) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, now) },
		"running, a step is claimed": func(a agg) (aggregate.Change, error) {
			return a.FinishStep(task.StepKey(1, 1, 2), "invocation", task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: "{}", Bytes: 2}}, now)
		},
		"all steps done": task.Charge(aggregate.Usage{ID: "new", Calls: 1, Input: 1, Cost: 1}, now, func(a agg) (aggregate.Change, error) {
			return a.CompleteExecution(a.Head.Run, "完了", now)
		}),
		"failed":                    func(a agg) (aggregate.Change, error) { return a.RetryExecution(a.Execution().ID, by, policy, now) },
		"parked at the first layer": func(a agg) (aggregate.Change, error) { return a.RetryGeneration(by, policy, now) },
		"a session of an execution that failed is open": func(a agg) (aggregate.Change, error) { return a.CloseSession(a.Head.Run, now) },
		// The last thing that happened was a stamp: the earlier run's failure does not count as the task's.
		"charged aside just after a stamp": func(a agg) (aggregate.Change, error) {
			c, err := a.GiveUp(a.Head.Run, task.ReasonRunFailed, now)
			if err == nil && !c.Empty() && c.Head.(*task.Head).Parked != nil {
				err = fmt.Errorf("it is parked: %+v", c.Head)
			}
			return c, err
		},
		"charged aside, and more often than a head remembers": func(a agg) (aggregate.Change, error) {
			return a.Approve(a.Prompt().ID, by, policy, now)
		},
		"a card that Slack refused, the sweeper failing, in line": func(a agg) (aggregate.Change, error) {
			return a.Approve(a.Prompt().ID, by, policy, now)
		},
	}
}

// pauses releases the hold on a session that the earlier release kept in the execution.
func (b before) pauses(t *testing.T, ref aggregate.Ref) {
	a, err := b.Load(t.Context(), ref)
	expect.NoError(t, err)
	now := at().Add(10 * time.Second)
	l, err := a.ReleaseSession(a.Head.Run, "poller", now.Add(3*time.Second), time.Time{}, now)
	expect.NoError(t, err)
	expect.Must(t, l != nil, "the hold of before is not known")
	expect.NoError(t, b.PutLease(t.Context(), a, l))
	a, err = b.Load(t.Context(), ref)
	expect.NoError(t, err)
	got := a.SessionLease(a.Execution())
	expect.That(t, l.Same(&got), "%+v was kept, it is %+v", l, got)
}

// forgotten are the attributes that a decision may remove from a row: waits and index keys.
var forgotten = map[string]bool{
	"GSI1PK": true, "GSI1SK": true, "parked": true, "ended": true, "paused_until": true, "retried": true, "session_lease": true, "aside": true,
}

// goesOn commits a decision and checks that no row loses an attribute.
func (b before) goesOn(t *testing.T, ref aggregate.Ref, next task.Decision) {
	rows := b.rows(t, ref)
	was, err := b.Load(t.Context(), ref)
	expect.NoError(t, err)
	after, err := b.Decide(t.Context(), ref, next)
	expect.NoError(t, err)
	expect.Must(t, after.Head.Rev == was.Head.Rev+1, "rev %d after %d", after.Head.Rev, was.Head.Rev)
	expect.That(t, after.Spent() >= was.Spent(), "it had cost %s, and now %s", was.Spent(), after.Spent())
	now := b.rows(t, ref)
	for key, row := range rows {
		for name, value := range row {
			got, there := now[key][name]
			switch {
			case !there && !forgotten[name]:
				t.Errorf("%s has lost %s", key, name)
			case there && now[key]["rev"] != nil && key != aggregate.HeadKey && cmp.Equal(row["rev"], now[key]["rev"]) && !cmp.Equal(value, got):
				t.Errorf("%s: %s differs though no commit wrote it", key, name)
			}
		}
	}
	for _, name := range []string{"usage", "charged", "redraws", "shown_rev", "draw_at", "sweep_failures"} {
		diff := cmp.Diff(rows[aggregate.HeadKey][name], now[aggregate.HeadKey][name])
		expect.That(t, diff == "", "the head's %s: %s", name, diff)
	}
}

// cancelled cancels a task that has not ended.
func (b before) cancelled(t *testing.T, r read) {
	t.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0REQUESTER", Team: "T0TEAM", Member: true}
	ref := task.RefOf(tenant, r.Task)
	a, err := b.Load(t.Context(), ref)
	expect.NoError(t, err)
	if a.Head.Ended != nil {
		return
	}
	a, err = b.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.End(by, aggregate.Policy{Team: "T0TEAM", AllowSelf: true}, at().Add(time.Minute))
	})
	expect.That(t, err == nil && a.Head.Ended != nil, "%s: %v", r.Name, err)
}
