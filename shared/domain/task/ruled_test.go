package task

import (
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// unrouted returns a task with steps for which people must be looked up.
func unrouted(t testing.TB) *story {
	s := waitingPrompt(t)
	s.do(s.approvePrompt)
	return s.do(s.plan)
}

// A pause for Slack is only for the gate that waits for it: once that has opened, nothing changes.
func TestAGateThatHasOpenedWaitsForNoRoute(t *testing.T) {
	s := unrouted(t)
	expect.That(t, s.load().TryingSince().Equal(s.head.ChangedAt), "what the model took counts as waiting for Slack")
	rest := func(key string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.PutOff(s.head.Run, key, now.Add(time.Minute), now)
		}
	}
	expect.That(t, expect.Value(rest(ProcessKey(2))(s.load(), s.now))(t).Empty(), "another gate rests")
	s.do(rest(ProcessKey(1)))
	expect.That(t, s.head.PausedUntil != nil && !s.load().work(s.now) && s.load().work(s.now.Add(time.Hour)), "%+v",
		s.head)
	s.do(s.openOn(ProcessKey(1), along(desk(1, suzuki))))
	expect.That(t, s.head.PausedUntil == nil && s.head.TryingFrom == nil, "%+v", s.head)
	expect.That(t, expect.Value(rest(ProcessKey(1))(s.load(), s.now))(t).Empty(), "an open gate rests")
	open := expect.Value(s.load().Open(s.head.Run, ProcessKey(1), nil, s.settings, s.now))(t)
	expect.That(t, open.Empty(), "it opens once more, without its rule")
}

// stamped returns a running task whose steps Suzuki and Tanaka settled, and whose next step people have to see.
func stamped(t testing.TB) *story {
	return checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
}

// asks has people looked up for the next step.
func (s *story) asks(a *Aggregate, now time.Time) (aggregate.Change, error) {
	c := call(a, now)
	return a.OpenStepGate(s.head.Run, c.Order, c.Arguments, c.ArgumentsHash, []rules.Call{{Amount: rules.Nothing()}}, now)
}

// opensSame opens the gate of a step under the rule of the steps.
func (s *story) opensSame(a *Aggregate, now time.Time) (aggregate.Change, error) {
	if a.Unopened() == nil {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.Open(s.head.Run, a.Unopened().Key(), nil, s.settings, now)
}

// another is the route of another rule than that of the steps.
func another() *aggregate.Opening {
	o := along(desk(1, ito), desk(1, suzuki))
	o.Rule = circulation.Rule{ID: "r2", Name: "10万円以上", Revision: 4}
	return &o
}

// While people are looked up nobody is asked and nothing runs.
func TestAStepWaitsForItsRoute(t *testing.T) {
	s := stamped(t)
	s.do(s.asks)
	a := s.load()
	g := a.GateOf(a.Execution(), 2)
	expect.That(t, a.Unopened() == Gated(g) && a.Next(s.now).State == StateResumeTask && a.work(s.now) &&
		len(g.Calls) == 1 &&
		g.Terms.DecideBy == nil && len(g.Indexes(&a.Head)) == 0, "%+v", g)
	s.nothing(s.asks)
	s.refused(s.claim, aggregate.ErrMoved)
	s.refused(s.does(circulation.Stamp, ito), aggregate.ErrNotFound)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.PutOff(s.head.Run, g.Key(), now.Add(time.Minute), now)
	})
	expect.That(t, s.head.Parked == nil && !s.load().work(s.now) && s.load().work(s.now.Add(time.Hour)), "%+v", s.head)
	s.do(s.openOn(g.Key(), *another()))
	g = s.load().GateOf(s.load().Execution(), 2)
	expect.That(t, g.Status == aggregate.PendingApproval && g.Calls == nil && g.Terms.DecideBy != nil &&
		s.load().Unopened() == nil && s.head.PausedUntil == nil, "%+v", g)
	s.do(s.does(circulation.Stamp, ito), s.does(circulation.Stamp, suzuki), s.claim)
}

// An attempt that is over looks nobody up for its steps, and neither does a step that turns out to be done.
func TestNobodyIsLookedUpForAStepThatIsOver(t *testing.T) {
	s := stamped(t)
	s.do(s.asks, s.giveUp)
	expect.That(t, s.load().Unopened() == nil && s.head.Ended != nil, "%+v", s.head)
	s.do(s.retry)
	a := s.load()
	expect.That(t, a.Unopened() == nil && a.Next(s.now).State == StateExecuteProcess, "%+v", a.Next(s.now))
	s.refused(s.openOn(GateKey(1, 1, 2), *another()), aggregate.ErrMoved)

	s = stamped(t)
	s.do(s.asks)
	e := *s.load().Execution()
	row := StepResult{TaskID: e.TaskID, ProcessVersion: 1, Attempt: 1, Order: 2, StepID: s.load().NextStep(&e).StepID,
		Status: StepCompleted, Reused: true}
	s.rows[row.Key()] = &row
	expect.That(t, s.load().Unopened() == nil, "people are looked up for a step that is done")
}

