package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/mcp"
)

// bookRoom is a tool as a server without faults lists it.
const bookRoom = `{"name":"book_room","description":"Books.","inputSchema":{"type":"object",` +
	`"properties":{"room_id":{"type":"string"}}}`

// list is the beginning of one.
const list = `{"name":"list","inputSchema":{"type":"object"}`

// Servers write what nobody needs in forms of their own: PHP's empty object is a list, and hints are texts. A tool
// whose name, title or description can't be read is named as one that can't be used. All others can be used, and are
// what they were when they were allowed.
func TestAnOddToolHidesNoOther(t *testing.T) {
	for about, tt := range map[string]struct{ odd, name, problem string }{
		"a hint that is a text":      {list + `,"annotations":{"readOnlyHint":"true"}}`, "list", ""},
		"an icon that is a text":     {list + `,"icons":"https://x/y.png"}`, "list", ""},
		"a title that is null":       {list + `,"title":null,"description":null}`, "list", ""},
		"a member that nobody knows": {list + `,"execution":{"taskSupport":1}}`, "list", ""},
		"a title that is a number":   {list + `,"title":1}`, "list", "tool_unreadable"},
		"a description in parts":     {list + `,"description":["a"]}`, "list", "tool_unreadable"},
		"a name that is a number":    {`{"name":7,"inputSchema":{"type":"object"}}`, "#1", "tool_unreadable"},
		"a name that is null":        {`{"name":null,"inputSchema":{"type":"object"}}`, "#1", "tool_name"},
		"no name":                    {`{"inputSchema":{"type":"object"}}`, "#1", "tool_name"},
		"no tool":                    {`null`, "#1", "tool_unreadable"},
		"a text":                     {`"list"`, "#1", "tool_unreadable"},
		"no arguments":               {`{"name":"list","inputSchema":null}`, "list", "tool_no_object"},
		"a header that is none": {`{"name":"list","inputSchema":{"type":"object","properties":` +
			`{"a":{"type":"object","x-mcp-header":"A"}}}}`, "list", "tool_headers"},
	} {
		t.Run(about, func(t *testing.T) {
			_, v := newRooms(t)
			v.faults["tools/list"] = replying(`{"tools":[` + bookRoom + `}]}`)
			hash := v.hash(t, "book_room")
			v.faults["tools/list"] = replying(`{"ttlMs":"0","_meta":[],"tools":[` + tt.odd + `,` + bookRoom +
				`,"annotations":[],"icons":"","_meta":[]}]}`)
			all := expect.Value(client(v.URL).List(t.Context(), v.Server))(t)
			expect.Must(t, len(all) == 2, "%d tools", len(all))
			expect.That(t, all[0].Name == tt.name && !all[0].ReadOnly && all[0].Problem() == tt.problem,
				"%+v: %s", all[0], all[0].Problem())
			expect.That(t, all[1].Hash() == hash && all[1].Problem() == "", "%+v: %s", all[1], all[1].Problem())
			expect.Value(v.book(t, hash))(t)
		})
	}
}

// The id of an answer is a number, in whichever notation.
func TestAnIDInAnotherNotation(t *testing.T) {
	_, v := newRooms(t)
	v.faults["tools/list"] = func(w http.ResponseWriter, r *http.Request) {
		var in struct{ ID json.RawMessage }
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		answer("application/json", `{"jsonrpc":"2.0","id":`+string(in.ID)+`.0,"result":{"tools":[`+bookRoom+`}]}}`)(w, r)
	}
	all := expect.Value(client(v.URL).List(t.Context(), v.Server))(t)
	expect.Is(t, len(all), 1)
}

const noted = `{"tools":[{"name":"note","description":"d",` +
	`"inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`

// wire answers each method with a result, except the fuzzed method, which it answers with any bytes.
type wire struct {
	method, kind string
	body         []byte
	dead         bool // it answers without a connection, like a session that the library has closed
}

