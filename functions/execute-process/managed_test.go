package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestASessionGoesThroughTheSteps(t *testing.T) {
	expect.Patience(t)
	for name, run := range map[string]func(*testing.T, *sessionWorld){
		"approved steps are called in order, once":                 testSessionCompletes,
		"arguments may come with their references resolved":        testResolved,
		"a call with other arguments is not made, not even a read": testOtherArguments,
		"a write is not made twice":                                testTwice,
		"a session that leaves steps undone has failed":            testLeavesSteps,
		"a session that ends otherwise has failed":                 testEndsOtherwise,
		"a step that people must see waits":                        testSessionGate,
		"a retry tells its session what is done":                   testSessionRetry,
		"a cancel interrupts the session":                          testSessionCancel,
		"a session whose time is up is told to stop":               testSessionTimeUp,
		"a model of unknown price has no session under a limit":    testUnpriced,
		"a vendor that is busy is waited for":                      testBusy,
		"the agent is made anew when the vendor has it no more":    testAgentGone,
		"the limit of costs is the session's":                      testBudget,
		"two invocations of one run are one at a session":          testTwoAtASession,
		"a tool of an MCP server has a name that the vendor takes": testNames,
		"no call outlives its lease":                               testLease,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newSessionWorld(t))
		})
	}
}

func testSessionCompletes(t *testing.T, m *sessionWorld) {
	m.agents.Thinks, m.agents.Twice, m.agents.Page = 2, true, 3
	m.approved(m.read(1), m.write(2))
	expect.Is(t, m.run().State, task.StateFinish)
	e := m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	x := m.session()
	expect.That(t, e.SessionID == x.ID && e.SessionClosed && e.Summary == "すべてのステップを実行しました。",
		"session %s, closed %v, summary %q", e.SessionID, e.SessionClosed, e.Summary)
	expect.That(t, len(x.Messages) == 1 && len(x.Answers) == 2 && x.Refused == 0 && x.Interrupts == 0,
		"told %d times, %d answers, %d refused, %d interrupts", len(x.Messages), len(x.Answers), x.Refused, x.Interrupts)
	if u := e.Usage; u == nil || u.Cost != 30_000 || u.Output != 30 || m.Load().Used().Cost != 30_000 {
		t.Errorf("usage %+v of %+v", u, m.Load().Used())
	}
	if slices.ContainsFunc(x.Answers, func(a models.Answer) bool {
		return a.Error || !strings.Contains(a.Text, `"done"`)
	}) {
		t.Errorf("answers %+v", x.Answers)
	}
	expect.That(t, !strings.Contains(fmt.Sprint(x.Answers), "佐藤"), "the session saw the list of people")
	expect.That(t, len(x.Made.Agent.Tools) == 2 && x.Made.Agent.Model.ID == "claude-sonnet-4-6" &&
		strings.Contains(x.Made.Agent.System, "承認された"), "made of %+v", x.Made)
}

func testLeavesSteps(t *testing.T, m *sessionWorld) {
	m.does(asks(listing, string(m.read(1).ToolInput)), ends)
	m.approved(m.read(1), m.write(2), m.lone(3))
	expect.Is(t, m.run().State, task.StateFail)
	e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone, task.StepCompleted)
	expect.That(t, e.ErrorDetail == "2, 3", "left undone: %s", e.ErrorDetail)
}

func testEndsOtherwise(t *testing.T, m *sessionWorld) {
	for stop, want := range map[string]aggregate.Reason{
		"retries_exhausted": task.ReasonSessionEnded, "terminated": task.ReasonSessionEnded,
		"a_new_reason":   task.ReasonSessionEnded,
		"budget_reached": task.ReasonCostLimit, "refusal": task.ReasonModelRefused,
	} {
		m.does(models.Act{Stop: stop})
		another := m.another()
		another.approved(m.lone(1))
		another.run()
		if e := another.Load().Execution(); e.Status != task.ExecutionFailed || e.Error != want {
			t.Errorf("%s: %s for %s, want %s", stop, e.Status, e.Error, want)
		}
	}
	m.written(0)
}

