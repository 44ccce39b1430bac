package round_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/outbound"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool/mcp"
)

var admin = aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}

// key is the secret for every server.
type key string

func (k key) ServerToken(context.Context, string, tenancy.MCPServer) (string, error) {
	return string(k), nil
}

// world is a tenant whose settings name the server of meeting rooms.
type world struct {
	*testing.T
	rows   *store.TaskStore
	tenant string
	rooms  *vendors.Rooms
	admin  mcp.Admin
	source round.Source
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	v := vendors.New()
	s := expect.Server(t, v.Handler())
	w := &world{T: t, tenant: aggregate.TenantID("T0READS"), rooms: v.Rooms}
	w.rows, _ = db.Store(t)
	x := expect.Value(w.rows.Settings(t.Context(), w.tenant))(t)
	x.MCPServers = []tenancy.MCPServer{{Name: vendors.RoomsServer, URL: s.URL + vendors.RoomsPath}}
	expect.Value(w.rows.SaveSettings(t.Context(), w.tenant, x, admin, time.Now()))(t)
	out, secret := outbound.Dialer{Allow: []string{s.Listener.Addr().String()}}.Client(), key(v.RoomsToken)
	w.admin = mcp.Admin{Rows: w.rows, Credentials: secret, Client: mcp.Client{HTTP: out}, Now: time.Now}
	w.source = round.Source{Rows: w.rows, Credentials: secret, Client: w.admin.Client, Now: time.Now}
	return w
}

// allow lets tasks call a tool, and contests, too, if listed is true.
func (w *world) allow(name string, access aggregate.Access, listed bool) {
	w.Helper()
	for _, x := range expect.Value(w.admin.Tools(w.Context(), w.tenant, vendors.RoomsServer))(w) {
		if x.Name == name {
			expect.NoError(w, w.admin.Allow(w.Context(), w.tenant, name, x.Hash, access, admin))
			if listed {
				expect.NoError(w, w.admin.ForContests(w.Context(), w.tenant, name, x.Hash, true, admin))
			}
		}
	}
}

func (w *world) open(locale string) round.Reads {
	w.Helper()
	return expect.Value(w.source.Open(w.Context(), w.tenant, locale))(w)
}

func names(r round.Reads) (out []string) {
	for _, t := range r.Tools() {
		out = append(out, t.Name)
	}
	return out
}

const free = `{"date":"2026-04-01","start":"10:00","end":"11:00"}`

// sent is how a member's model writes arguments.
func sent(arguments string) json.RawMessage {
	b, _ := json.Marshal(map[string]string{"arguments_json": arguments}) // a text
	return b
}

func TestReading(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*world){
		"only what is listed is offered": testOffered, "a tool that its server changed is refused and off": testChanged,
		"a tool that was taken off the list is refused": testTakenOff,
		"arguments that do not fit are not sent":        testArguments,
		"what can't be seen is left out":                testUnseen, "few calls are made at once": testFew,
	} {
		t.Run(name, func(t *testing.T) { run(newWorld(t, db)) })
	}
}

func testOffered(w *world) {
	if r := w.open("ja"); len(r.Tools()) != 0 || r.Lacking() != "" {
		w.Errorf("%v %q", names(r), r.Lacking())
	}
	w.allow("rooms.list_rooms", aggregate.Read, true)
	w.allow("rooms.house_rules", aggregate.Read, true)
	w.allow(vendors.BookRoom, aggregate.Write, false)
	r := w.open("ja")
	expect.Same(w, []string{"rooms_house_rules", "rooms_list_rooms"}, names(r))
	for _, x := range r.Tools() {
		var schema struct {
			Properties map[string]struct{ Type, Description string }
		}
		expect.NoError(w, json.Unmarshal(x.Schema, &schema))
		text := schema.Properties["arguments_json"]
		expect.That(w, text.Type == "string" && strings.Contains(text.Description, `"type":"object"`) && x.Description != "",
			"%+v %s", x, x.Schema)
	}
	expect.Is(w, expect.Value(r.Read(w.Context(), "rooms_house_rules", sent(`{}`)))(w), "使った後はホワイトボードを消してください。")
	expect.Has(w, expect.Value(r.Read(w.Context(), "rooms_list_rooms", sent(free)))(w), `"fuji"`)
	_, err := r.Read(w.Context(), "rooms_book_room", sent(free))
	expect.That(w, err != nil && len(w.rooms.Bookings()) == 0, "a tool that writes: %v", err)
	if other := expect.Value(w.source.Open(w.Context(), aggregate.TenantID("T0OTHER"), "ja"))(w); len(other.Tools()) != 0 {
		w.Errorf("of another tenant: %v", names(other))
	}
}

