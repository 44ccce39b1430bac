package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// bearing is a transport that sends a key, and notes how each request went.
type bearing struct {
	secret string
	seen   []string
}

func (b *bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "bearer  "+b.secret)
	out, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		b.seen = append(b.seen, r.Method+" "+r.Header.Get("Mcp-Method")+" "+out.Status)
	}
	return out, err
}

// connected is a client of MCP with the key.
func (w *world) connected(version string) *mcp.ClientSession {
	w.t.Helper()
	s := expect.Server(w.t, w.http)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session := expect.Value(c.Connect(w.t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp",
		HTTPClient: &http.Client{Transport: &bearing{secret: w.secret}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version}))(w.t)
	w.t.Cleanup(func() { session.Close() })
	return session
}

// tell calls a tool and returns its only text.
func (w *world) tell(s *mcp.ClientSession, name string, arguments any) (text string, a answer, failed bool) {
	w.t.Helper()
	out := expect.Value(s.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments}))(w.t)
	expect.Must(w.t, len(out.Content) == 1 && out.StructuredContent == nil, "%+v", out)
	text = out.Content[0].(*mcp.TextContent).Text
	_ = json.Unmarshal([]byte(text), &a)
	return text, a, out.IsError
}

func message(text string) map[string]any {
	return map[string]any{"recipient": "U12", "text": text, "details": []any{}}
}

func TestAClientSeesTheKeysToolsAlone(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := opened(t)
			s := w.connected(version)
			expect.That(t, s.InitializeResult().Capabilities.Tools != nil &&
				!s.InitializeResult().Capabilities.Tools.ListChanged, "%+v", s.InitializeResult().Capabilities)
			var names []string
			list := expect.Value(s.ListTools(t.Context(), nil))(t)
			expect.That(t, list.CacheScope != "public", "others are shown the key's tools: %+v", list.Cacheable)
			for _, x := range list.Tools {
				names = append(names, x.Name)
				writes := x.Name == writeTool
				if writes || x.Name == readTool {
					text := string(expect.Value(json.Marshal(x.InputSchema))(t))
					expect.That(t, x.Annotations.ReadOnlyHint != writes && (x.Meta["anthropic/alwaysLoad"] == true) == writes &&
						strings.Contains(text, argumentReason) == writes && strings.Contains(text, argumentAgain) == writes,
						"%+v %s", x, text)
				}
			}
			slices.Sort(names)
			expect.Same(t, []string{readTool, "permission", "ringi_cancel", "ringi_wait", writeTool}, names)
			_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_departments", Arguments: map[string]any{}})
			expect.That(t, err != nil, "a tool that the key lacks was called")
		})
	}
}

// A tool's own server words its schema: nothing in it is addressed to a model that people don't see.
func TestASchemaHidesNothingFromPeople(t *testing.T) {
	w := opened(t)
	spec, _ := w.Catalog.Lookup(writeTool)
	spec.Titles, spec.Description = language.Texts{language.English: "Send\u202e"}, "Sends\u200b."
	spec.InputSchema = `{"type":"object","properties":{"a":{"type":"string","description":"x\u2060\\u200b"}}}`
	w.Catalog = expect.Value(tool.NewCatalog(spec))(t)
	w.key.Tools = []string{writeTool}
	for _, x := range expect.Value(w.connected("2025-06-18").ListTools(t.Context(), nil))(t).Tools {
		text := expect.JSON(x)
		expect.That(t, language.Visible(text) == text && string(language.VisibleJSON([]byte(text))) == text, "%q", text)
	}
}

