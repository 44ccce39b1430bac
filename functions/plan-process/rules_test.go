package main

import (
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

func testUnderRules(t *testing.T, server *pipelinetest.Server) {
	for name, run := range map[string]func(*testing.T, *ruledWorld){
		"steps wait for whom the rules ask":         testStepsLookedUp,
		"rules that were ended ask nobody":          testEndedRules,
		"rules that come while a model plans count": testRulesThatCome,
	} {
		t.Run(name, func(t *testing.T) { run(t, &ruledWorld{World: approved(t, server), t: t, g: &modeltest.Demo{}}) })
	}
}

type ruledWorld struct {
	*pipelinetest.World
	t *testing.T
	g *modeltest.Demo
}

func (w *ruledWorld) plan() aggregate.Next { w.T.Helper(); return handle(w.t, w.World, w.g) }

// ruled saves one rule, which decides about every request.
func (w *ruledWorld) ruled() {
	w.T.Helper()
	x := &rules.Rules{Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Refuse: "no"}}}}
	_, _, err := w.Store.SaveRules(w.T.Context(), w.Ref.Tenant, x, 0, nil, w.By, w.Now())
	expect.NoError(w.T, err)
}

func (w *ruledWorld) waits(next aggregate.Next) {
	w.T.Helper()
	a := w.Load()
	expect.That(w.T, next.State == task.StateResumeTask && a.Process().Status == aggregate.Generating &&
		a.Unopened() == task.Gated(a.Process()) && a.Generating() == task.Generation{} &&
		a.Stuck(w.Now().Add(time.Hour)), "%+v", next)
	calls := w.g.Calls
	expect.That(w.T, w.plan().State == task.StateResumeTask && w.g.Calls == calls && calls == 1, "planned anew")
}

func testStepsLookedUp(_ *testing.T, w *ruledWorld) {
	w.ruled()
	w.waits(w.plan())
}

func testRulesThatCome(t *testing.T, w *ruledWorld) {
	h := handler(w.World, w.g)
	h.Open = func(name string) (model.Wire, error) {
		w.ruled()
		return w.g.Open(name)
	}
	w.waits(expect.Value(h.Handle(t.Context(), w.In()))(t))
}

func testEndedRules(t *testing.T, w *ruledWorld) {
	w.ruled()
	_, _, err := w.Store.SaveRules(t.Context(), w.Ref.Tenant, nil, 1, nil, w.By, w.Now())
	expect.NoError(t, err)
	w.plan()
	p := w.Load().Process()
	expect.That(t, p.Status == aggregate.PendingApproval && !p.Ruled(), "%+v", p.Gate)
}

// atOnce is an invocation of a run that comes from a gate.
func atOnce(t *testing.T, w *pipelinetest.World, g *modeltest.Demo, run int) pipeline.Output {
	t.Helper()
	in := pipeline.Input{Tenant: w.Ref.Tenant, Task: w.Ref.ID, Run: run}
	return expect.Value(pipeline.Edge(handler(w, g).Handle)(t.Context(), in))(t)
}

