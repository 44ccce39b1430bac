package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

const ito = "U_ITO"

func desk(need int, users ...string) circulation.Stage {
	s := circulation.Stage{Name: strings.Join(users, "・"), Mode: circulation.ModePeople, Need: need}
	for _, user := range users {
		s.People = append(s.People, circulation.Person{User: user, Via: "group @keiri"})
	}
	return s
}

// along returns an opening that asks these stages for what the requester asks.
func along(stages ...circulation.Stage) aggregate.Opening {
	return aggregate.Opening{Rule: circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3},
		Askers: []circulation.Person{{User: requester}}, Route: circulation.Route{Form: circulation.Form, Stages: stages}}
}

// onRoute returns a task whose steps' gate asks Suzuki and then Tanaka.
func onRoute(t testing.TB) *story {
	s := waitingPrompt(t)
	return s.do(s.approvePrompt, s.plan, s.opens(along(desk(1, suzuki), desk(1, tanaka, ito))))
}

// plan makes steps about which the tenant's rules are asked.
func (s *story) plan(a *Aggregate, now time.Time) (aggregate.Change, error) {
	ruled := s.settings
	ruled.RulesRev = 1
	return a.FinishProcess(s.head.Run, s.steps, "", ruled, now)
}

// opens opens the gate that waits for its people.
func (s *story) opens(o aggregate.Opening) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Open(s.head.Run, a.Unopened().Key(), &o, s.settings, now)
	}
}

// waitingOnRoute returns a running task whose second step's gate, of generated arguments, asks Suzuki and then Tanaka.
func waitingOnRoute(t testing.TB, o aggregate.Opening) *story {
	s := checked(t)
	asks := expect.Value(s.openGate(s.load(), s.now))(t)
	g := *asks.Written(GateKey(1, 1, 2)).(*StepGate)
	g.Status, g.AskedAt = aggregate.Generating, nil
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := a.begin(now)
		c.Put(&g, asks.Written(a.Execution().Key()))
		return c.done()
	})
	return s.do(s.openOn(g.Key(), o))
}

func (s *story) openOn(key string, o aggregate.Opening) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Open(s.head.Run, key, &o, s.settings, now)
	}
}

// ruled returns the newest gate under a rule.
func (s *story) ruled() Gated {
	var row Gated
	a := s.load()
	for _, g := range a.gates() {
		if g.gate().Ruled() || g == a.Unopened() {
			row = g
		}
	}
	return row
}

// does is a decision of a person on the gate under a rule, at the stage that is asked, or else the first.
func (s *story) does(kind circulation.Kind, user string, change ...func(act *circulation.Act)) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		row := s.ruled()
		st := circulation.Walk(row.gate().Circulating())
		act := circulation.Act{Kind: kind, Hand: circulation.Person{User: user}, Principal: circulation.Person{User: user},
			Stage: max(1, st.Present), Hash: row.gate().AskedSum}
		if kind != circulation.Stamp {
			act.Text = " 理由 "
		}
		for _, c := range change {
			c(&act)
		}
		return a.Act(row.Asks().ID, act, person(user), s.policy, now)
	}
}

func at(stage int) func(act *circulation.Act) {
	return func(act *circulation.Act) { act.Stage = stage }
}

// why asserts that an act is refused for this reason, and changes nothing.
func (s *story) why(d decision, want circulation.Why) {
	s.t.Helper()
	rev := s.head.Rev
	_, err := s.try(d)
	refused, _ := errors.AsType[*circulation.Refusal](err)
	expect.That(s.t, refused != nil && refused.Why == want && s.head.Rev == rev, "%v, want %s", err, want)
}

// entries returns the audit entries of gates under a rule, as actions.
func (s *story) entries() (all []string) {
	for _, e := range s.audit {
		if strings.Contains(string(e.Details), `"asked":`) {
			all = append(all, string(e.Action))
		}
	}
	return all
}

