package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/vendors"
	"ringi/infra/local/vendors/agents"
	"ringi/shared/model/managed"
	"ringi/shared/pipeline/pipelinetest"
	"ringi/shared/task"
)

// hosted is a world whose steps a managed session goes through.
type hosted struct {
	*world
	agents *agents.Server
}

func newHosted(t *testing.T, server *pipelinetest.Server) *hosted {
	t.Helper()
	return hostedIn(t, newWorld(t, server))
}

func hostedIn(t *testing.T, w *world) *hosted {
	t.Helper()
	m := &hosted{world: w, agents: agents.New()}
	s := httptest.NewServer(m.agents)
	t.Cleanup(s.Close)
	m.h.Sessions = managed.New(managed.Config{
		BaseURL: s.URL, HTTP: http.DefaultClient, Key: func(context.Context) (string, error) { return m.agents.Key, nil },
	})
	m.h.Model, m.h.PollEvery, m.h.PollFor = "claude-sonnet-4-6", time.Millisecond, time.Minute
	tenant := task.Tenant{ID: m.Ref.Tenant, Name: "Ringi", Slug: "ringi", TeamID: pipelinetest.Team, Admins: []string{}}
	if _, err := m.Store.Bootstrap(t.Context(), tenant, m.Now()); err != nil {
		t.Fatal(err)
	}
	return m
}

// approved brings the task to the given steps' execution by a session.
func (m *hosted) approved(steps ...task.Step) {
	m.T.Helper()
	s := task.DefaultSettings()
	s.Executor, s.L4TimeoutSeconds = task.ExecutorManaged, 86400
	m.Approved(s, steps...)
}

// session is the only one that was made.
func (m *hosted) session() *agents.Session {
	m.T.Helper()
	all := m.agents.Sessions()
	if len(all) != 1 {
		m.T.Fatalf("%d sessions were made", len(all))
	}
	return all[0]
}

// does scripts the agent.
func (m *hosted) does(acts ...agents.Act) {
	m.agents.Script = func([]agents.Step) []agents.Act { return acts }
}

func asks(tool, input string) agents.Act {
	return agents.Act{Asks: []agents.Ask{{Tool: tool, Input: input}}}
}

var ends = agents.Act{Says: "終わりました。", Stop: "end_turn"}

// denied asserts why the n-th call was denied.
func (m *hosted) denied(n int, why task.Denial) {
	m.T.Helper()
	got := m.session().Answers
	if len(got) < n || !got[n-1].Error || !strings.Contains(got[n-1].Text, string(why)) {
		m.T.Errorf("answer %d of %+v is not a denial for %s", n, got, why)
	}
}

func TestASessionGoesThroughTheSteps(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, run := range map[string]func(*testing.T, *hosted){
		"approved steps are called in order, once":                 testSessionCompletes,
		"arguments may come with their references resolved":        testResolved,
		"a tool that nobody approved is not called":                testOtherTool,
		"a write with other arguments is not made":                 testOtherArguments,
		"a write is not made twice":                                testTwice,
		"a step is not called before its turn":                     testTooEarly,
		"a read's arguments may be the session's own":              testOwnArguments,
		"a read that a write builds on is as approved":             testBuiltOn,
		"calls at once are made in the steps' order":               testAtOnce,
		"a session that leaves steps undone has failed":            testLeavesSteps,
		"a session that ends otherwise has failed":                 testEndsOtherwise,
		"work that is done is done, however its session ended":     testDoneAnyway,
		"a step that people must see waits":                        testSessionGate,
		"a tool that fails ends the session":                       testSessionToolFails,
		"a retry tells its session what is done":                   testSessionRetry,
		"a cancel interrupts the session":                          testSessionCancel,
		"a session whose time is up is told to stop":               testSessionTimeUp,
		"a model of another vendor is refused":                     testOtherVendor,
		"a key that is missing is said":                            testNoKey,
		"a vendor that is busy is waited for":                      testBusy,
		"the agent is made anew when the vendor has it no more":    testAgentGone,
		"the limit of costs is the session's":                      testBudget,
		"two invocations of one run are one at a session":          testTwoAtASession,
		"a tool of an MCP server has a name that the vendor takes": testNames,
		"a run ends before its history is full":                    testManyPauses,
	} {
		t.Run(name, func(t *testing.T) { run(t, newHosted(t, server)) })
	}
}

