package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
	"ringi/shared/tool/runner"
)

func TestExecute(t *testing.T) {
	each(t, map[string]func(*testing.T, *world){
		"approved steps are called in order, once":                 testCompletes,
		"a step that a person must see waits with its arguments":   testGate,
		"a step that nobody may approve stops, until somebody may": testGateOfNobody,
		"a tool that is not allowed is not called":                 testNotAllowed,
		"an execution whose time is up fails":                      testTimeUp,
		"a run that is not the head's calls nothing":               testSuperseded,
		"no call begins without time for it":                       testNoTime,
		"work that is done does not fail for want of words":        testNoWords,
		"a step that needs an expired result says so":              testExpiredResult,
	})
}

func testCompletes(t *testing.T, w *world) {
	w.approved(w.read(1), w.write(2))
	expect.Is(t, w.run().State, task.StateFinish)
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	expect.That(t, e.Summary != "", "summary %q", e.Summary)
	expect.That(t, len(e.Results) == 2 && e.Results[0].Result.S3Key != "",
		"the list of employees is not in the bucket: %+v", e.Results)
	w.written(1)
	expect.Is(t, len(w.vendors.Rows("名簿")), 43, "rows in the sheet, want a title and 42")
}

func testGate(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	for range 2 {
		next := w.run()
		expect.Must(t, next.State == task.StateAwaitStepApproval && next.Gate == task.GateKey(1, 1, 2), "%+v", next)
	}
	w.written(0)
	stamped := map[string][]string{}
	w.tools.before = func(c tool.Call) { stamped[c.Tool] = append([]string{c.Asked}, c.Stamped...) }
	if g := w.Load().Gates[0]; strings.Contains(string(g.Arguments.JSON), "$ref") {
		t.Errorf("the arguments are not resolved: %+v", g.Arguments)
	}
	w.Approve()
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
	a := w.Load()
	expect.Same(t, []string{a.Head.Requester, a.Gates[0].ApprovedBy}, stamped[writing])
	expect.That(t, stamped[writing][0] != "" && stamped[writing][1] != "", "the call knows nobody: %v", stamped)
}

// The settings changed after the steps were approved. While Slack can't be asked who is listed, the gate opens.
func testGateOfNobody(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	w.Settings(func(s *tenancy.Settings) {
		s.AllowSelfApproval, s.Approvers = false, tenancy.Approvers{Mode: aggregate.ApproversList,
			Users: []string{ringitest.Requester}, Usergroups: []string{}}
	})
	w.run()
	e := w.ends(task.ExecutionFailed, task.ReasonNobodyApproves, task.StepCompleted)
	text := explain.Ended("ja", e.Error, "", explain.RetryRun)
	expect.That(t, strings.Contains(text, "管理者に、設定の") && len(w.Load().Gates) == 0, "%d gates, and it says %s",
		len(w.Load().Gates), text)
	w.h.Approvable = func(context.Context, aggregate.Ref, aggregate.Origin, tenancy.Settings, string) error {
		return explain.ErrUnverified
	}
	w.retry(e)
	expect.Is(t, w.run().State, task.StateAwaitStepApproval)
	w.written(0)
}

func testNotAllowed(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.tools.before = func(tool.Call) { t.Error("it was called") }
	w.forbid(writing)
	expect.Is(t, w.run().State, task.StateFail)
	w.ends(task.ExecutionFailed, task.ReasonToolNotAllowed)
}

func testTimeUp(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	s.L4TimeoutSeconds = 45
	w.Approved(s, w.read(1), w.lone(2))
	w.h.Tools = &slow{Runner: w.h.Tools, w: w, takes: 50 * time.Second}
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonTimeout, task.StepCompleted)
	w.written(0)
}

func testSuperseded(t *testing.T, w *world) {
	w.approved(w.lone(1))
	in := w.In()
	w.Restart()
	expect.Fails(t, expect.Err(w.h.Handle(t.Context(), in)), aggregate.ErrSuperseded)
	w.written(0)
}