func TestStepsAreSettledAlongTheirRoute(t *testing.T) {
	s := onRoute(t)
	p := s.load().Process()
	expect.That(t, p.Status == aggregate.PendingApproval && p.AskedAt != nil && p.Terms.ApprovalRequired &&
		p.Terms.DecideBy.Equal(p.AskedAt.Add(time.Duration(p.Terms.ApprovalHours)*time.Hour)), "it opened as %+v", p.Gate)
	s.why(s.does(circulation.Stamp, tanaka), circulation.WhyTurn)
	s.why(s.does(circulation.Stamp, requester), circulation.WhySelf)
	s.why(s.does(circulation.Stamp, suzuki, func(act *circulation.Act) { act.Hash = "other" }), circulation.WhyHash)
	s.do(s.does(circulation.Stamp, suzuki))
	p = s.load().Process()
	expect.That(t, p.Status == aggregate.PendingApproval && s.load().Execution() == nil, "%+v", p.Gate)
	expect.That(t, p.Terms.DecideBy.After(p.AskedAt.Add(time.Duration(p.Terms.ApprovalHours)*time.Hour)),
		"the next stage has no time of its own")
	s.nothing(s.does(circulation.Stamp, suzuki, at(1)))
	s.why(s.does(circulation.Stamp, tanaka, at(1)), circulation.WhyStage)
	s.do(s.does(circulation.Stamp, tanaka))

	a := s.load()
	e := a.Execution()
	expect.That(t, a.Process().Status == aggregate.Approved && a.Process().ApprovedBy == tanaka &&
		a.Process().ApprovedHash == a.Process().hash() &&
		a.Task.Status == TaskRunning && e != nil && e.Status == ExecutionPending, "settled as %+v", a.Process().Gate)
	s.nothing(s.does(circulation.Stamp, tanaka, at(2)))
	decided := aggregate.ErrDecided{Status: "approved", By: tanaka, At: *a.Process().ApprovedAt}
	s.refused(s.does(circulation.Stamp, ito, at(2)), decided)
	expect.Same(t, s.entries(), []string{"process.routed", "process.stamped", "process.approved"})
	s.do(s.start, s.claim)
}

func TestStepsThatAreDeniedEndTheTask(t *testing.T) {
	s := onRoute(t)
	s.do(s.does(circulation.Deny, suzuki))
	a := s.load()
	expect.That(t, a.Process().Status == aggregate.Rejected && a.Task.Status == TaskCancelled &&
		a.Head.Ended.By == suzuki && a.Head.Ended.Reason == ReasonDenied && a.Execution() == nil, "%+v", a.Head.Ended)
	expect.Is(t, s.load().Next(s.now).State, StateFinish)
	s.nothing(s.does(circulation.Deny, suzuki))
	s.refused(s.does(circulation.Deny, ito, at(2)), aggregate.ErrDecided{Status: "rejected", By: suzuki,
		At: *a.Process().RejectedAt})
	expect.Same(t, s.entries(), []string{"process.routed", "process.denied"})
}

// A step's gate has no second version: who refuses it ends the task, as a refused step does.
func TestAStepIsSettledOrDeniedAlongItsRoute(t *testing.T) {
	o := along(desk(1, suzuki), desk(1, tanaka))
	s := waitingOnRoute(t, o)
	s.nothing(s.openOn(GateKey(1, 1, 2), o))
	s.do(s.does(circulation.Stamp, suzuki))
	s.refused(s.claim, aggregate.ErrMoved)
	waited := s.load().Execution().WaitedMS
	s.do(s.does(circulation.Stamp, tanaka))
	expect.That(t, s.load().Execution().WaitedMS > waited, "the wait counts as the execution's time")
	s.do(s.claim)
	expect.Same(t, s.entries(), []string{"step.routed", "step.stamped", "step.approved"})

	s = waitingOnRoute(t, o)
	s.do(s.does(circulation.Deny, suzuki))
	expect.That(t, s.head.Ended.Reason == ReasonStepRejected && s.load().Execution().Status == ExecutionCancelled,
		"%+v", s.head.Ended)
	expect.Same(t, s.entries(), []string{"step.routed", "step.denied"})
}