func testSessionCompletes(t *testing.T, m *hosted) {
	m.agents.Thinks, m.agents.Twice, m.agents.Page = 2, true, 3
	m.approved(m.read(1), m.write(2))
	if next := m.run(); next.State != task.StateFinish {
		t.Errorf("%+v", next)
	}
	e := m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	x := m.session()
	if e.SessionID != x.ID || !e.SessionClosed || e.Summary != "すべてのステップを実行しました。" {
		t.Errorf("session %s, closed %v, summary %q", e.SessionID, e.SessionClosed, e.Summary)
	}
	if len(x.Messages) != 1 || len(x.Answers) != 2 || x.Refused != 0 || x.Interrupts != 0 {
		t.Errorf("told %d times, %d answers, %d refused, %d interrupts", len(x.Messages), len(x.Answers), x.Refused, x.Interrupts)
	}
	if u := e.Usage; u == nil || u.Cost != 30_000 || u.Output != 30 || m.Load().Head.Usage.Cost != 30_000 {
		t.Errorf("usage %+v of %+v", u, m.Load().Head.Usage)
	}
	if slices.ContainsFunc(x.Answers, func(a agents.Answer) bool { return a.Error || !strings.Contains(a.Text, `"done"`) }) {
		t.Errorf("answers %+v", x.Answers)
	}
	if strings.Contains(fmt.Sprint(x.Answers), "佐藤") {
		t.Error("the session saw the list of people")
	}
	if len(x.Made.Agent.Tools) != 2 || x.Made.Agent.Model.ID != "claude-sonnet-4-6" || !strings.Contains(x.Made.Agent.System, "承認された") {
		t.Errorf("made of %+v", x.Made)
	}
}

