package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// stamped returns a running task whose steps Suzuki and Tanaka settled, and whose next step people have to see.
func stamped(t testing.TB) *story {
	return checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
}

// asksBy opens the gate of the next step as the rules say.
func (s *story) asksBy(found Found) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := call(a, now)
		return a.OpenStepGateBy(s.head.Run, c.Order, c.Arguments, c.ArgumentsHash, found,
			[]rules.Call{{Amount: rules.Nothing()}}, s.settings, now)
	}
}

// another is the route of another rule than that of the steps.
func another() *aggregate.Opening {
	o := along(2, desk(1, ito), desk(1, suzuki))
	o.Rule = circulation.Rule{ID: "r2", Name: "10万円以上", Revision: 4}
	return &o
}

// What a step's arguments turn out to be may fall under another rule: then its route is gone from the beginning.
func TestAStepGoesAlongTheRouteOfAnotherRule(t *testing.T) {
	s := stamped(t)
	s.do(s.asksBy(Found{Opening: another()}))
	g := s.load().GateOf(s.load().Execution(), 2)
	expect.That(t, g.Terms.Rule.ID == "r2" && len(g.Route.Stages) == 2 && g.Calls == nil, "%+v", g)
	s.nothing(s.asksBy(Found{Opening: another()}))
	s.why(s.does(circulation.Stamp, tanaka), circulation.WhyRoute)
	s.why(s.does(circulation.SendBack, ito), circulation.WhyNoVersion)
	s.do(s.does(circulation.Stamp, ito))
	s.refused(s.claim, aggregate.ErrMoved)
	s.do(s.does(circulation.Stamp, suzuki), s.claim)
	expect.Same(t, s.entries()[3:], []string{"step.routed", "step.stamped", "step.approved"})
}

// While people are looked up nobody is asked and nothing runs.
func TestAStepWaitsForItsRoute(t *testing.T) {
	s := stamped(t)
	s.do(s.asksBy(Found{LookUp: &another().Rule}))
	a := s.load()
	g := a.GateOf(a.Execution(), 2)
	expect.That(t, a.Unrouted() == Gated(g) && a.Next(s.now).State == StatePause && a.work(s.now) && len(g.Calls) == 1 &&
		g.Terms.DecideBy == nil && len(g.Indexes(&a.Head)) == 0, "%+v", g)
	s.nothing(s.asksBy(Found{LookUp: &another().Rule}))
	s.refused(s.claim, aggregate.ErrMoved)
	s.refused(s.does(circulation.Stamp, ito), aggregate.ErrNotFound)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.WaitForRoute(s.head.Run, g.Key(), now.Add(time.Minute), now)
	})
	expect.That(t, s.head.Parked == nil && !s.load().work(s.now) && s.load().work(s.now.Add(time.Hour)), "%+v", s.head)
	s.do(s.openOn(g.Key(), *another()))
	g = s.load().GateOf(s.load().Execution(), 2)
	expect.That(t, g.Status == aggregate.PendingApproval && g.Calls == nil && g.Terms.DecideBy != nil &&
		s.load().Unrouted() == nil && s.head.PausedUntil == nil, "%+v", g)
	s.do(s.does(circulation.Stamp, ito), s.does(circulation.Stamp, suzuki), s.claim)
}

// An attempt that is over looks nobody up for its steps, and neither does a step that turns out to be done.
func TestNobodyIsLookedUpForAStepThatIsOver(t *testing.T) {
	s := stamped(t)
	s.do(s.asksBy(Found{LookUp: &another().Rule}), s.giveUp)
	expect.That(t, s.load().Unrouted() == nil && s.head.Ended != nil, "%+v", s.head)
	s.do(s.retry)
	a := s.load()
	expect.That(t, a.Unrouted() == nil && a.Next(s.now).State == StateExecuteProcess, "%+v", a.Next(s.now))
	s.refused(s.openOn(GateKey(1, 1, 2), *another()), aggregate.ErrMoved)

	s = stamped(t)
	s.do(s.asksBy(Found{LookUp: &another().Rule}))
	e := *s.load().Execution()
	row := StepResult{TaskID: e.TaskID, ProcessVersion: 1, Attempt: 1, Order: 2, StepID: s.load().NextStep(&e).StepID,
		Status: StepCompleted, Reused: true}
	s.rows[row.Key()] = &row
	expect.That(t, s.load().Unrouted() == nil, "people are looked up for a step that is done")
}

// A rule may refuse what a step's arguments turn out to be. Then nothing is called, and what was done stays.
func TestARuleRefusesAStep(t *testing.T) {
	for why, want := range map[aggregate.Reason]aggregate.Reason{
		ReasonRuleRefuses: ReasonStepRefused, ReasonNoRoute: ReasonStepNoRoute, ReasonNoDepartment: ReasonNoDepartment,
	} {
		s := stamped(t)
		s.do(s.asksBy(Found{Refused: &Refusal{Why: why, Rule: another().Rule, Detail: "購買部へ"}}))
		a := s.load()
		e := a.Head.Ended
		expect.That(t, e != nil && e.Reason == want && e.As == TaskCancelled && e.ByRun() && a.Task.Status == TaskCancelled &&
			a.Execution().Status == ExecutionCancelled && len(a.Execution().Results) == 1 && len(a.Gates) == 0, "%+v", e)
		s.refused(s.claim, aggregate.ErrSuperseded)
	}
	s := stamped(t)
	s.do(s.asksBy(Found{LookUp: &another().Rule}))
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.RefuseByRule(s.head.Run, Refusal{Why: ReasonRuleRefuses, Detail: "購買部へ"}, s.settings, now)
	})
	expect.That(t, s.head.Ended.Reason == ReasonStepRefused && s.load().Execution().Status == ExecutionCancelled,
		"%+v", s.head.Ended)
}

// How the steps were settled is what the same rule builds on.
func TestHowStepsWereSettled(t *testing.T) {
	s := stamped(t)
	x := s.load().Settled(s.load().Execution())
	expect.That(t, x.Stamps == 2 && x.Hands == 2 && x.Rule == *s.load().Process().Terms.Rule, "%+v", x)
	expect.Same(t, x.Desk.People, []circulation.Person{{User: tanaka, Via: ViaStamped}})
	expect.That(t, checked(t).load().Settled(checked(t).load().Execution()) == nil, "steps without a rule")
}