func testSessionGate(t *testing.T, m *sessionWorld) {
	step := m.write(2)
	step.RequiresHumanCheck = true
	m.approved(m.read(1), step)
	for range 2 {
		next := m.run()
		expect.Must(t, next.State == task.StateAwaitStepApproval && next.Gate == task.GateKey(1, 1, 2), "%+v", next)
	}
	m.written(0)
	m.Approve()
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	expect.Is(t, len(m.session().Answers), 2, "answers")
}

func testSessionRetry(t *testing.T, m *sessionWorld) {
	m.does(asks(listing, string(m.read(1).ToolInput)), ends)
	m.approved(m.read(1), m.write(2))
	m.run()
	e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone, task.StepCompleted)
	m.agents.Script = nil
	m.retry(e)
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	all := m.agents.Sessions()
	expect.That(t, len(all) == 2 && len(all[1].Answers) == 1 && strings.Contains(all[1].Messages[0], `"done": true`),
		"%d sessions", len(all))
	expect.Is(t, m.vendors.Calls(listing), 1, "listed (times)")
	expect.Is(t, m.agents.Made(models.MakeAgent), 1, "agents were made")
}

func testSessionCancel(t *testing.T, m *sessionWorld) {
	m.agents.Thinks = 1000
	m.approved(m.lone(1))
	looked := 0
	m.agents.Before = func(op string) {
		if looked++; op == models.ListEvents && looked > 8 && m.Load().Head.Ended == nil {
			m.Cancel()
		}
	}
	expect.Is(t, m.run().State, task.StateFinish)
	e := m.ends(task.ExecutionCancelled, "")
	n := m.session().Interrupts
	expect.That(t, n == 1 && e.SessionClosed, "%d interrupts, closed %v", n, e.SessionClosed)
	m.written(0)
}

func testSessionTimeUp(t *testing.T, m *sessionWorld) {
	m.agents.Thinks = 1000
	s := tenancy.DefaultSettings()
	s.Executor, s.L4TimeoutSeconds = tenancy.ExecutorManaged, 120
	m.Approved(s, m.lone(1))
	m.agents.Before = func(op string) {
		if op == models.ListEvents {
			m.later(10 * time.Second) // it thinks
		}
	}
	m.through()
	m.ends(task.ExecutionFailed, task.ReasonTimeout)
	expect.Is(t, m.session().Interrupts, 1, "interrupts")
}

func testUnpriced(t *testing.T, m *sessionWorld) {
	m.h.Model = "claude-unheard-of"
	settings := expect.Value(m.Store.Settings(t.Context(), m.Ref.Tenant))(t)
	settings.MaxCostDayUSD = 3
	expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, ringitest.Approver(), m.Now()))(t)
	m.approved(m.lone(1))
	m.run()
	expect.Is(t, m.ends(task.ExecutionFailed, task.ReasonModelUnpriced).ErrorDetail, "claude-unheard-of", "it says")
	expect.Is(t, len(m.agents.Sessions()), 0, "sessions")
}

func testBusy(t *testing.T, m *sessionWorld) {
	m.approved(m.lone(1))
	for _, op := range []string{models.MakeAgent, models.MakeEnvironment, models.MakeSession, models.ListSessions,
		models.ListEvents, models.Send, models.GetSession} {
		m.agents.Fail(op, models.Fault{Status: 500}, models.Fault{Status: 529}, models.Fault{Half: true})
	}
	m.agents.Fail(models.ListEvents, models.Fault{Status: 429, RetryAfter: "240"},
		models.Fault{Status: 429, RetryAfter: "240"})
	next := m.run()
	expect.Must(t, next.State == task.StatePause && next.WaitSeconds >= 235 && next.WaitSeconds <= 300, "%+v", next)
	m.later(5 * time.Minute)
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || x.Refused > 0 {
		t.Errorf("told %d times, %d sends made no sense", len(x.Messages), x.Refused)
	}
}

func testAgentGone(t *testing.T, m *sessionWorld) {
	first := m.another()
	first.approved(m.lone(1))
	first.run()
	m.agents.Forget()
	m.approved(m.lone(1))
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	expect.Is(t, m.agents.Made(models.MakeAgent), 2, "agents were made")
}