func testNoTime(t *testing.T, w *world) {
	w.approved(w.lone(1))
	next, err := w.try(minTurn - time.Second)
	expect.That(t, err == nil && next.State == task.StateExecuteProcess, "%+v, %v, want to come round again", next, err)
	w.ends(task.ExecutionRunning, "")
	w.written(0)
}

type broken struct{}

func (broken) Say(context.Context, model.Request) (model.Response, error) { panic(ringitest.Text) }

func testNoWords(t *testing.T, w *world) {
	for name, open := range map[string]func(string) (model.Wire, error){
		"no such model":      func(string) (model.Wire, error) { return nil, &model.Error{Kind: model.UnknownModel} },
		"a model that fails": func(string) (model.Wire, error) { return broken{}, nil },
	} {
		w := w.another()
		w.h.Open = open
		w.approved(w.read(1))
		w.run()
		expect.Has(t, w.ends(task.ExecutionCompleted, "", task.StepCompleted).Summary, listing, "%s: summary", name)
	}
}

// testExpiredResult: between the read and the write, the read's result expires and is deleted.
func testExpiredResult(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	w.run()
	e := w.Load().Execution()
	result := w.Load().StepOf(e, 1).Result
	expect.Value(w.S3().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.Bucket, Key: &result.S3Key}))(t)
	w.Approve()
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonResultExpired, task.StepCompleted)
	w.written(0)
}

// settledForm brings a form to its execution, which no model and no session may carry out.
func settledForm(t *testing.T, dies ...*ringitest.Death) *world {
	w := newWorld(t, dies...)
	w.h.Open = func(string) (model.Wire, error) { t.Error("a model is asked"); return nil, nil }
	w.ReceiveForm()
	spec, _ := w.h.Catalog.Lookup(tenancy.DecideTool)
	s := tenancy.DefaultSettings()
	s.Executor, s.AutoApproveTools, s.MaxCostUSD = tenancy.ExecutorManaged, false, 0.01
	w.Approved(s, ringitest.Form.Steps("ja", spec.Version())...)
	return w
}

// recorded checks that the decision has the only number, as its result.
func (w *world) recorded() {
	w.T.Helper()
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	numbers, of := w.given()
	expect.Same(w.T, []int{1}, numbers)
	row := w.Load().StepOf(e, 1)
	expect.That(w.T, of[0].TaskID == w.Ref.ID && row.Result != nil &&
		string(row.Result.JSON) == `{"number":"`+of[0].String()+`"}` && row.Claim == nil, "%+v", row)
	for _, told := range []string{of[0].String(), "「" + ringitest.Form.Title + "」"} {
		expect.Has(w.T, e.Summary, told, "the end, as the asker's message and the page show it")
	}
}

// Wherever the function dies, the decision has one number when it was called again.
func TestADecisionIsRecordedOnceWhereverItDies(t *testing.T) {
	t.Parallel()
	ringitest.EachDeath(t, func(d *ringitest.Death) {
		w := settledForm(t, d)
		w.survives()
		w.recorded()
	})
}

func TestADecisionHasNoNumberBeforeItIsRecorded(t *testing.T) {
	w := settledForm(t)
	expect.Value(w.try(minTurn - time.Second))(t)
	numbers, _ := w.given()
	expect.That(t, len(numbers) == 0 && w.Load().Execution().Status == task.ExecutionPending, "%v", numbers)
	w.run()
	w.recorded()
}

const booking = "rooms.book_room"

// meeting is a world with an MCP server, whose tools an administrator has allowed.
type meeting struct {
	*world
	rooms *vendors.Rooms
	admin mcp.Admin
}

