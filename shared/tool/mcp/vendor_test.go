package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/mcp"
)

const secret = "sesame-himitsu"

// vendor is an MCP server that can fail by method: requests for a method with a fault are handled by the fault.
type vendor struct {
	mcp.Server
	mu      sync.Mutex
	faults  map[string]http.HandlerFunc
	asked   map[string]int
	headers http.Header // headers of the last request
	next    http.Handler
	ctx     context.Context // of calls
	expire  func()          // ends it as its deadline would
}

func newVendor(t *testing.T, next http.Handler) *vendor {
	t.Helper()
	v := &vendor{faults: map[string]http.HandlerFunc{}, asked: map[string]int{}, next: next}
	v.ctx, v.expire = expect.Expiring(t)
	s := expect.Server(t, v)
	v.Server = mcp.Server{MCPServer: tenancy.MCPServer{Name: "rooms", URL: s.URL + "/mcp"}, Secret: secret}
	return v
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var m struct{ Method string }
	_ = json.Unmarshal(body, &m) // a request without a body has no method
	v.mu.Lock()
	v.asked[m.Method]++
	v.headers = r.Header.Clone()
	do := v.faults[m.Method]
	v.mu.Unlock()
	switch {
	case do != nil:
		do(w, r)
	case r.Header.Get("Authorization") != "Bearer "+secret:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		v.next.ServeHTTP(w, r)
	}
}

func (v *vendor) times(method string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked[method]
}

func client(urls ...string) mcp.Client {
	d := outbound.Dialer{}
	for _, u := range urls {
		d.Allow = append(d.Allow, u[len("http://"):len(u)-len("/mcp")])
	}
	return mcp.Client{HTTP: d.Client()}
}

// hash returns the current hash of the server's tool.
func (v *vendor) hash(t *testing.T, name string) string {
	t.Helper()
	tools := expect.Value(client(v.URL).List(t.Context(), v.Server))(t)
	for _, x := range tools {
		if x.Name == name {
			return x.Hash()
		}
	}
	t.Fatalf("no tool %s", name)
	return ""
}

const booking = `{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"定例"}`

func (v *vendor) book(t *testing.T, hash string) (any, error) {
	t.Helper()
	return v.call(t, "book_room", hash, booking)
}

func (v *vendor) call(t *testing.T, name, hash, arguments string) (any, error) {
	t.Helper()
	return client(v.URL).Call(v.ctx, mcp.Call{Server: v.Server, Tool: name, Hash: hash,
		Arguments: json.RawMessage(arguments)})
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func answer(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

// replying answers a request with a result.
func replying(result string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&in) // without an id the answer is ignored
		answer("application/json", `{"jsonrpc":"2.0","id":`+string(in.ID)+`,"result":`+result+`}`)(w, r)
	}
}

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "500")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`)
}

// done carries out the request, but lets then handle the answer.
func done(s http.Handler, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(httptest.NewRecorder(), r)
		then(w, r)
	}
}

func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang answers nothing until the time of the call is up.
func (v *vendor) hang() http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		v.expire()
		<-r.Context().Done()
	}
}

func known(t *testing.T, err error) *explain.CallError {
	t.Helper()
	e, is := errors.AsType[*explain.CallError](err)
	expect.Must(t, is, "%v is no *explain.CallError", err)
	return e
}

// changing is a server whose tools can be replaced.
type changing struct {
	mu    sync.Mutex
	tools []*sdk.Tool
}

func (c *changing) set(tools ...*sdk.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = tools
}

func (c *changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := sdk.NewServer(&sdk.Implementation{Name: "changing", Version: "1"}, nil)
	for _, t := range c.tools {
		m.AddTool(t, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
		})
	}
	sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return m },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}).ServeHTTP(w, r)
}

func newRooms(t *testing.T) (*vendors.Rooms, *vendor) {
	t.Helper()
	s := vendors.NewRooms()
	return s, newVendor(t, s)
}