func TestAWriteWaitsAndARepeatGetsItsEnd(t *testing.T) {
	w := opened(t)
	s := w.connected("2026-07-28")
	first := message("hello")
	first[argumentReason] = "because"
	began := time.Now()
	text, a, failed := w.tell(s, writeTool, first)
	expect.That(t, a.Status == "pending" && !failed && strings.Contains(a.Say, "repeat exactly") &&
		time.Since(began) < 3*time.Second, "%s", text)
	x := expect.Value(w.Get(t.Context(), w.key, a.ID))(t)
	expect.That(t, x.Call.Reason == "because" && !strings.Contains(string(x.Call.Payload.JSON), argumentReason),
		"%+v", x.Call)
	text, is, _ := w.tell(s, "ringi_wait", map[string]any{"id": a.ID, "seconds": json.Number("0.0")})
	expect.That(t, is.Status == "pending" && is.ID == a.ID, "%s", text)
	w.act(a.ID, circulation.Stamp, "")
	began = time.Now()
	text, is, _ = w.tell(s, writeTool, message("hello"))
	expect.That(t, is.Status == "approved" && is.ID == a.ID && time.Since(began) < 3*time.Second, "%s", text)
	result := ringitest.InRow(`{"value":{"sent":true}}`)
	w.make(a.ID, call.Result{Status: conversation.ActionSucceeded, Call: &result})
	for range 2 {
		text, is, failed = w.tell(s, writeTool, message("hello"))
		expect.That(t, is.Status == "succeeded" && !failed && string(is.Result) == `{"sent":true}`, "%s", text)
	}
	again := message("hello")
	again[argumentAgain] = a.ID
	text, is, _ = w.tell(s, writeTool, again)
	expect.That(t, is.Status == "pending" && is.ID != a.ID, "%s", text)
	text, is, _ = w.tell(s, "ringi_cancel", map[string]any{"id": is.ID})
	expect.That(t, is.Status == "cancelled", "%s", text)
	for arguments, want := range map[string]string{`{"recipient":"U12"}`: "arguments",
		`{"ringi_reason":1}`: "ringi_reason"} {
		text, _, failed = w.tell(s, writeTool, json.RawMessage(arguments))
		expect.That(t, failed && strings.HasPrefix(text, want), "%s", text)
	}
	expect.Is(t, len(w.vendor.calls), 0)
}

func TestAFailureIsSeenAndARefusalIsAnAnswer(t *testing.T) {
	w := opened(t)
	s := w.connected("2025-06-18")
	_, a, _ := w.tell(s, writeTool, message("a"))
	w.act(a.ID, circulation.SendBack, "宛先が違います")
	text, is, failed := w.tell(s, writeTool, message("a"))
	expect.That(t, is.Status == "refused" && !failed && is.Reason == "宛先が違います" && is.ID == a.ID &&
		strings.Contains(is.Say, is.Reason), "%s", text)
	named, id, _ := strings.Cut(strings.TrimSuffix(is.Say[strings.Index(is.Say, "ask for it with ")+16:], "."), ": ")
	more := message("a")
	more[named] = id
	text, is, _ = w.tell(s, writeTool, more)
	expect.That(t, named == argumentAgain && id == a.ID && is.Status == "pending" && is.ID != a.ID, "%s", text)
	_, a, _ = w.tell(s, writeTool, message("b"))
	w.act(a.ID, circulation.Stamp, "")
	w.make(a.ID, call.Result{Status: conversation.ActionFailed, Error: "tool_failed", ErrorDetail: "no such person"})
	text, is, failed = w.tell(s, writeTool, message("b"))
	expect.That(t, is.Status == "failed" && failed && strings.Contains(is.Say, "no such person"), "%s", text)
}

// A read is made at once, counts for the key's day, leaves no row, and is masked as an agent's is.
func TestAReadGoesThroughAtOnce(t *testing.T) {
	w := opened(t)
	w.key, w.secret = w.newKey("T1", 2)
	s := w.connected("2026-07-28")
	arguments := map[string]any{"department": nil, "status": "all"}
	for range 2 {
		text, _, failed := w.tell(s, readTool, arguments)
		expect.That(t, !failed && strings.Contains(text, "employees") && !strings.Contains(text, "hanako@"), "%s", text)
	}
	text, _, failed := w.tell(s, readTool, map[string]any{"status": "x"})
	expect.That(t, failed && strings.HasPrefix(text, "arguments"), "%s", text)
	text, _, failed = w.tell(s, readTool, arguments)
	expect.That(t, failed && strings.Contains(text, "2"), "%s", text)
	expect.That(t, len(w.vendor.calls) == 2 && w.vendor.calls[0].Asked == "U1" &&
		w.vendor.calls[0].Tenant == w.key.TenantID, "%+v", w.vendor.calls)
	expect.Value(w.all.SaveToolPermission(t.Context(), tenancy.ToolPermission{TenantID: w.key.TenantID, ToolName: readTool,
		Constraints: "{}"}, ringitest.Member("U9"), w.now, w.Catalog.Knows(readTool)...))(t)
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: readTool, Arguments: arguments})
	expect.That(t, err != nil && len(w.vendor.calls) == 2, "a tool that is off was called")
}