func testResolved(t *testing.T, m *hosted) {
	rows := func(n string) string {
		return `{"spreadsheet_id":"` + vendors.Sheet + `","sheet":"名簿","columns":[{"key":"n","title":"人数"}],"rows":[{"n":` + n + `}]}`
	}
	m.does(asks(listing, string(m.read(1).ToolInput)), asks(writing, rows("41")), asks(writing, rows("42")), ends)
	m.approved(m.read(1), m.step(2, writing, task.Write, rows(`{"$ref":"step-1.result.count"}`)))
	m.run()
	m.denied(2, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
}

func testOtherTool(t *testing.T, m *hosted) {
	m.does(asks("send_slack_dm", `{"recipient":"x","text":"y"}`), asks(writing, string(m.lone(1).ToolInput)), ends)
	m.approved(m.lone(1))
	m.run()
	m.denied(1, task.DeniedTool)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}

func testOtherArguments(t *testing.T, m *hosted) {
	m.does(asks(writing, strings.Replace(string(m.lone(1).ToolInput), `"a"`, `"b"`, 1)), ends)
	m.approved(m.lone(1))
	m.run()
	m.denied(1, task.DeniedArguments)
	e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	if e.ErrorDetail != "1" {
		t.Errorf("left undone: %s", e.ErrorDetail)
	}
	m.written(0)
}

func testTwice(t *testing.T, m *hosted) {
	input := string(m.lone(1).ToolInput)
	m.does(asks(writing, input), asks(writing, input), agents.Act{Asks: []agents.Ask{{Tool: writing, Input: input}, {Tool: writing, Input: input}}}, ends)
	m.approved(m.lone(1))
	m.run()
	for n := 2; n <= 4; n++ {
		m.denied(n, task.DeniedDone)
	}
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}

func testTooEarly(t *testing.T, m *hosted) {
	m.does(asks(writing, string(m.lone(2).ToolInput)), ends)
	m.approved(m.read(1), m.lone(2))
	m.run()
	m.denied(1, task.DeniedOrder)
	m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	m.written(0)
}

func testOwnArguments(t *testing.T, m *hosted) {
	m.does(asks(listing, `{"status":"every","department":null}`), asks(listing, `{"status":"all","department":null}`), ends)
	m.approved(m.read(1))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	if got := m.Load().Steps[0].Arguments.JSON; !strings.Contains(string(got), `"all"`) {
		t.Errorf("called with %s", got)
	}
}

func testBuiltOn(t *testing.T, m *hosted) {
	m.does(asks(listing, `{"status":"all","department":null}`), ends)
	m.approved(m.read(1), m.write(2))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	if n := m.vendors.Calls(listing); n != 0 {
		t.Errorf("listed %d times", n)
	}
}

func testAtOnce(t *testing.T, m *hosted) {
	m.does(agents.Act{Asks: []agents.Ask{{Tool: writing, Input: string(m.write(2).ToolInput)}, {Tool: listing, Input: string(m.read(1).ToolInput)}}}, ends)
	m.approved(m.read(1), m.write(2))
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
}

func testLeavesSteps(t *testing.T, m *hosted) {
	m.does(asks(listing, string(m.read(1).ToolInput)), ends)
	m.approved(m.read(1), m.write(2), m.lone(3))
	if next := m.run(); next.State != task.StateFail {
		t.Errorf("%+v", next)
	}
	if e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone, task.StepCompleted); e.ErrorDetail != "2, 3" {
		t.Errorf("left undone: %s", e.ErrorDetail)
	}
}

func testEndsOtherwise(t *testing.T, m *hosted) {
	for stop, want := range map[string]task.Reason{
		"retries_exhausted": task.ReasonSessionEnded, "terminated": task.ReasonSessionEnded, "a_new_reason": task.ReasonSessionEnded,
		"budget_reached": task.ReasonCostLimit, "refusal": task.ReasonModelRefused,
	} {
		m.does(agents.Act{Stop: stop})
		another := m.another()
		another.approved(m.lone(1))
		another.run()
		if e := another.Load().Execution(); e.Status != task.ExecutionFailed || e.Error != want {
			t.Errorf("%s: %s for %s, want %s", stop, e.Status, e.Error, want)
		}
	}
	m.written(0)
}

func testDoneAnyway(t *testing.T, m *hosted) {
	m.does(asks(writing, string(m.lone(1).ToolInput)), agents.Act{Stop: "retries_exhausted"})
	m.approved(m.lone(1))
	m.run()
	if e := m.ends(task.ExecutionCompleted, "", task.StepCompleted); !strings.Contains(e.Summary, "完了したステップ") {
		t.Errorf("summary %q", e.Summary)
	}
}

func testSessionGate(t *testing.T, m *hosted) {
	step := m.write(2)
	step.RequiresHumanCheck = true
	m.approved(m.read(1), step)
	for range 2 {
		if next := m.run(); next.State != task.StateAwaitStepApproval || next.Gate != task.GateKey(1, 1, 2) {
			t.Fatalf("%+v", next)
		}
	}
	m.written(0)
	m.Approve()
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	if n := len(m.session().Answers); n != 2 {
		t.Errorf("%d answers", n)
	}
}

func testSessionToolFails(t *testing.T, m *hosted) {
	m.approved(m.lone(1))
	m.vendors.Fail(writing, 500, true)
	m.run()
	m.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
	m.written(1)
	if m.session().Interrupts == 0 {
		t.Error("the session was not told to stop")
	}
}

