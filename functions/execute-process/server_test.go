package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
	"ringi/shared/tool/runner"
)

const booking = "rooms.book_room"

// meeting is a world with an MCP server, whose tools an administrator has allowed.
type meeting struct {
	*world
	rooms *vendors.Rooms
	admin mcp.Admin
}

func newMeeting(t *testing.T, server *pipelinetest.Server) *meeting {
	t.Helper()
	m := &meeting{world: newWorld(t, server), rooms: vendors.NewRooms()}
	s := httptest.NewServer(m.rooms)
	t.Cleanup(s.Close)
	reach := outbound.Dialer{Allow: []string{s.Listener.Addr().String()}}.Client()
	real := expect.Value(runner.New(m.h.Catalog, runner.Config{
		Credentials: tokens{m.vendors}, Outbound: reach, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}))(t)
	m.tools.Tools = real
	settings := tenancy.DefaultSettings()
	settings.MCPServers = []tenancy.MCPServer{{Name: "rooms", URL: s.URL}}
	expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, pipelinetest.Approver(), m.Now()))(t)
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
	s := pipelinetest.Step(order, name, spec.Access, input)
	s.ToolVersion = spec.Version()
	return s
}

const at = `"date":"2026-04-01","start":"10:00","end":"11:00"`

func (m *meeting) book(order int) task.Step {
	return m.planned(order, booking, `{"room_id":"fuji",`+at+`,"title":"定例"}`)
}

func TestToolsOfServers(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, run := range map[string]func(*testing.T, *meeting){
		"what is allowed is called, once":                  testBooks,
		"a reference in a write is shown before":           testBooksWhatWasFound,
		"what its server changed is not called and is off": testServerChanged,
		"what was forbidden since is not called":           testForbidden,
		"what was allowed anew since is not called":        testAllowedAnew,
		"what is called elsewhere since is not called":     testMoved,
		"arguments are held against what was allowed":      testPinnedArguments,
	} {
		t.Run(name, func(t *testing.T) { run(t, newMeeting(t, server)) })
	}
}

func testBooks(t *testing.T, m *meeting) {
	m.approved(m.planned(1, "rooms.list_rooms", `{`+at+`}`), m.book(2))
	m.run()
	e := m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	expect.Is(t, len(m.rooms.Bookings()), 1, "bookings")
	expect.Has(t, string(e.Results[1].Result.JSON), `"booking_id":1`, "the result")
}

func testBooksWhatWasFound(t *testing.T, m *meeting) {
	m.approved(m.planned(1, "rooms.list_rooms", `{`+at+`}`),
		m.planned(2, booking, `{"room_id":{"$ref":"step-1.result.rooms.0.id"},`+at+`,"title":"定例"}`))
	expect.Is(t, m.run().State, task.StateAwaitStepApproval)
	a := m.Load()
	g := a.GateOf(a.Execution(), 2)
	expect.That(t, g != nil && strings.Contains(string(g.Arguments.JSON), `"room_id":"fuji"`), "the gate shows %+v", g)
	expect.Is(t, len(m.rooms.Bookings()), 0, "bookings")
}

func testServerChanged(t *testing.T, m *meeting) {
	m.approved(m.book(1))
	m.tools.before = func(tool.Call) { m.rooms.Describe("Books a meeting room and invites everyone.") }
	m.run()
	e := m.ends(task.ExecutionFailed, task.ReasonToolFailed, task.StepFailed)
	expect.That(t, strings.Contains(e.ErrorDetail, "book_room") && strings.Contains(e.ErrorDetail, "許可し直して"),
		"the card says %q", e.ErrorDetail)
	p := m.permission(booking)
	expect.That(t, p.ChangedAt != nil, "the tool is still on")
	expect.Is(t, len(m.rooms.Bookings()), 0, "bookings")
}

func testForbidden(t *testing.T, m *meeting) {
	m.approved(m.book(1))
	expect.NoError(t, m.admin.Forbid(t.Context(), m.Ref.Tenant, booking, aggregate.System()))
	m.tools.before = func(tool.Call) { t.Error("it was called") }
	m.run()
	m.ends(task.ExecutionFailed, task.ReasonToolNotAllowed)
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

func testMoved(t *testing.T, m *meeting) {
	m.approved(m.book(1))
	settings := expect.Value(m.Store.Settings(t.Context(), m.Ref.Tenant))(t)
	settings.MCPServers[0].URL = "https://example.com/mcp"
	expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, pipelinetest.Approver(), m.Now()))(t)
	m.tools.before = func(tool.Call) { t.Error("it was called") }
	m.run()
	m.ends(task.ExecutionFailed, task.ReasonToolChanged)
}

func testPinnedArguments(t *testing.T, m *meeting) {
	m.approved(m.planned(1, booking, `{"room_id":5}`))
	m.tools.before = func(tool.Call) { t.Error("it was called") }
	m.run()
	m.ends(task.ExecutionFailed, task.ReasonBadArguments)
}

// If an invocation dies during a call, nobody repeats the write.
func TestAServersWriteIsNeverMadeTwice(t *testing.T) {
	m := newMeeting(t, pipelinetest.Start(t))
	m.approved(m.book(1))
	real := m.tools.Tools
	m.tools.Tools = toolsFunc(func(ctx context.Context, c tool.Call) (json.RawMessage, error) {
		_, err := real.Run(ctx, c)
		expect.That(t, err == nil, "%v", err)
		panic("it dies")
	})
	m.run()
	m.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
	expect.Is(t, len(m.rooms.Bookings()), 1, "bookings")
}

type toolsFunc func(ctx context.Context, c tool.Call) (json.RawMessage, error)

func (f toolsFunc) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) { return f(ctx, c) }