// A gate opens only with askers and a route that somebody can walk to its end.
func TestAGateOpensOnlyWithItsRoute(t *testing.T) {
	for name, change := range map[string]func(o *aggregate.Opening){
		"no askers":              func(o *aggregate.Opening) { o.Askers = nil },
		"an asker left out":      func(o *aggregate.Opening) { o.Askers[0].User = ito },
		"no stage":               func(o *aggregate.Opening) { o.Route.Stages = nil },
		"nobody but the asker":   func(o *aggregate.Opening) { o.Route.Stages[0] = desk(1, requester) },
		"too few for its stamps": func(o *aggregate.Opening) { o.Route.Stages[1].Need = 2 },
		"one for two stages":     func(o *aggregate.Opening) { o.Route.Stages[1] = desk(1, suzuki) },
		"no rule":                func(o *aggregate.Opening) { o.Rule = circulation.Rule{} },
		"a later form":           func(o *aggregate.Opening) { o.Route.Form++ },
	} {
		s := waitingPrompt(t).do()
		s.do(s.approvePrompt, s.plan)
		o := along(desk(1, suzuki), desk(1, tanaka))
		change(&o)
		t.Log(name)
		s.refused(s.opens(o), aggregate.ErrOnRoute)
	}
	s := waitingPrompt(t)
	s.do(s.approvePrompt)
	s.refused(s.openOn(ProcessKey(1), along(desk(1, suzuki))), aggregate.ErrMoved)
	s.nothing(s.openOn(PromptKey(1), along(desk(1, suzuki))))
}

// What is asked is looked at again when somebody stamps it: other steps under the same hash get no stamp.
func TestNobodyStampsOtherStepsThanAreAsked(t *testing.T) {
	s := onRoute(t)
	p := *s.load().Process()
	p.Steps = slices.Clone(p.Steps)
	p.Steps[0].Tool = "another"
	s.rows[p.Key()] = &p
	s.refused(s.does(circulation.Stamp, suzuki), aggregate.ErrConflict)
	s.do(s.does(circulation.Deny, suzuki))
}

// A run that waits for people along a route waits until its last stage may have decided.
func TestARunWaitsAsLongAsARouteMayTake(t *testing.T) {
	s := onRoute(t)
	expect.Is(t, s.load().Next(s.now).TimeoutSeconds, int((circulation.MostTime + fuse).Seconds()))
	by := *s.load().Process().Terms.DecideBy
	s.do(s.does(circulation.Stamp, suzuki))
	s.now = by.Add(time.Millisecond)
	s.refused(s.expire, aggregate.ErrNotDue)
	s.now = s.load().Process().Terms.DecideBy.Add(time.Millisecond)
	s.do(s.expire)
	s.refused(s.does(circulation.Stamp, tanaka), aggregate.ErrDecided{Status: "cancelled", At: s.head.Ended.At,
		Reason: ReasonExpired})
	s.refused(s.does(circulation.Stamp, suzuki, at(1)), aggregate.ErrDecided{Status: "cancelled", At: s.head.Ended.At,
		Reason: ReasonExpired})
}

// What the caller looked up, such as a delegation, is a condition of the commit. A repeat on rows from two commits is
// told how the task ended.
func TestAnActReliesOnWhatWasLookedUp(t *testing.T) {
	s := onRoute(t)
	on := aggregate.Owned{Key: "DELEGATE", Rev: 4}
	p := s.load().Process()
	who := circulation.Person{User: suzuki}
	act := circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who, Stage: 1, Hash: p.AskedSum}
	c := expect.Value(s.load().Act(p.ID, act, person(suzuki), s.policy, s.now, on))(t)
	expect.That(t, slices.Contains(c.Owned, on), "it relies on %+v", c.Owned)
	s.do(s.does(circulation.Stamp, suzuki))
	torn := s.load()
	torn.Head.Ended = &Ended{As: TaskCancelled, By: requester, At: s.now}
	_, err := torn.Act(p.ID, act, person(suzuki), s.policy, s.now)
	expect.Fails(t, err, aggregate.ErrDecided{Status: "cancelled", By: requester, At: s.now})
}

// Settings that changed while a route was looked up are read anew, and only the head's run opens a gate.
func TestAnOpeningReliesOnTheSettings(t *testing.T) {
	s := waitingPrompt(t)
	s.do(s.approvePrompt)
	s.settings.Rev = 7
	for _, d := range []decision{s.plan, s.opens(along(desk(1, suzuki)))} {
		c := expect.Value(d(s.load(), s.now))(t)
		expect.That(t, slices.Contains(c.Owned, aggregate.Owned{Key: tenancy.SettingsKey, Rev: 7,
			Err: aggregate.ErrSettings}), "%+v", c.Owned)
		if made := c.Made; len(s.load().Process().Steps) == 0 {
			expect.That(t, made != nil && made.Key() == ProcessKey(1), "the calls of its model are charged to %v", made)
		}
		s.do(d)
	}
	_, err := s.load().Open(s.head.Run+1, ProcessKey(1), &aggregate.Opening{}, s.settings, s.now)
	expect.Fails(t, err, aggregate.ErrSuperseded)
}