func testSessionRetry(t *testing.T, m *hosted) {
	m.does(asks(listing, string(m.read(1).ToolInput)), ends)
	m.approved(m.read(1), m.write(2))
	m.run()
	e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone, task.StepCompleted)
	m.agents.Script = nil
	m.Decide(func(a *task.Aggregate) (task.Change, error) {
		return a.RetryExecution(e.ID, pipelinetest.Approver(), pipelinetest.Policy(), m.Now())
	})
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	all := m.agents.Sessions()
	if len(all) != 2 || len(all[1].Answers) != 1 || !strings.Contains(all[1].Messages[0], `"done": true`) {
		t.Errorf("%d sessions", len(all))
	}
	if n := m.vendors.Calls(listing); n != 1 {
		t.Errorf("listed %d times", n)
	}
	if n := m.agents.Made(agents.MakeAgent); n != 1 {
		t.Errorf("%d agents were made", n)
	}
}

func testSessionCancel(t *testing.T, m *hosted) {
	m.agents.Thinks = 1000
	m.approved(m.lone(1))
	looked := 0
	m.agents.Before = func(op string) {
		if looked++; op == agents.ListEvents && looked > 8 && m.Load().Head.Ended == nil {
			m.Cancel()
		}
	}
	if next := m.run(); next.State != task.StateFinish {
		t.Errorf("%+v", next)
	}
	e := m.ends(task.ExecutionCancelled, "")
	if n := m.session().Interrupts; n != 1 || !e.SessionClosed {
		t.Errorf("%d interrupts, closed %v", n, e.SessionClosed)
	}
	m.written(0)
}

func testSessionTimeUp(t *testing.T, m *hosted) {
	m.agents.Thinks = 1000
	m.approved(m.lone(1))
	m.agents.Before = func(op string) {
		if op == agents.ListEvents {
			m.later(12 * time.Hour)
		}
	}
	m.through()
	m.ends(task.ExecutionFailed, task.ReasonTimeout)
	if n := m.session().Interrupts; n != 1 {
		t.Errorf("%d interrupts", n)
	}
}