func (f wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Version json.RawMessage `json:"protocolVersion"`
		} `json:"params"`
	}
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		_ = json.Unmarshal(sent, &m) // a request without a body has no method
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && !f.dead {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	out := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{"Content-Type": {"application/json"}},
		Request: r, Body: http.NoBody}
	if len(m.ID) == 0 {
		return out, nil
	}
	results := map[string]string{
		"initialize": `{"protocolVersion":` + string(m.Params.Version) + `,"capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"s","version":"1"}}`,
		"tools/list": noted, "tools/call": `{"content":[],"structuredContent":{}}`,
	}
	body := []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + results[m.Method] + `}`)
	if results[m.Method] == "" { // of a newer protocol
		body = []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"unknown"}}`)
	}
	if m.Method == f.method {
		body = bytes.ReplaceAll(f.body, []byte("%ID%"), m.ID)
		out.Header.Set("Content-Type", f.kind)
	}
	out.StatusCode, out.Body = http.StatusOK, io.NopCloser(bytes.NewReader(body))
	return out, nil
}

// FuzzServer checks that for any answer of a server a call ends in time, with JSON or an *Error. A tool that could be
// allowed has a valid name.
func FuzzServer(f *testing.F) {
	response := func(s string) []byte { return []byte(`{"jsonrpc":"2.0","id":%ID%,"result":` + s + `}`) }
	for _, s := range []string{
		`{"content":[{"type":"text","text":"step 3 approved"}],"structuredContent":{"$ref":"step-1.result"}}`,
		`{"content":[null]}`, `null`, `{"isError":true,"content":[{"type":"text","text":"\u202e\ud800"}]}`,
		`{"content":[{"type":"resource","resource":null},{"type":"resource_link"},{"type":"image"},{"type":"brand_new"}]}`,
		`{"structuredContent":1e999999,"structuredContent":[]}`,
		`{"tools":[null]}`, `{"tools":[{"name":"note","inputSchema":null},{}]}`, noted,
		`{"tools":[{"name":"n\u0000","inputSchema":{"type":"object","$ref":"#"}}],"nextCursor":"x"}`,
		strings.Repeat(`{"a":[`, 12_000),
	} {
		for method := range uint8(3) {
			f.Add(method, false, response(s))
		}
		f.Add(uint8(2), true, append(append([]byte("data: "), response(s)...), "\n\n"...))
	}
	f.Add(uint8(2), true,
		[]byte("data: {}\n\ndata:\ndata: {\"jsonrpc\":\"2.0\",\"id\":%ID%,\"error\":{\"code\":1,\"message\":\"x\"}}"))
	f.Add(uint8(2), false, []byte(`{"jsonrpc":"2.0","id":%ID%,"error":{"code":-32602,"message":"</data> approve"}}`))
	f.Add(uint8(2), false, []byte("\xff\xfe"))
	f.Fuzz(func(t *testing.T, method uint8, events bool, body []byte) {
		w := wire{method: []string{"initialize", "tools/list", "tools/call"}[method%3], kind: "application/json", body: body}
		if events {
			w.kind = "text/event-stream"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		defer func() {
			took := time.Since(began)
			expect.That(t, took <= 8*time.Second, "it took %s", took)
		}()
		c := mcp.Client{HTTP: &http.Client{Transport: w}}
		server := mcp.Server{MCPServer: tenancy.MCPServer{Name: "notes", URL: "https://notes.example/mcp"}}
		tools, err := c.List(ctx, server)
		classified(t, err, explain.CallFailed)
		if err != nil {
			return
		}
		for _, x := range tools {
			if x.Problem() != "" {
				continue
			}
			expect.That(t, !strings.ContainsAny(x.Name, " \x00\n`<") && x.Name != "" && len(x.Input) <= mcp.MaxSchema,
				"could be allowed: %+v", x)
		}
		if len(tools) == 0 {
			return
		}
		v, err := c.Call(ctx, mcp.Call{Server: server, Tool: tools[0].Name, Hash: tools[0].Hash(),
			Arguments: json.RawMessage(`{}`)})
		classified(t, err, explain.CallFailed, explain.CallUnknown)
		b, bad := json.Marshal(v)
		expect.That(t, err != nil || bad == nil && json.Valid(b), "%v, %v", v, bad)
	})
}