// A rule may refuse what a step's arguments turn out to be. Then nothing is called, and what was done stays.
func TestARuleRefusesAStep(t *testing.T) {
	for why, want := range map[aggregate.Reason]aggregate.Reason{ReasonRuleRefuses: ReasonStepRefused,
		ReasonNoRoute: ReasonStepNoRoute, ReasonNoDepartment: ReasonNoDepartment} {
		s := stamped(t)
		s.do(s.asks, func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			no := aggregate.Refusal{Why: why, Rule: another().Rule, Detail: "購買部へ"}
			return a.RefuseByRule(s.head.Run, no, s.settings, now)
		})
		a := s.load()
		e := a.Head.Ended
		expect.That(t, e != nil && e.Reason == want && e.As == TaskRefused && e.ByRun() && a.Task.Status == TaskCancelled &&
			a.Execution().Status == ExecutionCancelled && len(a.Execution().Results) == 1 && a.Unopened() == nil, "%+v", e)
		expect.Is(t, a.Head.Noted == StatusCancelled, want != ReasonNoDepartment, "how lists call it")
		s.refused(s.claim, aggregate.ErrSuperseded)
	}
}

// checkedOnRoute returns a running task whose steps were settled along a route by these stamps, and in which people
// look at every write: the next step is one.
func checkedOnRoute(t testing.TB, stages []circulation.Stage, stamps func(s *story) []decision) *story {
	s := waitingPrompt(t)
	s.settings.AutoApproveTools = false
	s.do(s.approvePrompt, s.plan, s.opens(along(stages...)))
	for _, stamp := range stamps(s) {
		s.do(stamp)
	}
	return s.do(s.start, s.claim, s.finish(done))
}

func byTanaka(s *story) []decision {
	return []decision{s.does(circulation.Stamp, suzuki), s.does(circulation.Stamp, tanaka)}
}

// Who stamped the last stage of the steps is asked about each step that people have to see, under the same rule.
func TestAStepAsksWhoStampedTheLastStage(t *testing.T) {
	s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
	s.do(s.openGate, s.opensSame)
	a := s.load()
	g := a.GateOf(a.Execution(), 2)
	expect.Same(t, g.Route, &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{
		{Name: tanaka + "・" + ito, Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{
			{User: tanaka, Via: ViaStamped}}},
	}})
	expect.That(t, g.Status == aggregate.PendingApproval && *g.Terms.Rule == *a.Process().Terms.Rule &&
		s.head.Routed && g.Terms.DecideBy != nil, "%+v", g)
	s.nothing(s.openGate)
	s.refused(s.claim, aggregate.ErrMoved)
	s.why(s.does(circulation.Stamp, suzuki), circulation.WhyRoute)
	s.why(s.does(circulation.Stamp, ito), circulation.WhyRoute)
	s.do(s.does(circulation.Stamp, tanaka), s.claim)
	expect.Same(t, s.entries()[3:], []string{"step.routed", "step.approved"})
}

// Who stamped may have become somebody whose own request it is. Then nobody can be asked, and the task ends as it does
// when a step is refused.
func TestAStepThatNobodyMayCheckEndsTheTask(t *testing.T) {
	s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
	p := *s.load().Prompt()
	p.EditedBy = tanaka
	s.rows[p.Key()] = &p
	s.do(s.openGate, s.opensSame)
	a := s.load()
	expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == ReasonNobodyChecks &&
		a.Task.Status == TaskCancelled && a.Execution().Status == ExecutionCancelled, "%+v", a.Head.Ended)
	s.refused(s.retry, aggregate.ErrDecided{Status: "refused", At: a.Head.Ended.At, Reason: ReasonNobodyChecks})
	expect.That(t, a.Unopened() == nil, "people are looked up after the end")
}

func TestAStepIsNotAskedAboutByStepsThatNoLongerStand(t *testing.T) {
	s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
	s.ageing(15 * day)
	stops(t, s, s.openGate, ReasonApprovalAged)
	p := *s.load().Process()
	p.Acts = p.Acts[:1]
	s.rows[p.Key()] = &p
	stops(t, s, s.openGate, ReasonStepsChanged)
}

// What a request forwards and encloses is stamped with its text.
func TestAStampIsOnAllOfARequest(t *testing.T) {
	a := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki)}, func(s *story) []decision {
		return []decision{s.does(circulation.Stamp, suzuki)}
	}).load()
	plain, seen := *a.Request, map[string]string{}
	read := func(sha256 string) *Files {
		return &Files{Files: []ReadFile{{SharedFile: aggregate.SharedFile{ID: "F1"}, SHA256: sha256}}}
	}
	one := []aggregate.SharedFile{{ID: "F1"}}
	for name, x := range map[string]struct {
		files   *Files
		request func(r *Request)
	}{
		"plain":        {nil, func(*Request) {}},
		"text":         {nil, func(r *Request) { r.Text = "x" }},
		"forward":      {nil, func(r *Request) { r.Forwarded = []aggregate.Quoted{{User: suzuki, Text: "x"}} }},
		"another":      {nil, func(r *Request) { r.Forwarded = []aggregate.Quoted{{User: suzuki, Text: "y"}} }},
		"file":         {read("01"), func(r *Request) { r.Files = one }},
		"another file": {read("02"), func(r *Request) { r.Files = one }},
		"more files":   {read("01"), func(r *Request) { r.Files, r.MoreFiles = one, 1 }},
	} {
		r := plain
		x.request(&r)
		a.Request, a.Files = &r, x.files
		text := a.AskedText(a.Process())
		expect.That(t, text != "" && seen[text] == "", "%s is stamped like %s", name, seen[text])
		seen[text] = name
	}
}