func testOtherVendor(t *testing.T, m *hosted) {
	m.h.Model = "gpt-5.4"
	m.approved(m.lone(1))
	m.run()
	if e := m.ends(task.ExecutionFailed, task.ReasonSessionModel); e.ErrorDetail != "gpt-5.4" {
		t.Errorf("it says %q", e.ErrorDetail)
	}
	if n := len(m.agents.Sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

func testNoKey(t *testing.T, m *hosted) {
	m.agents.Key = "another"
	m.h.Sessions = managed.New(managed.Config{HTTP: http.DefaultClient, Key: func(context.Context) (string, error) { return "", nil }})
	m.approved(m.lone(1))
	m.run()
	if e := m.ends(task.ExecutionFailed, task.ReasonModelKey); e.ErrorDetail != "anthropic" {
		t.Errorf("it says %q", e.ErrorDetail)
	}
}

func testBusy(t *testing.T, m *hosted) {
	m.approved(m.lone(1))
	for _, op := range []string{agents.MakeAgent, agents.MakeEnvironment, agents.MakeSession, agents.ListSessions, agents.ListEvents, agents.Send, agents.GetSession} {
		m.agents.Fail(op, agents.Fault{Status: 500}, agents.Fault{Status: 529}, agents.Fault{Half: true})
	}
	m.agents.Fail(agents.ListEvents, agents.Fault{Status: 429, RetryAfter: "240"}, agents.Fault{Status: 429, RetryAfter: "240"})
	next := m.run()
	if next.State != task.StatePause || next.WaitSeconds < 200 || next.WaitSeconds > 240 {
		t.Fatalf("%+v", next)
	}
	m.later(5 * time.Minute)
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || x.Refused > 0 {
		t.Errorf("told %d times, %d sends made no sense", len(x.Messages), x.Refused)
	}
}

func testAgentGone(t *testing.T, m *hosted) {
	first := m.another()
	first.approved(m.lone(1))
	first.run()
	m.agents.Forget()
	m.approved(m.lone(1))
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	if n := m.agents.Made(agents.MakeAgent); n != 2 {
		t.Errorf("%d agents were made", n)
	}
}

func testBudget(t *testing.T, m *hosted) {
	settings, err := m.Store.Settings(t.Context(), m.Ref.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	settings.MaxCostUSD = 0.25
	if _, err := m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, task.System(), m.Now()); err != nil {
		t.Fatal(err)
	}
	m.approved(m.lone(1))
	m.run()
	if b := m.session().Made.Budget; b == nil || b.MaxListCost.Amount != "25" {
		t.Errorf("%+v", b)
	}
}

func testManyPauses(t *testing.T, m *hosted) {
	m.agents.Thinks = 1000
	m.h.PollFor = 0
	m.approved(m.lone(1))
	m.run()
	m.Decide(func(a *task.Aggregate) (task.Change, error) { // by a hand in the table
		c, err := a.HoldSession(1, "mine", m.h.Now().Add(time.Second), a.Execution().Lease.LeaseUntil)
		c.Rows[0].(*task.Execution).Pauses = task.MaxSessionPauses - 1
		return c, err
	})
	m.later(time.Minute)
	if _, err := m.try(time.Minute); !errors.Is(err, task.ErrSuperseded) {
		t.Errorf("%v", err)
	}
	if r := m.Load().Effects(m.h.Now()).Run; r == nil || r.Run != 2 {
		t.Fatalf("the next run: %+v", r)
	}
	m.agents.Thinks, m.h.PollFor = 0, time.Minute
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}

func testTwoAtASession(t *testing.T, m *hosted) {
	m.approved(m.read(1), m.write(2))
	met := map[string]bool{}
	m.agents.Before = func(op string) { // another comes while the first one's request is out
		if met[op] {
			return
		}
		if met[op] = true; m.Load().Head.Ended == nil {
			if next := m.run(); next.State != task.StatePause {
				t.Errorf("during %s another goes to %+v", op, next)
			}
		}
	}
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || x.Refused > 0 || len(met) < 6 {
		t.Errorf("told %d times, %d sends made no sense, others came at %v", len(x.Messages), x.Refused, met)
	}
}

func testNames(t *testing.T, _ *hosted) {
	steps := []task.Step{{Tool: "rooms.book"}, {Tool: "rooms_book"}, {Tool: "rooms.book"}}
	want := map[string]string{"rooms.book": "rooms_book", "rooms_book": "rooms_book_2"}
	if d := cmp.Diff(want, namesOf(steps)); d != "" {
		t.Error(d)
	}
}

// A session calls tools of MCP servers by names that the vendor takes, and tells
// their servers nothing of its own.
func TestASessionCallsAServersTools(t *testing.T) {
	meeting := newMeeting(t, pipelinetest.Start(t))
	m := hostedIn(t, meeting.world)
	m.does(asks("rooms_list_rooms", `{"date":"2026-04-02","start":"10:00","end":"11:00"}`), asks("rooms_list_rooms", `{`+at+`}`),
		asks("rooms_book_room", `{"room_id":"fuji","title":"定例",`+at+`}`), ends)
	m.approved(meeting.planned(1, "rooms.list_rooms", `{`+at+`}`), meeting.book(2))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	if n := len(meeting.rooms.Bookings()); n != 1 {
		t.Errorf("%d bookings", n)
	}
}

// through runs and pauses until the run ends.
func (m *hosted) through() task.Next {
	m.T.Helper()
	for {
		next := m.run()
		if next.State != task.StatePause {
			return next
		}
		m.later(time.Duration(next.WaitSeconds) * time.Second)
	}
}

// another is a task of the same tenant.
func (m *hosted) another() *hosted {
	w := &world{World: m.Another(), h: m.h, vendors: m.vendors, tools: m.tools}
	return &hosted{world: w, agents: m.agents}
}
