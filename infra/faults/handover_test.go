package faults

import (
	"context"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// handOverPoints is how many crash points of a hand-over are tried.
const handOverPoints = 1

// TestACrashInAHandOverMakesOneTask kills processes between the agent's answer that makes a request, the task, and the
// notice of how that ended.
func TestACrashInAHandOverMakesOneTask(t *testing.T) {
	t.Parallel()
	b := running
	const text = "従業員一覧を取得して。これは稟議にします"
	first := b.says(t, text)
	first.handedOver(t)
	all := trialsOf(first.points())
	n := handOverPoints
	if expect.Long() {
		n = len(all)
	}
	trials := sample(all, n)
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) { b.says(t, text, kills...).handedOver(t) })
	t.Logf("%d of %d points; seed %d", len(trials), len(all), seed)
}

// handedOver waits until the session has made its task and is idle.
func (k *talk) handedOver(t driver.T) {
	t.Helper()
	var id string
	k.until(t, "the task made", func(a *conversation.Aggregate) bool {
		if len(a.Handed) > 1 {
			t.Fatalf("session %s handed over %d times", k.ref.ID, len(a.Handed))
		}
		if len(a.Handed) == 1 {
			id = a.Handed[0].TaskID
		}
		return len(a.Handed) == 1 && a.Handed[0].Done && k.rests(a)
	})
	made := expect.Value(store.NewTasks(k.db, k.TableName).Load(context.Background(), task.RefOf(k.ref.Tenant, id)))(t)
	r := made.Request
	if r.EventID != "session:"+k.ref.ID || r.ThreadTS != k.thread || r.MessageTS != k.thread ||
		r.Text != "従業員一覧を取得して。" {
		t.Errorf("the task's request is %+v", r)
	}
	k.tellsItsEnd(t, made)
}

// tellsItsEnd cancels the task that was handed over, and waits until the session was told of that, once.
func (k *talk) tellsItsEnd(t driver.T, made *task.Aggregate) {
	t.Helper()
	ctx, rows := context.Background(), store.NewTasks(k.db, k.TableName)
	k.injector.knows(made.Head.TaskID, k.trace)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: k.Sandbox.TeamID(), Member: true}
	policy := aggregate.Policy{Team: by.Team, Mode: aggregate.ApproversChannel, AllowSelf: true}
	_, err := rows.Decide(ctx, made.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.End(by, policy, time.Now())
	})
	expect.NoError(t, err)
	nudge := time.Now().Add(4 * time.Second)
	for end := time.Now().Add(stepTimeout); time.Now().Before(end); _ = clock.Sleep(ctx, 50*time.Millisecond) {
		a, is := k.load(t), expect.Value(rows.Load(ctx, made.Ref()))(t)
		said := expect.Value(k.rows.Messages(ctx, k.ref.Tenant, k.ref.ID, ""))(t)
		if len(said) > 3 {
			t.Fatalf("session %s has %d messages, not the question, its answer and the notice", k.ref.ID, len(said))
		}
		if len(said) == 3 && is.Head.Ended.Told && a.Head.ShownRev >= a.Head.Rev {
			if said[2].TaskID != made.Head.TaskID || a.Handed[0].EndedAs != task.TaskCancelled {
				t.Errorf("it is told %+v of %+v", said[2], a.Handed[0])
			}
			return
		}
		if time.Now().After(nudge) {
			other := *k
			other.ref = made.Ref()
			other.sweep(t)
			k.sweep(t)
			nudge = time.Now().Add(4 * time.Second)
		}
	}
	t.Fatalf("session %s is not told how task %s ended", k.ref.ID, made.Head.TaskID)
}