// Nobody cancelled what the rules ended: lists and the log call it otherwise.
func TestWhatTheRulesEndedIsNotCalledCancelled(t *testing.T) {
	s := unrouted(t)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.RefuseByRule(s.head.Run, aggregate.Refusal{Why: ReasonRuleRefuses}, s.settings, now)
	})
	expect.That(t, s.load().Status() == StatusRefused && s.head.Noted == StatusRefused, "%s", s.head.Noted)
	expect.That(t, !slices.ContainsFunc(s.audit, func(e aggregate.AuditEntry) bool {
		return e.Action == AuditTaskCancelled
	}), "the log says that it was cancelled")
	expect.Is(t, StatusCancelled.Called(ReasonMaxVersions), StatusDenied)
	expect.Is(t, StatusCancelled.Called(""), StatusCancelled)
	expect.Is(t, StatusDone.Called(ReasonNoRoute), StatusDone)
}

// A waiting row that lost its rule, by a faulty commit or two, is settled neither by a click nor by an act.
func TestAGateThatLostItsRuleIsNotDecided(t *testing.T) {
	s := onRoute(t)
	expect.That(t, s.head.Routed, "the head doesn't know that it goes round")
	p := *s.load().Process()
	p.Gate = aggregate.Gate{Status: p.Status, AskedAt: p.AskedAt, Terms: p.Terms}
	p.Terms.Rule = nil
	s.rows[p.Key()] = &p
	s.refused(s.approveProcess, aggregate.ErrConflict)
	s.refused(s.rejectProcess, aggregate.ErrConflict)
	s.do(s.cancel)
}

func TestAGateMovesOnlyAsItsRouteSays(t *testing.T) {
	s := onRoute(t)
	s.do(s.does(circulation.Stamp, suzuki)) // one of two
	a := s.load()
	for _, to := range []aggregate.GateStatus{aggregate.Approved, aggregate.Rejected} {
		c := a.begin(s.now)
		c.moveGate(a.Process(), to, func(Gated) {})
		expect.Fails(t, expect.Err(c.done()), aggregate.ErrOnRoute, "%s along its route", to)
	}
}

// A step's gate repeats the terms of its process. Under a rule it needs a route of its own.
func TestNoStepsGateOpensUnderARuleWithoutARoute(t *testing.T) {
	s := checked(t)
	e := *s.load().Execution()
	e.Terms.Rule = &circulation.Rule{ID: "r1"}
	s.rows[e.Key()] = &e
	s.refused(s.openGate, aggregate.ErrOnRoute)
}

// A Query is no snapshot: it may have the row of a gate from before a commit and the head from after it, or the other
// way round. Whatever moments it mixes, a claim over a gate and a head that don't belong together runs nothing.
func TestAClaimOverATornReadOfARouteRunsNothing(t *testing.T) {
	for name, is := range map[string]struct {
		s   *story
		key string
	}{
		"steps":  {onRoute(t), ProcessKey(1)},
		"a step": {checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka), GateKey(1, 1, 2)},
	} {
		s := is.s
		switch name {
		case "steps":
			s.do(s.does(circulation.Stamp, suzuki), s.does(circulation.Stamp, tanaka), s.start)
		case "a step":
			s.do(s.openGate, s.opensSame, s.does(circulation.Stamp, tanaka))
		}
		torn := 0
		for head := range s.images {
			for gate := range s.images {
				was, of := s.images[head], s.images[gate].rows
				if of[is.key] == was.rows[is.key] {
					continue
				}
				a := s.mixed(was.head, func(key string) map[string]aggregate.Row {
					if key == is.key {
						return of
					}
					return was.rows
				})
				if a.Execution() == nil || a.Head.Run != s.head.Run {
					continue // no claim is made
				}
				if name == "a step" && a.NextStep(a.Execution()).Order != 2 {
					continue // the claim is of another step
				}
				torn++
				c, err := s.claim(a, s.now)
				if err == nil {
					err = s.table.commit(a.Head, c)
				}
				expect.That(t, err != nil, "%s: the head of revision %d with the gate of %d: a call begins", name, head+1, gate+1)
			}
		}
		expect.That(t, torn > 3, "%s: only %d torn reads", name, torn)
		s.do(s.claim)
	}
}
