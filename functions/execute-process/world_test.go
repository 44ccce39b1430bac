package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors"
	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

// Tests mostly wait for the table, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const (
	listing = "list_employees"
	writing = "write_rows_to_google_sheet"
)

// world is a task whose steps are approved, with the vendors that they call.
type world struct {
	*ringitest.World
	h       *Handler
	vendors *vendors.Vendors
	tools   *tools
	asking  people.Requesters
	ahead   *atomic.Int64 // how far the handler's clock is ahead of the real one
	dies    *ringitest.Death
}

// tools are the real ones, with a hook before each call.
type tools struct {
	tool.Runner
	before func(c tool.Call)
	sees   bool // whether a write can be looked for, as not every vendor lets one
}

func (t *tools) Look(ctx context.Context, c tool.Call) (json.RawMessage, bool) {
	if !t.sees {
		return nil, false
	}
	if t.before != nil {
		t.before(c)
	}
	return t.Runner.Look(ctx, c)
}

func (t *tools) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	if t.before != nil {
		t.before(c)
	}
	return t.Runner.Run(ctx, c)
}

type tokens struct{ *vendors.Vendors }

func (t tokens) Token(_ context.Context, _, provider string) (string, error) {
	return t.Vendors.Grant(provider).Access, nil
}

func (t tokens) ServerToken(context.Context, string, tenancy.MCPServer) (string, error) {
	return "", nil
}

func (t tokens) Renew(_ context.Context, _, _, _ string) (string, error) {
	return "", aggregate.ErrNotFound
}

func (t tokens) Refused(_ context.Context, _, _, _ string) error { return nil }

func newWorld(t *testing.T, dies ...*ringitest.Death) *world {
	t.Helper()
	w := &world{World: ringitest.Start(t).World(t), vendors: vendors.New(), ahead: &atomic.Int64{},
		dies: append(dies, &ringitest.Death{})[0]}
	w.Over(w.dies)
	s := expect.Server(t, w.vendors.Handler())
	catalog := expect.Value(tool.Builtin())(t)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	real := expect.Value(runner.New(catalog, runner.Config{
		FreeeURL: s.URL + "/freee/hr", SheetsURL: s.URL + "/sheets", Credentials: tokens{w.vendors},
		Slack: func(context.Context, string) (string, string, error) {
			return "xoxb-token", s.URL + "/", nil
		},
		Company: func(context.Context, string) (string, error) { return "", nil }, Now: time.Now, Log: quiet,
	}))(t)
	w.tools = &tools{Runner: real}
	w.h = &Handler{
		Store: w.StoreOverTransport(), Results: w.Results(), Tools: w.tools, Catalog: catalog,
		Open: func(string) (model.Wire, error) { return demo.Layers{}, nil },
		Approvable: func(ctx context.Context, _ aggregate.Ref, o aggregate.Origin, s tenancy.Settings, asker string) error {
			return w.asking.Somebody(ctx, ringitest.Workspace{ID: ringitest.Team}, o, s, time.Now(), asker)
		},
		Model: "demo", Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }, NewID: aggregate.NewID,
		PollEvery: 20 * time.Millisecond,
	}
	return w
}

// read lists the employees; the list is too large for a row.
func (w *world) read(order int) task.Step {
	return w.step(order, listing, aggregate.Read, `{"department":null,"status":"active"}`)
}

// write writes the first step's result.
func (w *world) write(order int) task.Step {
	return w.step(order, writing, aggregate.Write,
		`{"spreadsheet_id":"`+vendors.Sheet+`","sheet":"名簿","columns":[{"key":"display_name","title":"氏名"}],`+
			`"rows":{"$ref":"step-1.result.employees"}}`)
}

// lone writes two rows of its own.
func (w *world) lone(order int) task.Step {
	return w.step(order, writing, aggregate.Write,
		`{"spreadsheet_id":"`+vendors.Sheet+`","sheet":"名簿","columns":[{"key":"n","title":"氏名"}],`+
			`"rows":[{"n":"a"},{"n":"b"}]}`)
}

func (w *world) step(order int, name string, access aggregate.Access, input string) task.Step {
	s := ringitest.Step(order, name, access, input)
	spec, ok := w.h.Catalog.Lookup(name)
	expect.Must(w.T, ok, "no tool %s", name)
	s.ToolVersion = spec.Version()
	return s
}

// approved brings the task to the execution of the given steps.
func (w *world) approved(steps ...task.Step) {
	w.T.Helper()
	w.Approved(tenancy.DefaultSettings(), steps...)
}

// later moves the handler's clock forward.
func (w *world) later(d time.Duration) { w.ahead.Add(int64(d)) }

// try runs one invocation with this much time.
func (w *world) try(within time.Duration) (aggregate.Next, error) {
	ctx, cancel := context.WithTimeout(w.T.Context(), within)
	defer cancel()
	return w.h.Handle(ctx, w.In())
}

// functionTime is the function's timeout in template.yaml.
const functionTime = 150 * time.Second

// run runs an invocation that must succeed.
func (w *world) run() aggregate.Next {
	w.T.Helper()
	return w.goesWell(func() (aggregate.Next, error) { return w.try(functionTime) })
}