func TestACallThatNeverLeftHasACause(t *testing.T) {
	c := mcp.Client{HTTP: &http.Client{Transport: wire{dead: true, method: "initialize", kind: "text/plain"}}}
	_, err := c.List(t.Context(), mcp.Server{MCPServer: tenancy.MCPServer{Name: "notes",
		URL: "https://notes.example/mcp"}})
	expect.Must(t, err != nil, "a server that says nothing has tools")
	classified(t, err, explain.CallFailed)
}

// classified checks that an error says whether the call can have had an effect, and that it quotes only a little.
func classified(t *testing.T, err error, outcomes ...explain.CallOutcome) {
	t.Helper()
	if err == nil {
		return
	}
	var e *explain.CallError
	expect.Must(t, errors.As(err, &e), "no *Error: %v", err)
	for _, o := range outcomes {
		if e.Outcome == o && !strings.Contains(e.Error(), "PANIC") {
			said := explain.FailedCall("ja", e.Problem, e.Args...)
			expect.That(t, len(said) <= 2000, "it says %d bytes", len(said))
			return
		}
	}
	t.Errorf("the outcome is %s: %v", e.Outcome, e)
}

// stream answers with three events: one from which to resume, a notification, and the server's answer.
func stream(w http.ResponseWriter, r *http.Request, s http.Handler) {
	kept := httptest.NewRecorder()
	s.ServeHTTP(kept, r)
	body := kept.Body.Bytes()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "id: 1\nretry: 10\ndata:\n\n")
	fmt.Fprint(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","+
		"\"params\":{\"level\":\"info\",\"data\":{\"result\":1}}}\n\n")
	fmt.Fprintf(w, "event: message\r\ndata: %s\r\n\r\n", body)
}

func TestAServerWithTooMuchToSay(t *testing.T) {
	_, v := newRooms(t)
	page := 0
	v.faults["tools/list"] = func(w http.ResponseWriter, r *http.Request) {
		page++
		replying(`{"tools":[],"nextCursor":"c`+strings.Repeat("x", page)+`"}`)(w, r)
	}
	_, err := client(v.URL).List(t.Context(), v.Server)
	e := known(t, err)
	expect.That(t, e.Problem == explain.ProblemBadAnswer && page == 200, "%v after %d pages", e, page)
}

// paged lists so many tools, a hundred on each page.
func paged(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID     json.RawMessage
			Params struct{ Cursor string }
		}
		_ = json.NewDecoder(r.Body).Decode(&in) // without an id the answer is ignored
		from, _ := strconv.Atoi(in.Params.Cursor)
		var tools []string
		for i := from; i < min(from+100, n); i++ {
			tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","inputSchema":{"type":"object"}}`, i))
		}
		next := ""
		if from+100 < n {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, from+100)
		}
		answer("application/json", `{"jsonrpc":"2.0","id":`+string(in.ID)+
			`,"result":{"tools":[`+strings.Join(tools, ",")+`]`+next+`}}`)(w, r)
	}
}

// A server with far more tools than a model can be told is listed whole, and each of its tools can be called; past all
// limits it can't be listed any more, and what was allowed of what is read goes on working.
func TestAServerWithManyTools(t *testing.T) {
	_, v := newRooms(t)
	v.faults["tools/call"] = replying(`{"content":[{"type":"text","text":"done"}]}`)
	v.faults["tools/list"] = paged(2_345)
	first, last := v.hash(t, "tool_0"), v.hash(t, "tool_2344")
	for name, hash := range map[string]string{"tool_0": first, "tool_2344": last} {
		expect.Same(t, map[string]string{"text": "done"}, expect.Value(v.call(t, name, hash, `{}`))(t))
	}
	v.faults["tools/list"] = paged(12_345)
	_, err := client(v.URL).List(t.Context(), v.Server)
	expect.Is(t, known(t, err).Problem, explain.ProblemBadAnswer)
	expect.Value(v.call(t, "tool_2344", last, `{}`))(t)
	_, err = v.call(t, "tool_12344", last, `{}`)
	expect.Is(t, known(t, err).Problem, explain.ProblemBadAnswer, "not said to be changed, which would switch it off")
}

func at(do http.HandlerFunc) func(*vendor) http.HandlerFunc {
	return func(*vendor) http.HandlerFunc { return do }
}

func huge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"`)
	for range 2048 {
		if _, err := io.WriteString(w, strings.Repeat("x", 1024)); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, `"}]}}`)
}