// refused calls a tool and returns the sentence with which it is refused.
func (w *world) refused(r round.Reads, name, input string) string {
	w.Helper()
	_, err := r.Read(w.Context(), name, sent(input))
	sentence := round.Refused("")
	expect.That(w, errors.As(err, &sentence), "%s: %v", name, err)
	return string(sentence)
}

func testChanged(w *world) {
	w.allow("rooms.list_rooms", aggregate.Read, true)
	r := w.open("ja")
	w.rooms.DescribeList("Lists everything, and tells everybody")
	for range 2 { // the first call finds the change and saves it
		said := w.refused(r, "rooms_list_rooms", free)
		expect.That(w, strings.Contains(said, "変更または削除された") && strings.Contains(said, "list_rooms"), "%q", said)
	}
	p, _, err := w.rows.ToolPermission(w.Context(), w.tenant, "rooms.list_rooms")
	expect.That(w, err == nil && p.ChangedAt != nil, "%+v %v", p, err)
	if r := w.open("en"); len(r.Tools()) != 0 || !strings.Contains(r.Lacking(), "changed or removed its tool list_rooms") {
		w.Errorf("%v %q", names(r), r.Lacking())
	}
	w.allow("rooms.list_rooms", aggregate.Read, false)
	if r := w.open("en"); len(r.Tools()) != 0 || r.Lacking() != "" {
		w.Errorf("allowed anew, it is listed: %v %q", names(r), r.Lacking())
	}
}

func testTakenOff(w *world) {
	w.allow("rooms.house_rules", aggregate.Read, true)
	r := w.open("ja")
	expect.NoError(w, w.admin.ForContests(w.Context(), w.tenant, "rooms.house_rules", "", false, admin))
	expect.Has(w, w.refused(r, "rooms_house_rules", `{}`), "コンテストで使えなくなりました")
	w.allow("rooms.house_rules", aggregate.Write, false)
	expect.That(w, w.refused(r, "rooms_house_rules", `{}`) != "", "one that writes now is called")
	w.allow("rooms.house_rules", aggregate.Read, true)
	r = w.open("ja")
	x := expect.Value(w.rows.Settings(w.Context(), w.tenant))(w)
	x.MCPServers = nil
	expect.Value(w.rows.SaveSettings(w.Context(), w.tenant, x, admin, time.Now()))(w)
	expect.Has(w, w.refused(r, "rooms_house_rules", `{}`), "コンテストで使えなくなりました", "of a server that was taken out meanwhile")
	if r := w.open("ja"); len(r.Tools()) != 0 || r.Lacking() == "" {
		w.Errorf("of a server that the settings no longer name: %v %q", names(r), r.Lacking())
	}
}

func testArguments(w *world) {
	w.allow("rooms.list_rooms", aggregate.Read, true)
	r := w.open("en")
	for _, input := range []string{`{}`, `{"date":1,"start":"10:00","end":"11:00"}`, `[]`, `x`,
		`{"date":{"$ref":"step_01.result.date"},"start":"10:00","end":"11:00"}`, `{"date":"` + strings.Repeat("x",
			1<<20) + `"}`} {
		_, err := r.Read(w.Context(), "rooms_list_rooms", sent(input))
		refused := round.Refused("")
		expect.That(w, err != nil && !errors.As(err, &refused), "%.80s: %v", input, err)
	}
}

// Results of a server reach models without invisible characters, even if JSON escapes them. Its errors spell them out.
func testUnseen(w *world) {
	object := map[string]any{"type": "object"}
	for name, says := range map[string]sdk.CallToolResult{
		"text":   {Content: []sdk.Content{&sdk.TextContent{Text: "見\U000e0041え\u202eる"}}},
		"failed": {IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "見\U000e0041え\u202eる"}}},
		"facts":  {StructuredContent: json.RawMessage(`{"is":"見\udb40\udc41え\u202eる"}`)},
	} {
		tool := &sdk.Tool{Name: name, InputSchema: object}
		if name == "facts" {
			tool.OutputSchema = object
		}
		w.rooms.MCP.AddTool(tool, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &says,
				nil
		})
		w.allow("rooms."+name, aggregate.Read, true)
		said, err := w.open("ja").Read(w.Context(), "rooms_"+name, sent(`{}`))
		expect.Is(w, err != nil, name == "failed", "%s: %v", name, err)
		want := "見える"
		if err != nil { // a quotation
			said, want = err.Error(), "見⟨U+E0041⟩え⟨U+202E⟩る"
		}
		expect.Has(w, said, want, "%s", name)
	}
}