// After a gate the run comes here whatever was decided. A model is asked only for steps that are due; everything else
// changes nothing and goes where the rows lead.
func TestPlansAtOnceOnlyWhatIsDue(t *testing.T) {
	server := pipelinetest.Start(t)
	stamped := func(w *pipelinetest.World) { w.Prompted(tenancy.DefaultSettings()); w.Approve() }
	change := func(f func(*tenancy.Settings)) func(*pipelinetest.World) {
		return func(w *pipelinetest.World) { stamped(w); w.Settings(f) }
	}
	alone := func(s *tenancy.Settings) {
		s.Approvers.Mode, s.Approvers.Users = aggregate.ApproversList, []string{pipelinetest.Requester}
	}
	unasked := func(steps bool) func(*pipelinetest.World) {
		return func(w *pipelinetest.World) {
			w.Prompted(w.Settings(func(s *tenancy.Settings) {
				s.PromptApprovalRequired, s.ProcessApprovalRequired = false, steps
			}))
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.ApproveUnasked(a.Prompt().ID, w.Now())
			})
		}
	}
	for name, tt := range map[string]struct {
		bring func(w *pipelinetest.World)
		next  string
		calls int
	}{
		"a person has just stamped":   {stamped, task.StateAwaitProcessApproval, 1},
		"the approvers changed since": {change(alone), task.StateAwaitProcessApproval, 1},
		"steps need no approval any more": {change(func(s *tenancy.Settings) { s.ProcessApprovalRequired = false }),
			task.StateAwaitProcessApproval, 1},
		"the system approved, people are next": {unasked(true), task.StateAwaitProcessApproval, 1},
		"nobody is asked":                      {unasked(false), task.StateAwaitProcessApproval, 1},
		"the policy was rejected": {func(w *pipelinetest.World) {
			w.Prompted(tenancy.DefaultSettings())
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return decide.Reject("もっと短く")(a, a.Prompt().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
			})
		}, task.StateDraftPrompt, 0},
		"the gate still waits": {func(w *pipelinetest.World) { w.Prompted(tenancy.DefaultSettings()) },
			task.StateAwaitPromptApproval, 0},
		"the task is cancelled": {func(w *pipelinetest.World) { stamped(w); w.Cancel() }, task.StateFinish, 0},
		"the task is parked": {func(w *pipelinetest.World) {
			stamped(w)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
			})
		}, task.StateFail, 0},
		"the run is paused": {func(w *pipelinetest.World) {
			stamped(w)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.WaitUntil(a.Head.Run, a.Generating(), w.Now().Add(time.Minute), w.Now())
			})
		}, task.StatePause, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, g := server.World(t), &modeltest.Demo{}
			tt.bring(w)
			before := w.Load()
			for range 2 { // Lambda may invoke twice, and Step Functions tries again
				out := atOnce(t, w, g, before.Head.Run)
				expect.Must(t, out.Next == tt.next && out.Run == before.Head.Run && g.Calls == tt.calls,
					"%+v after %d calls, want %s after %d", out, g.Calls, tt.next, tt.calls)
			}
			if after := w.Load(); tt.calls == 0 && after.Head.Rev != before.Head.Rev {
				t.Errorf("revision %d, and nothing was to be done after %d", after.Head.Rev, before.Head.Rev)
			}
		})
	}
}

// A run that was replaced while it waited ends, and begins no version.
func TestAReplacedRunPlansNothingAtOnce(t *testing.T) {
	w, g := approved(t, pipelinetest.Start(t)), &modeltest.Demo{}
	run := w.Load().Head.Run
	w.Restart()
	out := atOnce(t, w, g, run)
	expect.That(t, out.Next == task.StateFinish && out.Outcome == "superseded" && g.Calls == 0,
		"%+v after %d calls", out, g.Calls)
}

// The process may die at each call of the table. The next try asks the model once more at most, and one gate opens.
func TestPlanningAtOnceSurvivesALostCall(t *testing.T) {
	server := pipelinetest.Start(t)
	for _, action := range []string{"Query", "GetItem", "TransactWriteItems"} {
		for name, lose := range map[string]func(*pipelinetest.World){
			"call":   func(w *pipelinetest.World) { w.Transport.DropCalls(action, 99) },
			"answer": func(w *pipelinetest.World) { w.Transport.DropAnswers(action, 99) },
		} {
			w, g := approved(t, server), &modeltest.Demo{}
			run := w.Load().Head.Run
			lose(w)
			in := pipeline.Input{Tenant: w.Ref.Tenant, Task: w.Ref.ID, Run: run}
			_, err := pipeline.Edge(handler(w, g).Handle)(t.Context(), in)
			w.Transport.ClearFaults()
			out := atOnce(t, w, g, run)
			a := w.Load()
			expect.That(t, out.Next == task.StateAwaitProcessApproval && len(a.Processes) == 1 && g.Calls <= 2,
				"%s's %s lost: %v, then %+v, %d versions after %d calls", action, name, err, out, len(a.Processes), g.Calls)
		}
	}
}