// Slow reads of one key hold few functions at once. A read that broke off counts for half a minute.
func TestAKeyHasFewReadsUnderWay(t *testing.T) {
	w := opened(t)
	s, arguments := w.connected("2026-07-28"), map[string]any{"department": nil, "status": "all"}
	reads := func(want string) {
		t.Helper()
		text, _, _ := w.tell(s, readTool, arguments)
		expect.Has(t, text, want)
	}
	for range 6 {
		reads("employees")
	}
	for range 5 {
		expect.NoError(t, w.Store.Count(t.Context(), w.key.TenantID, call.Reads(w.key, 1, w.now)))
	}
	reads("under way as it may: 5")
	w.now = w.now.Add(30 * time.Second)
	reads("employees")
}

// A rule that takes calls of outside agents is asked about reads, too; a rule about other requests changes nothing.
func TestARuleMayTakeReads(t *testing.T) {
	for kind, want := range map[rules.Kind]string{rules.KindCall: `"status":"pending"`, rules.KindSteps: "employees"} {
		w := opened(t)
		x := &rules.Rules{Rules: []rules.Rule{{
			ID: "01KS000000000000000000000A", Name: "外部", Conditions: rules.Conditions{Asks: []rules.Kind{kind},
				Tools: []rules.Tool{{Name: readTool}}},
			Outcome: rules.Outcome{Stages: []rules.Stage{{Name: "経理", Need: 1, Who: rules.Who{People: []string{"U2"}}}}}}}}
		_, _, err := w.all.SaveRules(t.Context(), w.key.TenantID, x, 0, nil, ringitest.Member("U9"), w.now)
		expect.NoError(t, err)
		s, arguments := w.connected("2026-07-28"), map[string]any{"department": nil, "status": "all"}
		text, a, failed := w.tell(s, readTool, arguments)
		expect.That(t, !failed && strings.Contains(text, want), "%s: %s", kind, text)
		if kind != rules.KindCall {
			continue
		}
		expect.Has(t, text, "Nobody has been asked")
		w.routed(a.ID, call.Routed{Opening: &aggregate.Opening{Askers: []circulation.Person{{User: w.key.Answers}},
			Rule: circulation.Rule{ID: x.Rules[0].ID, Revision: 1}, Route: circulation.Route{Form: circulation.Form,
				Stages: []circulation.Stage{{Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{{User: "U2"}}}}}}})
		text, a, _ = w.tell(s, readTool, arguments)
		expect.That(t, strings.Contains(text, "waits for people's approval") && a.Status == "pending", "%s", text)
		w.act(a.ID, circulation.Stamp, "")
		w.make(a.ID, call.Result{Status: conversation.ActionSucceeded})
		arguments[argumentAgain], arguments[argumentReason] = a.ID, "it is tomorrow"
		text, is, failed := w.tell(s, readTool, arguments)
		expect.That(t, !failed && is.Status == "pending" && is.ID != a.ID, "a second read: %s", text)
		w.routed(is.ID, call.Routed{Refused: &aggregate.Refusal{Why: task.ReasonRuleRefuses, Detail: "購買部へ"}})
		text, is, failed = w.tell(s, readTool, arguments)
		expect.That(t, !failed && is.Status == "refused" && strings.Contains(text, "購買部へ") &&
			!strings.Contains(text, "cancelled") && !strings.Contains(text, "approval"), "refused: %s", text)
		i := slices.IndexFunc(expect.Value(s.ListTools(t.Context(), nil))(t).Tools, func(x *mcp.Tool) bool {
			return x.Name == readTool && strings.Contains(string(expect.Value(json.Marshal(x.InputSchema))(t)), argumentAgain)
		})
		expect.That(t, i >= 0, "no model is told how")
	}
}

