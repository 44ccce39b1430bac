package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
)

type secrets map[string]string

func (s secrets) ServerToken(_ context.Context, _ string, server tenancy.MCPServer) (string, error) {
	provider := server.Provider()
	if s[provider] == "" {
		return "", fmt.Errorf("find %s: %w", provider, aggregate.ErrNotFound)
	}
	return s[provider], nil
}

var admin = aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}

// office is an administrator whose tenant names one server.
type office struct {
	mcp.Admin
	t      *testing.T
	rows   *store.TaskStore
	tenant string
	tools  *changing
}

func newOffice(t *testing.T, server *storetest.Server, tools ...*sdk.Tool) *office {
	t.Helper()
	o := &office{t: t, tenant: aggregate.TenantID("T0TEST"), tools: &changing{}}
	o.tools.set(tools...)
	v := newVendor(t, o.tools)
	o.rows, _ = server.Store(t)
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	o.Admin = mcp.Admin{Rows: o.rows, Credentials: secrets{"mcp:rooms": secret}, Client: client(v.URL),
		Now: func() time.Time { return now }}
	o.name(v.MCPServer)
	return o
}

// name sets the servers in the settings.
func (o *office) name(servers ...tenancy.MCPServer) {
	o.t.Helper()
	x := expect.Value(o.rows.Settings(o.t.Context(), o.tenant))(o.t)
	x.MCPServers = servers
	expect.Value(o.rows.SaveSettings(o.t.Context(), o.tenant, x, admin, o.Now()))(o.t)
}

func (o *office) list() []mcp.Listed {
	o.t.Helper()
	return expect.Value(o.Tools(o.t.Context(), o.tenant, "rooms"))(o.t)
}

// states returns the states of the tools by name.
func (o *office) states() map[string]mcp.State {
	o.t.Helper()
	states := map[string]mcp.State{}
	for _, x := range o.list() {
		states[x.Name] = x.State
	}
	return states
}

// offered returns the tools that a plan may use now.
func (o *office) offered() []string {
	o.t.Helper()
	settings := expect.Value(o.rows.Settings(o.t.Context(), o.tenant))(o.t)
	permissions := expect.Value(o.rows.ToolPermissions(o.t.Context(), o.tenant))(o.t)
	var names []string
	for _, p := range permissions {
		if s, ok := tool.Pinned(p, settings.MCPServers); ok {
			names = append(names, s.Name+" "+string(s.Access))
		}
	}
	return names
}

func (o *office) allow(name string, access aggregate.Access) {
	o.t.Helper()
	for _, x := range o.list() {
		if x.Name == name {
			expect.NoError(o.t, o.Allow(o.t.Context(), o.tenant, name, x.Hash, access, admin))
			return
		}
	}
	o.t.Fatalf("there is no %s", name)
}

func (o *office) want(states map[string]mcp.State, offered ...string) {
	o.t.Helper()
	expect.Same(o.t, states, o.states())
	expect.Same(o.t, offered, o.offered())
}

func plain(name, description string) *sdk.Tool {
	return &sdk.Tool{Name: name, Description: description, InputSchema: map[string]any{"type": "object"},
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}
}

func TestDesk(t *testing.T) {
	server := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *storetest.Server){
		"a tool is off until it is allowed": testAllow,
		"a tool that changed is off":        testChange,
		"what was shown is what is allowed": testShown,
		"what contests may call":            testForContests,
		"a mark is of one version":          testMarked,
		"tools that can't be allowed":       testUnfit,
		"not more than a model can be told": testTooMuch,
		"a server that is named no longer":  testNotNamed,
		"a server that asks for a secret":   testAway,
		"a door of Ringi can't be allowed":  testDoor,
	} {
		t.Run(name, func(t *testing.T) { run(t, server) })
	}
}

func testAllow(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("list", "Lists."), plain("book", "Books."))
	o.want(map[string]mcp.State{"rooms.list": mcp.Off, "rooms.book": mcp.Off})
	o.allow("rooms.list", aggregate.Read)
	o.allow("rooms.book", aggregate.Write)
	o.want(map[string]mcp.State{"rooms.list": mcp.On, "rooms.book": mcp.On}, "rooms.book write", "rooms.list read")
	for range 2 {
		expect.NoError(t, o.Forbid(t.Context(), o.tenant, "rooms.list", admin))
	}
	o.want(map[string]mcp.State{"rooms.list": mcp.Off, "rooms.book": mcp.On}, "rooms.book write")
	err := o.Allow(t.Context(), o.tenant, "send_slack_dm", "", aggregate.Read, admin)
	expect.That(t, err != nil, "a tool of Ringi's own was pinned")
	err = o.Allow(t.Context(), o.tenant, "rooms.list", o.list()[1].Hash, "none", admin)
	expect.That(t, err != nil, "a tool was allowed without an effect")
}