// A server's answers may be large and a team may have many members, so only a few calls run at the same time.
func testFew(w *world) {
	const members, most = 12, 4
	var mu sync.Mutex
	now, highest := 0, 0
	add := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		now += n
		highest = max(highest, now)
	}
	w.rooms.MCP.AddTool(&sdk.Tool{Name: "slow", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			add(1)
			defer add(-1)
			time.Sleep(20 * time.Millisecond)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "遅い"}}}, nil
		})
	w.allow("rooms.slow", aggregate.Read, true)
	r := w.open("ja")
	expect.AtOnce(members, func(int) {
		text, err := r.Read(w.Context(), "rooms_slow", sent(`{}`))
		expect.Fails(w, err, nil)
		expect.Is(w, text, "遅い")
	})
	expect.That(w, highest <= most, "%d calls at once", highest)
}

// shut has a listed tool that may no longer be called, and one that may.
type shut struct{ reads }

func (shut) Tools() []model.Tool {
	return append(reads{}.Tools(), model.Tool{Name: "shut", Schema: json.RawMessage(`{"type":"object"}`)})
}

func (shut) Read(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	if tool == "shut" {
		return "", fmt.Errorf("call it: %w", round.Refused("このツールは変わりました。"))
	}
	return reads{}.Read(ctx, tool, input)
}

// none has no tools and says why.
type none struct{ reads }

func (none) Tools() []model.Tool { return nil }
func (none) Lacking() string     { return "許可が取り消されました。" }

func TestAMemberThatReadNothingSaysWhy(t *testing.T) {
	tell := ""
	leader := func(_ context.Context, r model.Request) (model.Response, error) {
		if got := results(r); got != nil {
			tell = got[0].Text
			return text("案")
		}
		return calls("delegate_to_search")
	}
	reading := func(tools ...string) says {
		return func(_ context.Context, r model.Request) (model.Response, error) {
			turn := len(r.Messages) / 2
			if turn == len(tools) {
				return text("調べました。")
			}
			return model.Response{Calls: []model.Call{{Name: tools[turn], Input: json.RawMessage(`{"word":"x"}`)}}}, nil
		}
	}
	for about, tt := range map[string]struct {
		reads round.Reads
		uses  []string
		want  string // expected error; empty: an answer
	}{
		"nothing is listed":            {nil, nil, "コンテストに許可された読み取りツールがありません。"},
		"what was listed is off":       {none{}, nil, "許可が取り消されました。"},
		"its only tool is refused":     {shut{}, []string{"shut", "shut"}, "このツールは変わりました。"},
		"another tool gives something": {shut{}, []string{"shut", "list_rules"}, ""},
		"it reads nothing by itself":   {shut{}, nil, ""},
	} {
		p, k := p2(play(memberBy("search", "search", contest.WebSearch)), "leader"), &kept{}
		runner := round.Runner{Models: roundModels{"leader": leader, "search": reading(tt.uses...)}, Reads: tt.reads, Kept: k}
		for range 2 { // the second time from what was saved
			out := expect.Value(runner.Round(t.Context(), p))(t)
			s := out.Record.Submissions[0]
			said := ""
			if s.ErrorMessage != nil {
				said = *s.ErrorMessage
			}
			expect.That(t, said == tt.want && (s.Status == contest.Error) == (tt.want != "") &&
				(tt.want == "" || tell == "ERROR: "+tt.want), "%s: %s %q, the leader reads %q", about, s.Status, said, tell)
			for key := range k.answers {
				if strings.HasSuffix(key, "/submission") {
					delete(k.answers, key)
				}
			}
		}
	}
}

func TestAMachineWithoutASandboxIsSaid(t *testing.T) {
	never := fmt.Errorf("gone: %w: %w", isolated.ErrCannot, isolated.ErrNotBegun)
	for name, box := range map[string]round.Sandbox{"none": nil,
		"one that can't": round.Isolated(&room{errs: []error{never}}, "")} {
		out := expect.Value(round.Runner{Models: roundModels{}, Sandbox: box}.Round(t.Context(),
			play(member("coder", contest.CodeExec))))(t)
		s := out.Record.Submissions[0]
		expect.That(t, s.Status == contest.Error && *s.ErrorMessage == "この環境では、コードを実行できません。", "%s: %+v", name, s)
	}
}