// goesWell invokes the function. Like the state machine, it retries if a busy machine took too long for a commit.
func (w *world) goesWell(invoke func() (aggregate.Next, error)) aggregate.Next {
	w.T.Helper()
	for range 5 {
		began := time.Now()
		next, err := invoke()
		if err == nil {
			return next
		}
		expect.Must(w.T, pipeline.Name(err) == pipeline.Unavailable && time.Since(began) >= claimWithin/2, "%v", err)
		w.T.Logf("called again: %v", err)
	}
	w.T.Fatal("the table is never available")
	return aggregate.Next{}
}

// ends checks how the execution and each of its steps ended.
func (w *world) ends(status task.ExecutionStatus, why aggregate.Reason, steps ...task.StepStatus) *task.Execution {
	w.T.Helper()
	a := w.Load()
	e := a.Execution()
	expect.That(w.T, e.Status == status && e.Error == why,
		"the execution is %s for %q (%s), want %s for %q", e.Status, e.Error, e.ErrorDetail, status, why)
	got := a.StepsOf(e)
	expect.Must(w.T, len(got) == len(steps), "%d steps have begun, want %d", len(got), len(steps))
	for i, s := range got {
		expect.Is(w.T, s.Status, steps[i], "step %d", i+1)
	}
	return e
}

// written checks the number of calls that wrote.
func (w *world) written(calls int) {
	w.T.Helper()
	expect.Is(w.T, w.vendors.Calls(writing), calls, "calls wrote")
}

// sessionWorld is a world whose steps a managed session runs.
type sessionWorld struct {
	*world
	agents *models.Server
}

func newSessionWorld(t *testing.T, dies ...*ringitest.Death) *sessionWorld {
	t.Helper()
	m := &sessionWorld{world: newWorld(t, dies...), agents: models.NewAgents()}
	s := expect.Server(t, m.agents)
	m.h.Sessions = provider.NewManaged(provider.ManagedConfig{BaseURL: s.URL,
		HTTP: &http.Client{Transport: m.dies.Over(http.DefaultTransport)},
		Key:  func(context.Context) (string, error) { return m.agents.Key, nil }})
	m.h.Model, m.h.PollEvery, m.h.PollFor, m.h.HoldFor = "claude-sonnet-4-6", time.Millisecond, time.Minute, 30*time.Second
	tenant := tenancy.Tenant{ID: m.Ref.Tenant, Name: "Ringi", TeamID: ringitest.Team, Admins: []string{}}
	expect.Value(m.Store.Bootstrap(t.Context(), tenant, m.Now()))(t)
	return m
}

// approved brings the task to the execution of the given steps by a session.
func (m *sessionWorld) approved(steps ...task.Step) {
	m.T.Helper()
	s := tenancy.DefaultSettings()
	s.Executor, s.L4TimeoutSeconds = tenancy.ExecutorManaged, 86400
	m.Approved(s, steps...)
}

// session returns the only session.
func (m *sessionWorld) session() *models.Session {
	m.T.Helper()
	all := m.agents.Sessions()
	expect.Must(m.T, len(all) == 1, "%d sessions were made", len(all))
	return all[0]
}

// does scripts the agent.
func (m *sessionWorld) does(acts ...models.Act) {
	m.agents.Script = func([]models.Step) []models.Act { return acts }
}

func asks(tool, input string) models.Act {
	return models.Act{Asks: []models.Ask{{Tool: tool, Input: input}}}
}

var ends = models.Act{Says: "終わりました。", Stop: "end_turn"}

// leaseUntil returns when the lease of the newest attempt's session ends.
func (m *sessionWorld) leaseUntil() time.Time {
	a := m.Load()
	return a.SessionLease(a.Execution()).LeaseUntil
}

// through runs and pauses until the run ends.
func (m *sessionWorld) through() {
	m.T.Helper()
	for next := m.run(); next.State == task.StatePause; next = m.run() {
		m.later(time.Duration(next.WaitSeconds) * time.Second)
	}
}

// another returns a further task of the same tenant.
func (m *sessionWorld) another() *sessionWorld {
	return &sessionWorld{world: m.world.another(), agents: m.agents}
}

// another returns a further task of the same tenant, for the same handler.
func (w *world) another() *world {
	return &world{World: w.Another(), h: w.h, vendors: w.vendors, tools: w.tools, dies: w.dies, ahead: w.ahead}
}

// each runs tests at once, which mostly wait, each with its own world.
func each(t *testing.T, tests map[string]func(*testing.T, *world)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t))
		})
	}
}

func (w *world) retry(e *task.Execution) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RetryExecution(e.ID, ringitest.Approver(), ringitest.Policy(), w.h.Now())
	})
}

// survives runs invocations until the execution ends, the first of which may die.
func (w *world) survives() *task.Execution {
	w.T.Helper()
	for try := 0; ; try++ {
		ctx, cancel := context.WithTimeout(w.T.Context(), functionTime)
		w.dies.Then = cancel
		_, _ = w.h.Handle(ctx, w.In()) // an error is retried, too
		cancel()
		w.dies.Live()
		a := w.Load()
		if s := a.Next(w.h.Now()).State; s == task.StateFinish || s == task.StateFail {
			return a.Execution()
		}
		expect.Must(w.T, try != 8, "it does not end: %+v", a.Execution())
		w.later(2 * time.Minute)
	}
}