// Claude Code gets a yes once the grant is taken for its attempt, and one attempt has it.
func TestThePermissionToolTakesTheGrant(t *testing.T) {
	w := opened(t)
	s := w.connected("2026-07-28")
	asks := func(use, command string) (out struct {
		Behavior, Message string
		UpdatedInput      map[string]any
	}) {
		text, _, failed := w.tell(s, "permission", map[string]any{"tool_name": "Bash", "tool_use_id": use,
			"input": map[string]any{"command": command, "description": "d" + use}})
		expect.NoError(t, json.Unmarshal([]byte(text), &out))
		expect.That(t, !failed && (out.Behavior == "allow") == (out.UpdatedInput != nil), "%s", text)
		return out
	}
	stamping := func(command string, kind circulation.Kind) (id string) {
		_, a, text := w.says("POST", "/calls", `{"tool":"Bash","arguments":{"command":"`+command+`"}}`)
		expect.Must(t, a.Status == "pending", "%s", text)
		w.act(a.ID, kind, "だめ")
		return a.ID
	}
	first := stamping("make", circulation.Stamp)
	for range 2 {
		out := asks("one", "make")
		expect.That(t, out.Behavior == "allow" && out.UpdatedInput["command"] == "make", "%+v", out)
		_, has := out.UpdatedInput["description"] // just what was stamped
		expect.That(t, !has, "%+v", out)
	}
	stamping("rm", circulation.SendBack)
	out := asks("two", "rm")
	expect.That(t, out.Behavior == "deny" && strings.Contains(out.Message, "だめ"), "%+v", out)
	text, _, _ := w.tell(s, "permission", map[string]any{"tool_name": "Bash", "tool_use_id": "a",
		"Input": map[string]any{}})
	expect.Has(t, text, "must say which call it is")
	text, _, _ = w.tell(s, "permission", map[string]any{"tool_name": "Write", "tool_use_id": "a",
		"input": map[string]any{}})
	expect.That(t, strings.Contains(text, `"deny"`) && strings.Contains(text, "not among"), "%s", text)
	// Another attempt of what ran is another request, which people are asked about anew.
	_, _, text = w.says("POST", "/calls", `{"tool":"Bash","arguments":{"command":"make"},"again":"`+first+`"}`)
	expect.Must(t, strings.Contains(text, "pending"), "%s", text)
	var second answer
	expect.NoError(t, json.Unmarshal([]byte(text), &second))
	w.act(second.ID, circulation.Stamp, "")
	out = asks("four", "make")
	expect.That(t, out.Behavior == "allow" && second.ID != first, "%+v", out)
}

// After people's no Claude Code's model is told how to ask once more, in words that work.
func TestThePermissionToolHearsThatACallIsMeantOnceMore(t *testing.T) {
	w := opened(t)
	s := w.connected("2026-07-28")
	asks := func(tool string, input map[string]any) string {
		text, _, _ := w.tell(s, "permission", map[string]any{"tool_name": tool, "tool_use_id": "one", "input": input})
		return text
	}
	_, a, _ := w.says("POST", "/calls", `{"tool":"Bash","arguments":{"command":"rm"}}`)
	w.act(a.ID, circulation.SendBack, "だめ")
	text := asks("Bash", map[string]any{"command": "rm"})
	expect.That(t, strings.HasSuffix(text, "ask for it with ringi_again: "+a.ID+` in its description."}`), "%s", text)
	_, second, _ := w.says("POST", "/calls", `{"tool":"Bash","arguments":{"command":"rm"},"again":"`+a.ID+`"}`)
	w.act(second.ID, circulation.Stamp, "")
	text = asks("Bash", map[string]any{"command": "rm", "description": "Removes. ringi_again: " + a.ID})
	expect.That(t, text == `{"behavior":"allow","updatedInput":{"command":"rm"}}`, "%s", text)
	text = asks("Bash", map[string]any{"command": "ls", "description": "ringi_again: " + a.ID})
	expect.That(t, strings.Contains(text, "again must be the id of the same call"), "%s", text)
}

func TestNamesThatClientsTake(t *testing.T) {
	expect.Is(t, plainName("send_slack_dm"), "send_slack_dm")
	for _, name := range []string{"mcp:wiki:page.write", "mcp:wiki:page-write", strings.Repeat("a", 200), "日本"} {
		got := plainName(name)
		expect.That(t, len(got) <= mostName && !strings.ContainsAny(got, ":.日"), "%q", got)
	}
	expect.That(t, plainName("a:b") != plainName("a.b"), "two tools have one name")
}

// A tool's own argument of such a name is the tool's.
func TestAToolsOwnArgumentsStay(t *testing.T) {
	spec := tool.Spec{InputSchema: `{"type":"object","properties":{"ringi_reason":{"type":"string"}}}`}
	in := map[string]json.RawMessage{"ringi_reason": json.RawMessage(`"x"`), "ringi_again": json.RawMessage(`"y"`)}
	reason, err := takeOwn(spec, in, argumentReason)
	expect.That(t, err == nil && reason == "" && in["ringi_reason"] != nil, "%v", in)
	again, err := takeOwn(spec, in, argumentAgain)
	expect.That(t, err == nil && again == "y" && in["ringi_again"] == nil, "%v", in)
	_, err = takeOwn(spec, map[string]json.RawMessage{"Ringi_Again": json.RawMessage(`"y"`)}, argumentAgain)
	expect.That(t, err != nil && strings.Contains(err.Error(), "Ringi_Again must be written ringi_again"), "%v", err)
	x := expect.Value(json.Marshal(offered(json.RawMessage(spec.InputSchema))))(t)
	expect.That(t, strings.Contains(string(x), argumentAgain), "%s", x)
}
