package conversation

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// Whatever the settings would let go by themselves, an action that a rule of the tenant takes waits for its people. The
// system, the agent and a click approve nothing there.
func TestWhatTheSettingsApproveWaitsUnderARule(t *testing.T) {
	for _, typ := range []ActionType{CodeGenerate, TestRun, ShellCommand} {
		for _, rule := range []string{"", "tests run by themselves"} {
			tb := opened(t)
			p := proposal(typ, tb.now, rule)
			p.Terms.ApprovalHours, p.Terms.ApprovalRequired, p.Opening = 72, false, along(desk(suzuki))
			expect.NoError(t, tb.answer(p))
			x := tb.load().Current()
			expect.Must(t, x != nil && x.Status == ActionPending && x.asks() && x.Rule == "" && x.ApprovedBy == "" &&
				x.Gate.Terms.ApprovalRequired, "%s, by %q: %+v", typ, rule, x)
			for _, by := range []aggregate.Actor{aggregate.System(), {Type: aggregate.ActorAgent, ID: "codex"}, person(suzuki)} {
				_, err := approving(tb, x, by, policy)
				expect.That(t, err != nil, "%s: %s approves it", typ, by.Type)
				act := circulation.Act{Kind: circulation.Stamp, Hand: circulation.Person{User: by.ID},
					Principal: circulation.Person{User: by.ID}, Stage: 1, Hash: x.Gate.Asked}
				_, err = tb.load().Act(x.ActionID, act, by, policy, tb.now)
				expect.That(t, (err == nil) == (by.Type == aggregate.ActorUser), "%s: %s stamps it: %v", typ, by.Type, err)
			}
			_, err := tb.load().Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
			expect.That(t, err != nil, "%s: it is claimed", typ)
		}
	}
}

// It is known later that some of them are apps: whom they pushed out is forgotten all the same, so nothing is asked
// along a route, neither an action nor what is handed over.
func TestNobodyIsForgottenBehindApps(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, Answer{})
	var apps []string
	for i := range rules.MaxAskers + 1 {
		id := fmt.Sprintf("U_%03d", i)
		if i%2 == 0 {
			apps = append(apps, id)
		}
		tb.turn(id, Answer{})
	}
	tb.toldBy(tanaka, "please")
	expect.NoError(t, tb.begin())
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.LeaveOut(a.Head.Run, apps, tb.now) })
	a := tb.load()
	expect.That(t, len(a.RouteAskersAfter(a.Waiting(), "")) > rules.MaxAskers, "a route opens without Suzuki")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", HandOver: "pay", Usage: tb.used()}, tb.now)
	})
	handed := tb.load().Handed[0]
	r := task.Request{User: handed.User, EventID: task.HandedOverBy("x"), RouteAskers: handed.RouteAskers, Apps: apps}
	r.Asked()
	expect.That(t, len(r.RouteAskers) >= rules.MaxAskers, "a route opens without Suzuki: %d", len(r.RouteAskers))
	few := task.Request{User: tanaka, EventID: task.HandedOverBy("x"), RouteAskers: apps, Apps: apps}
	few.Asked()
	expect.Is(t, len(few.RouteAskers), 0)
}
