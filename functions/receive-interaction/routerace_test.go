package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
)

// crowd is a workspace of any number of people. It keeps what each of them is told.
type crowd struct {
	Slack
	mu   sync.Mutex
	told map[string][]string
}

func (c *crowd) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: slacktest.Team}, nil
}

func (c *crowd) Ephemeral(_ context.Context, _, _, user, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[user] = append(c.told[user], text)
	return nil
}

// atOnce has each of these clicks made at the same time, and returns whom it told something.
func (w *world) atOnce(clicks ...map[string]any) map[string][]string {
	w.T.Helper()
	all := &crowd{Slack: w.slack.Client, told: map[string][]string{}}
	w.h.Slack, w.h.People = all, &people.People{Slack: all, Now: w.Now}
	var done sync.WaitGroup
	gun := make(chan struct{})
	for _, p := range clicks {
		done.Go(func() {
			<-gun
			w.post(p)
		})
	}
	close(gun)
	done.Wait()
	return all.told
}

// TestManyStampAtOnce: 32 people click at once on a stage that needs 16 of them.
func TestManyStampAtOnce(t *testing.T) {
	expect.Patience(t)
	inWorlds(t, map[string]func(*testing.T, *world){
		"as many as are needed":              testSixteenOfThirtyTwo,
		"one less than are needed":           testFifteenOfSixteen,
		"everybody twice":                    testEverybodyTwice,
		"one takes back as the other stamps": testStampsAndTakesBack,
		"one stamps as the other denies":     testStampsAndDenies,
	})
}

// desk16 has the steps wait for 16 of these people.
func (w *world) desk16(n int) (p *task.Process, users []string) {
	w.T.Helper()
	for i := range n {
		users = append(users, fmt.Sprintf("U0MANY%02d", i))
	}
	return w.along(16, pipelinetest.Desk("全員", 16, users...)), users
}

// agrees checks that the gate is settled if and only if as many stamps count as it needs, and that each of these people
// is told that nothing was saved unless their stamp counts.
func (w *world) agrees(told map[string][]string, users ...string) {
	w.T.Helper()
	p := w.Load().Process()
	st := circulation.Walk(p.Circulating())
	stamped := map[string]bool{}
	for _, act := range st.Stamps() {
		stamped[act.Hand.User] = true
	}
	settled := p.Status == aggregate.Approved
	expect.That(w.T, len(stamped) == len(p.Acts) && len(stamped) <= 16 && settled == (len(stamped) == 16),
		"%d people by %d acts, settled: %v", len(stamped), len(p.Acts), settled)
	for _, user := range users {
		if stamped[user] {
			expect.Is(w.T, len(told[user]), 0, "notes to %s, whose stamp counts: %v", user, told[user])
			continue
		}
		expect.That(w.T, len(told[user]) == 1 && strings.Contains(told[user][0], "承認しました"),
			"%s, whose stamp does not count, is told %v", user, told[user])
	}
	n := 0
	for _, e := range expect.Value(w.Store.Audit(w.T.Context(), w.Ref.Tenant, store.AuditFilter{}, "", 100))(w.T).Items {
		if e.ResourceType == "process" && (e.Action == task.AuditProcessApproved || e.Action == "process.stamped") {
			n++
		}
	}
	expect.Is(w.T, n, len(stamped), "entries of stamps")
}

func testSixteenOfThirtyTwo(t *testing.T, w *world) {
	p, users := w.desk16(32)
	var clicks []map[string]any
	for _, user := range users {
		clicks = append(clicks, at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1"))
	}
	w.agrees(w.atOnce(clicks...), users...)
	expect.Same(t, aggregate.Approved, w.Load().Process().Status)
}

func testFifteenOfSixteen(t *testing.T, w *world) {
	p, users := w.desk16(32)
	var clicks []map[string]any
	for _, user := range users[:15] {
		clicks = append(clicks, at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1"))
	}
	w.agrees(w.atOnce(clicks...), users[:15]...)
	expect.Same(t, aggregate.PendingApproval, w.Load().Process().Status)
}

func testEverybodyTwice(t *testing.T, w *world) {
	p, users := w.desk16(16)
	var clicks []map[string]any
	for _, user := range append(users, users...) {
		clicks = append(clicks, at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1"))
	}
	w.agrees(w.atOnce(clicks...), users...)
	expect.Same(t, aggregate.Approved, w.Load().Process().Status)
}

// The second stage stamps, or the stamp of the first is taken back: never both.
func testStampsAndTakesBack(t *testing.T, w *world) {
	first, second := "U0FIRST", "U0SECOND"
	p := w.onRoute(first, second)
	w.atOnce(at(w.click(first, "approve_process", p.ID), w.Ref.ID+"/1"))
	told := w.atOnce(w.back(first, p.ID, "/1"), at(w.click(second, "approve_process", p.ID), w.Ref.ID+"/2"))
	switch got := w.Load().Process(); got.Status {
	case aggregate.Approved:
		expect.That(t, len(told[first]) == 1 && len(told[second]) == 0, "told %v", told)
	default:
		expect.That(t, w.standing() == 0 && len(told[first]) == 0 && len(told[second]) == 1, "told %v: %+v", told, got.Gate)
	}
}

func testStampsAndDenies(t *testing.T, w *world) {
	first, second := "U0FIRST", "U0SECOND"
	p := w.along(1, pipelinetest.Desk("課長", 1, first, second))
	form := person("view_submission", second, slacktest.Team)
	form["view"] = map[string]any{"id": "V1", "type": "modal", "callback_id": "rejection_reason_modal",
		"private_metadata": fmt.Sprintf(`{"type":"process","id":%q,"task_id":%q,"stage":1,"asked":%q}`, p.ID, w.Ref.ID, p.Asked),
		"state":            map[string]any{"values": then("だめ", circulation.Deny)}}
	told := w.atOnce(form, at(w.click(first, "approve_process", p.ID), w.Ref.ID+"/1"))
	got := w.Load().Process()
	expect.That(t, len(got.Acts) == 1, "%+v", got.Acts)
	expect.That(t, len(told[got.Acts[0].Hand.User]) == 0 && len(told) == 1, "%+v; told %v", got.Gate, told)
}