func newMeeting(t *testing.T) *meeting {
	t.Helper()
	m := &meeting{world: newWorld(t), rooms: vendors.NewRooms()}
	s := expect.Server(t, m.rooms)
	reach := outbound.Dialer{Allow: []string{s.Listener.Addr().String()}}.Client()
	real := expect.Value(runner.New(m.h.Catalog, runner.Config{Credentials: tokens{m.vendors}, Outbound: reach,
		Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}))(t)
	m.tools.Runner = real
	settings := tenancy.DefaultSettings()
	settings.MCPServers = []tenancy.MCPServer{{Name: "rooms", URL: s.URL}}
	expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, ringitest.Approver(), m.Now()))(t)
	m.admin = mcp.Admin{Rows: m.Store, Credentials: tokens{m.vendors}, Client: mcp.Client{HTTP: reach}, Now: time.Now}
	m.allow(booking, aggregate.Write)
	m.allow("rooms.list_rooms", aggregate.Read)
	return m
}

func (m *meeting) allow(name string, access aggregate.Access) {
	m.T.Helper()
	all := expect.Value(m.admin.Tools(m.T.Context(), m.Ref.Tenant, "rooms"))(m.T)
	for _, x := range all {
		if x.Name == name {
			expect.NoError(m.T, m.admin.Allow(m.T.Context(), m.Ref.Tenant, name, x.Hash, access, aggregate.System()))
			return
		}
	}
	m.T.Fatalf("the server has no %s", name)
}

func (m *meeting) permission(name string) tenancy.ToolPermission {
	m.T.Helper()
	p, _, err := m.Store.ToolPermission(m.T.Context(), m.Ref.Tenant, name)
	expect.NoError(m.T, err)
	return p
}

// planned returns a step that the model plans with the tools that are allowed now.
func (m *meeting) planned(order int, name, input string) task.Step {
	m.T.Helper()
	settings := expect.Value(m.Store.Settings(m.T.Context(), m.Ref.Tenant))(m.T)
	spec, ok := tool.Pinned(m.permission(name), settings.MCPServers)
	expect.Must(m.T, ok, "%s is not allowed", name)
	s := ringitest.Step(order, name, spec.Access, input)
	s.ToolVersion = spec.Version()
	return s
}

const at = `"date":"2026-04-01","start":"10:00","end":"11:00"`

func (m *meeting) book(order int) task.Step {
	return m.planned(order, booking, `{"room_id":"fuji",`+at+`,"title":"定例"}`)
}

func TestToolsOfServers(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*testing.T, *meeting){
		"what is allowed is called, once":                  testBooks,
		"what its server changed is not called and is off": testServerChanged,
		"what was allowed anew since is not called":        testAllowedAnew,
	} {
		t.Run(name, func(t *testing.T) { run(t, newMeeting(t)) })
	}
}

func testBooks(t *testing.T, m *meeting) {
	m.approved(m.planned(1, "rooms.list_rooms", `{`+at+`}`), m.book(2))
	m.run()
	e := m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	expect.Is(t, len(m.rooms.Bookings()), 1, "bookings")
	expect.Has(t, string(e.Results[1].Result.JSON), `"booking_id":1`, "the result")
}

func testServerChanged(t *testing.T, m *meeting) {
	m.approved(m.book(1))
	m.tools.before = func(tool.Call) { m.rooms.Describe("Books a meeting room and invites everyone.") }
	m.run()
	e := m.ends(task.ExecutionFailed, task.ReasonToolFailed, task.StepFailed)
	expect.That(t, strings.Contains(e.ErrorDetail, "book_room") && strings.Contains(e.ErrorDetail, "許可し直して"),
		"the card says %q", e.ErrorDetail)
	expect.That(t, m.permission(booking).ChangedAt != nil, "the tool is still on")
	expect.Is(t, len(m.rooms.Bookings()), 0, "bookings")
}

// People approved the steps before the tool changed.
func testAllowedAnew(t *testing.T, m *meeting) {
	m.approved(m.book(1))
	m.rooms.Describe("Books a meeting room and invites everyone.")
	m.allow(booking, aggregate.Write)
	m.tools.before = func(tool.Call) { t.Error("it was called") }
	m.run()
	m.ends(task.ExecutionFailed, task.ReasonToolChanged)
}