func testBudget(t *testing.T, m *sessionWorld) {
	settings := expect.Value(m.Store.Settings(t.Context(), m.Ref.Tenant))(t)
	settings.MaxCostUSD = 0.25
	expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, ringitest.Approver(), m.Now()))(t)
	m.approved(m.lone(1))
	m.run()
	b := m.session().Made.Budget
	expect.That(t, b != nil && b.MaxListCost.Amount == "25", "%+v", b)
}

func testTwoAtASession(t *testing.T, m *sessionWorld) {
	m.approved(m.read(1), m.write(2))
	met := map[string]bool{}
	m.agents.Before = func(op string) { // another invocation comes during the first one's request
		if met[op] {
			return
		}
		if met[op] = true; m.Load().Head.Ended == nil {
			expect.Is(t, m.run().State, task.StatePause, "during %s another goes", op)
		}
	}
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || x.Refused > 0 || len(met) < 6 {
		t.Errorf("told %d times, %d sends made no sense, others came at %v", len(x.Messages), x.Refused, met)
	}
}

func (m *sessionWorld) denied(n int, why task.Denial) {
	m.T.Helper()
	got := m.session().Answers
	expect.That(m.T, len(got) >= n && got[n-1].Error && strings.Contains(got[n-1].Text, string(why)),
		"answer %d of %+v is not a denial for %s", n, got, why)
}

func testResolved(t *testing.T, m *sessionWorld) {
	rows := func(n string) string {
		return `{"spreadsheet_id":"` + vendors.Sheet + `","sheet":"名簿",` +
			`"columns":[{"key":"n","title":"人数"}],"rows":[{"n":` + n + `}]}`
	}
	m.does(asks(listing, string(m.read(1).ToolInput)), asks(writing, rows("41")), asks(writing, rows("42")), ends)
	m.approved(m.read(1), m.step(2, writing, aggregate.Write, rows(`{"$ref":"step-1.result.count"}`)))
	m.run()
	m.denied(2, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
}

func testOtherArguments(t *testing.T, m *sessionWorld) {
	other := func(s task.Step, was, is string) models.Act {
		return asks(s.Tool, strings.Replace(string(s.ToolInput), was, is, 1))
	}
	m.does(other(m.read(1), `"active"`, `"all"`), other(m.lone(2), `"a"`, `"b"`), ends)
	m.approved(m.read(1), m.lone(2))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.denied(2, task.DeniedArguments)
	e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	expect.Is(t, e.ErrorDetail, "1, 2", "left undone")
	expect.Is(t, m.vendors.Calls(listing), 0, "calls listed")
	m.written(0)
}

func testTwice(t *testing.T, m *sessionWorld) {
	input := string(m.lone(1).ToolInput)
	m.does(asks(writing, input), asks(writing, input), models.Act{Asks: []models.Ask{{Tool: writing, Input: input},
		{Tool: writing, Input: input}}}, ends)
	m.approved(m.lone(1))
	m.run()
	for n := 2; n <= 4; n++ {
		m.denied(n, task.DeniedDone)
	}
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}

func testNames(t *testing.T, _ *sessionWorld) {
	steps := []task.Step{{Tool: "rooms.book"}, {Tool: "rooms_book"}, {Tool: "rooms.book"}}
	expect.Same(t, map[string]string{"rooms.book": "rooms_book", "rooms_book": "rooms_book_2"}, namesOf(steps))
}

func TestEveryDenialSaysWhatToDo(t *testing.T) {
	for _, d := range task.Denials {
		expect.That(t, denials[d] != "", "nothing is said of %s", d)
	}
	expect.Is(t, len(denials), len(task.Denials), "sentences for denials")
}

// Wherever an invocation dies, later ones complete the execution: nothing is written twice, and only a write in
// progress has an unknown outcome.
func TestAnExecutionSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	expect.Patience(t)
	unknown := 0
	died := ringitest.EachDeath(t, func(d *ringitest.Death) {
		w := newWorld(t, d)
		w.approved(w.read(1), w.lone(2))
		if w.survives().Status == task.ExecutionFailed {
			w.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepCompleted, task.StepUnknown)
			unknown++
			return
		}
		w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
		w.written(1)
	})
	expect.That(t, (unknown != 0 || !expect.Long()) && unknown <= 4 && died >= 4,
		"a write is unknown after %d of %d deaths", unknown, died)
}