func testChange(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("list", "Lists."), plain("book", "Books."))
	o.allow("rooms.list", aggregate.Read)
	o.allow("rooms.book", aggregate.Write)
	o.tools.set(plain("list", "Lists, and tells everyone."))
	p, _, err := o.rows.ToolPermission(t.Context(), o.tenant, "rooms.list")
	expect.NoError(t, err)
	if err := o.rows.NoteToolChanged(t.Context(), p, o.Now()); err != nil { // as a task does when it finds the change
		t.Fatal(err)
	}
	o.want(map[string]mcp.State{"rooms.list": mcp.Changed, "rooms.book": mcp.Gone}, "rooms.book write")
	o.tools.set(plain("list", "Lists."), plain("book", "Books.")) // as it was, but nobody has looked at it since
	o.want(map[string]mcp.State{"rooms.list": mcp.Changed, "rooms.book": mcp.On}, "rooms.book write")
	o.allow("rooms.list", aggregate.Write)
	o.want(map[string]mcp.State{"rooms.list": mcp.On, "rooms.book": mcp.On}, "rooms.book write", "rooms.list write")
}

// A mark stays when its tool is allowed again, for an administrator to look at; until it is saved again, it counts only
// if the tool is what it was. A tool that only reads keeps none.
func testMarked(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("book", "Books."))
	row := func() tenancy.ToolPermission {
		p, _, err := o.rows.ToolPermission(t.Context(), o.tenant, "rooms.book")
		expect.NoError(t, err)
		return p
	}
	amount := func() rules.Amount {
		p := row()
		return p.Call(p.Pin.Version(), p.Pin.Access, `{"price":5}`, p.Mark).Amount
	}
	o.allow("rooms.book", aggregate.Write)
	p := row()
	p.Mark = &rules.Mark{Version: p.Pin.Version(), How: rules.HowSum, Pointers: []string{"/price"}, Currency: "JPY"}
	expect.Value(o.rows.SaveToolPermission(t.Context(), p, admin, o.Now()))(t)
	want := rules.Amount{Value: "5", Currency: "JPY"}
	expect.Same(t, amount(), want)
	expect.NoError(t, o.Forbid(t.Context(), o.tenant, "rooms.book", admin))
	o.allow("rooms.book", aggregate.Write)
	expect.Same(t, amount(), want)
	was := row().Pin
	o.tools.set(plain("book", "Books, for more."))
	o.allow("rooms.book", aggregate.Write)
	expect.Same(t, amount(), rules.Unknown(rules.WhyMark))
	expect.Is(t, row().Mark.Version, was.Version())
	o.allow("rooms.book", aggregate.Read)
	expect.That(t, row().Mark == nil, "a tool that reads has %+v", row().Mark)
}

func testShown(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("list", "Lists."))
	shown := o.list()[0].Hash
	o.tools.set(plain("list", "Deletes."))
	expect.Fails(t, o.Allow(t.Context(), o.tenant, "rooms.list", shown, aggregate.Read, admin), mcp.ErrChanged)
	got := o.offered()
	expect.That(t, got == nil, "offered: %v", got)
}

func testUnfit(t *testing.T, server *storetest.Server) {
	loop := plain("loop", "")
	loop.InputSchema = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#"}}}
	far := plain("far", "")
	far.InputSchema = map[string]any{"type": "object", "$ref": "https://example.com/schema"}
	large := plain("large", "")
	large.InputSchema = map[string]any{"type": "object", "description": strings.Repeat("x", mcp.MaxSchema)}
	result := plain("result", "")
	result.OutputSchema = map[string]any{"type": "object", "$ref": "file:///etc/passwd"}
	o := newOffice(t, server, loop, far, large, result, plain("long", strings.Repeat("あ", mcp.MaxDescription+1)),
		plain("fits", strings.Repeat("あ", mcp.MaxDescription)))
	o.want(map[string]mcp.State{
		"rooms.loop": mcp.Unfit, "rooms.far": mcp.Unfit, "rooms.large": mcp.Unfit, "rooms.result": mcp.Unfit,
		"rooms.long": mcp.Unfit, "rooms.fits": mcp.Off,
	})
	for _, x := range o.list() {
		err := o.Allow(t.Context(), o.tenant, x.Name, x.Hash, aggregate.Read, admin)
		expect.Is(t, x.Name == "rooms.fits", err == nil, "%s: %v", x.Name, err)
	}
}