// span is an invocation with the function's full time, by the handler's clock.
type span struct {
	context.Context
	w   *world
	end time.Time // by the handler's clock
}

func (w *world) span() span { return span{w.T.Context(), w, w.h.Now().Add(functionTime)} }

// Deadline uses the real clock, as contexts do.
func (s span) Deadline() (time.Time, bool) { return time.Now().Add(s.end.Sub(s.w.h.Now())), true }

// slow are tools whose calls take some time by the handler's clock.
type slow struct {
	tool.Runner
	w     *world
	takes time.Duration
	had   []time.Duration // the time that each call had

	begun, until time.Time // the last call's time, by the real clock
}

func (s *slow) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	a := s.w.Load()
	held := a.StepOf(a.Execution(), a.NextStep(a.Execution()).Order)
	has := held.Claim.LeaseUntil.Add(-claimSpare).Sub(s.w.h.Now())
	s.had = append(s.had, has)
	s.begun = time.Now()
	s.until, _ = ctx.Deadline()
	if has < s.takes {
		s.w.later(has)
		return nil, &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemTimeout,
			Detail: "it took too long"}
	}
	v, err := s.Runner.Run(ctx, c)
	s.w.later(s.takes)
	return v, err
}

// whole checks that each of n calls had its tool's full timeout, except for the time of a claim.
func (s *slow) whole(t *testing.T, n int, timeout time.Duration) {
	t.Helper()
	expect.Is(t, len(s.had), n, "calls")
	for i, had := range s.had {
		expect.That(t, had >= timeout-2*claimWithin, "call %d had %s of its %s", i+1, had, timeout)
	}
}

// rounds invokes the function as the state machine does, until the next state is another.
func (w *world) rounds() (n int, next aggregate.Next) {
	w.T.Helper()
	for n = 1; n < 20; n++ {
		next = w.goesWell(func() (aggregate.Next, error) { return w.h.Handle(w.span(), w.In()) })
		if next.State == task.StatePause {
			w.later(time.Duration(next.WaitSeconds) * time.Second)
		} else if next.State != task.StateExecuteProcess {
			return n, next
		}
	}
	w.T.Fatalf("it goes round and round: %+v", next)
	return n, next
}

func TestACallHasItsToolsWholeTimeout(t *testing.T) {
	t.Parallel()
	t.Run("five reads of 30 s each", func(t *testing.T) {
		w := newWorld(t)
		s := &slow{Runner: w.h.Tools, w: w, takes: 30 * time.Second}
		w.h.Tools = s
		w.approved(w.read(1), w.read(2), w.read(3), w.read(4), w.read(5))
		n, next := w.rounds()
		expect.That(t, n == 2 && next.State == task.StateFinish, "after %d invocations: %+v", n, next)
		w.ends(task.ExecutionCompleted, "", slices.Repeat([]task.StepStatus{task.StepCompleted}, 5)...)
		s.whole(t, 5, time.Minute)
	})
	t.Run("a fresh invocation gives what it has", func(t *testing.T) {
		w := newWorld(t)
		s := &slow{Runner: w.h.Tools, w: w, takes: time.Second}
		w.h.Tools = s
		w.approved(w.lone(1), w.lone(2))
		ctx := w.span()
		ctx.end = w.h.Now().Add(40 * time.Second)
		next, err := w.h.Handle(ctx, w.In())
		expect.That(t, err == nil && next.State == task.StateExecuteProcess, "%+v, %v, want to come round again", next, err)
		w.ends(task.ExecutionRunning, "", task.StepCompleted)
		expect.That(t, len(s.had) == 1 && s.had[0] <= 25*time.Second && s.had[0] >= 20*time.Second, "calls had %s", s.had)
	})
}