// Wherever a session's invocation dies, there is one session besides, and it gets the steps and each answer once.
func TestASessionSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	expect.Patience(t)
	unknown := 0
	died := ringitest.EachDeath(t, func(d *ringitest.Death) {
		m := newSessionWorld(t, d)
		m.approved(m.read(1), m.write(2))
		e, written, x := m.survives(), m.vendors.Calls(writing), m.session()
		if e.Status == task.ExecutionFailed && e.Error == task.ReasonToolUnknown {
			unknown++
		} else {
			expect.That(t, e.Status == task.ExecutionCompleted && written == 1 && len(x.Answers) == 2,
				"%s for %q, %d calls wrote", e.Status, e.Error, written)
		}
		expect.That(t, written <= 1 && e.SessionClosed && x.ID == e.SessionID && e.Usage != nil && e.Usage.Cost != 0,
			"%d calls wrote, closed: %v, charged %+v", written, e.SessionClosed, e.Usage)
		expect.That(t, len(x.Messages) == 1 && x.Refused == 0 && len(x.Answers) <= 2 &&
			!slices.ContainsFunc(x.Answers, func(a models.Answer) bool { return a.Error }),
			"told %d times, %d refused, answers %+v", len(x.Messages), x.Refused, x.Answers)
	})
	expect.That(t, (unknown != 0 || !expect.Long()) && unknown <= 6 && died > 10,
		"a write is unknown after %d of %d deaths", unknown, died)
}

// givenUp returns an execution whose run was abandoned while its session works.
func (m *sessionWorld) givenUp(t *testing.T, limit float64) *task.Execution {
	t.Helper()
	m.Settings(func(s *tenancy.Settings) { s.MaxCostUSD = limit })
	m.approved(m.read(1), m.lone(2))
	m.agents.Thinks, m.h.PollFor = 1000, 20*time.Millisecond
	for m.Load().Execution().SessionID == "" || m.session().Messages == nil {
		m.run()
		m.later(time.Minute)
	}
	m.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, task.ReasonRunFailed, m.h.Now())
	})
	m.h.PollFor = time.Minute
	return m.Load().Execution()
}

func TestSessionsAreClosedAndPaid(t *testing.T) {
	t.Parallel()
	t.Run("the one of a run that was given up, before its retry opens another", func(t *testing.T) {
		m := newSessionWorld(t)
		e := m.givenUp(t, 0.25)
		m.retry(e)
		m.agents.Thinks = 0
		m.through()
		all := m.agents.Sessions()
		expect.Must(t, len(all) == 2 && all[0].Interrupts == 1, "%d sessions, %d interrupts of the first", len(all),
			all[0].Interrupts)
		a := m.Load()
		first := a.Executions[0]
		expect.Must(t, first.SessionClosed && first.Usage != nil && first.Usage.Cost != 0,
			"closed %v, paid %+v", first.SessionClosed, first.Usage)
		want := (aggregate.USD(0.25) - first.Usage.Cost) / 10_000 // whole cents
		if b := all[1].Made.Budget; b == nil || b.MaxListCost.Amount != fmt.Sprint(int64(want)) {
			t.Errorf("the second may cost %+v cents, want %d", b, want)
		}
		m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	})
	t.Run("as the whole of their budget, when the vendor does not know them any more", func(t *testing.T) {
		m := newSessionWorld(t)
		e := m.givenUp(t, 0.25)
		m.agents.Fail(models.GetSession, models.Fault{Status: 404})
		m.run()
		if a := m.Load(); !a.Execution().SessionClosed || !a.CostReached(aggregate.USD(0.25)) {
			t.Errorf("closed %v, spent %s", a.Execution().SessionClosed, a.Spent())
		}
		m.retry(e)
		m.run()
		m.ends(task.ExecutionFailed, task.ReasonCostLimit)
		expect.Is(t, len(m.agents.Sessions()), 1, "sessions")
	})
}