func testTooMuch(t *testing.T, server *storetest.Server) {
	var tools []*sdk.Tool
	const each = mcp.MaxSchema - 200
	for i := range mcp.MaxAllowed/each + 1 {
		x := plain(fmt.Sprintf("t%d", i), "")
		x.InputSchema = map[string]any{"type": "object", "description": strings.Repeat("x", each)}
		tools = append(tools, x)
	}
	o := newOffice(t, server, tools...)
	for i, x := range o.list() {
		err := o.Allow(t.Context(), o.tenant, x.Name, x.Hash, aggregate.Read, admin)
		expect.Is(t, i == len(tools)-1, err != nil, "%s: %v", x.Name, err)
	}
}

func testNotNamed(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("list", "Lists."))
	o.allow("rooms.list", aggregate.Read)
	o.name(tenancy.MCPServer{Name: "rooms", URL: "https://example.com/elsewhere"})
	got := o.offered()
	expect.That(t, got == nil, "what was allowed at one address is offered at another: %v", got)
	o.name()
	got = o.offered()
	expect.That(t, got == nil, "offered: %v", got)
	_, err := o.Tools(t.Context(), o.tenant, "rooms")
	expect.That(t, errors.As(err, new(aggregate.Problem)), "%v, want Problem", err)
}

func testAway(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("list", "Lists."))
	o.Credentials = secrets{}
	_, err := o.Tools(t.Context(), o.tenant, "rooms")
	expect.Is(t, known(t, err).Problem, explain.ProblemNotConnected)
}

// A door of Ringi itself can't be allowed, whatever an administrator wants.
func testDoor(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("book", "Books."))
	o.want(map[string]mcp.State{"rooms.book": mcp.Off})
	refused := func(name string) {
		t.Helper()
		for _, access := range []aggregate.Access{aggregate.Read, aggregate.Write} {
			i := slices.IndexFunc(o.list(), func(x mcp.Listed) bool { return x.Name == name })
			err := o.Allow(t.Context(), o.tenant, name, o.list()[i].Hash, access, admin)
			field, is := errors.AsType[aggregate.Problem](err)
			expect.That(t, is && field.Code == "tool_door", "%s: %v", name, err)
		}
	}
	o.tools.set(plain("book", "Books."), plain("ringi_wait", "Waits."))
	refused("rooms.book")
	refused("rooms.ringi_wait")
	o.want(map[string]mcp.State{"rooms.book": mcp.Unfit, "rooms.ringi_wait": mcp.Unfit})
}

func testForContests(t *testing.T, server *storetest.Server) {
	o := newOffice(t, server, plain("list", "lists"), plain("book", "books"))
	o.allow("rooms.list", aggregate.Read)
	o.allow("rooms.book", aggregate.Write)
	hash := func(name string) string {
		for _, x := range o.list() {
			if x.Name == name {
				return x.Hash
			}
		}
		return ""
	}
	listed := func() (names []string) {
		for _, p := range expect.Value(o.rows.ToolPermissions(t.Context(), o.tenant))(t) {
			if p.ForContests() {
				names = append(names, p.ToolName)
			}
		}
		return names
	}
	set := func(name, hash string, on bool) error {
		return o.ForContests(t.Context(), o.tenant, name, hash, on, admin)
	}
	var field aggregate.Problem
	err := set("rooms.book", hash("rooms.book"), true)
	expect.That(t, errors.As(err, &field) && field.Code == "contests_read", "one that writes: %v", err)
	expect.Fails(t, set("rooms.list", hash("rooms.book"), true), mcp.ErrChanged, "another hash")
	expect.Fails(t, set("rooms.none", "", true), mcp.ErrChanged, "one that nobody allowed")
	expect.NoError(t, set("rooms.list", hash("rooms.list"), true))
	expect.Same(t, []string{"rooms.list"}, listed())
	for _, x := range o.list() {
		expect.Is(t, x.Contests, x.Name == "rooms.list", "%+v", x)
	}
	o.tools.set(plain("list", "lists more"), plain("book", "books"))
	o.allow("rooms.list", aggregate.Read) // as it is now, which nobody listed
	got := listed()
	expect.That(t, got == nil, "what was allowed anew is listed: %v", got)
	expect.NoError(t, set("rooms.list", hash("rooms.list"), true))
	expect.NoError(t, set("rooms.list", "", false))
	got = listed()
	expect.That(t, got == nil, "taken off the list: %v", got)
	for i := range tenancy.MaxContestTools {
		name := fmt.Sprint("rooms.t", i)
		expect.Value(o.rows.SaveToolPermission(t.Context(), tenancy.ToolPermission{TenantID: o.tenant, ToolName: name,
			Allowed: true, Contests: true, Pin: &tenancy.Pin{Access: aggregate.Read}}, admin, o.Now()))(t)
	}
	err = set("rooms.list", hash("rooms.list"), true)
	expect.That(t, errors.As(err, &field) && field.Code == "contests_most", "one too many: %v", err)
}
