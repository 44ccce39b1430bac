package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/process"
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
}

func newVendor(t *testing.T, next http.Handler) *vendor {
	t.Helper()
	v := &vendor{faults: map[string]http.HandlerFunc{}, asked: map[string]int{}, next: next}
	s := httptest.NewServer(v)
	t.Cleanup(s.Close)
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
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return client(v.URL).Call(ctx, mcp.Call{Server: v.Server, Tool: name, Hash: hash,
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

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func known(t *testing.T, err error) *explain.CallError {
	t.Helper()
	var e *explain.CallError
	expect.Must(t, errors.As(err, &e), "%v is no *failure.Error", err)
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

// The package of the protocol's authors for servers in Python: its tools end the streams of their answers, whether the
// work is done before the client comes again or long after.
func TestAServersAnswerThatItEndsIsAskedForAgain(t *testing.T) {
	expect.Patience(t)
	pins := expect.Value(os.ReadFile("testdata/requirements.txt"))(t)
	interpreter, err := process.Environment(t.Context(), expect.Value(process.Folder())(t), "an MCP server", pins,
		func(m string) { t.Log(m) })
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	cmd := exec.Command(interpreter, "testdata/resuming.py", port)
	cmd.Stderr = t.Output()
	expect.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	expect.Eventually(t, "the server listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	s := mcp.Server{MCPServer: tenancy.MCPServer{Name: "resuming", URL: "http://" + address + "/mcp"}}
	c := client(s.URL)
	tools := expect.Value(c.List(t.Context(), s))(t)
	for i, arguments := range []string{
		`{"times":1,"seconds":0}`, `{"times":1,"seconds":1.5}`, `{"times":3,"seconds":0.4}`, `{"times":0,"seconds":0}`,
	} {
		got, err := c.Call(t.Context(), mcp.Call{Server: s, Tool: "work", Hash: tools[0].Hash(),
			Arguments: json.RawMessage(arguments)})
		expect.NoError(t, err)
		expect.Same(t, fmt.Sprintf(`{"calls":%d}`, i+1), string(got.(json.RawMessage)))
	}
}

// resumable is a server whose bookings end the streams of their answers. again answers those who ask for the rest, the
// first time and after that, nil as the server does. asked counts them.
func resumable(t *testing.T, again ...http.HandlerFunc) (s *vendors.Rooms, v *vendor, asked *atomic.Int32) {
	t.Helper()
	s, asked = vendors.NewRooms(), new(atomic.Int32)
	next := s.Resumable()
	return s, newVendor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "" {
			if do := again[min(int(asked.Add(1)), len(again))-1]; do != nil {
				do(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})), asked
}

// Whatever happens to those who ask for the rest of an answer, the call was made: it is never made again, and never
// said
// to have failed.
func TestWhatIsKnownOfACallWhoseAnswerTheServerEnded(t *testing.T) {
	empty := answer("text/event-stream", ": nothing yet\n\n")
	for name, test := range map[string]struct {
		again   []http.HandlerFunc
		problem explain.Problem // empty: the result came
		asked   int             // 0: often
	}{
		"at once":             {[]http.HandlerFunc{nil}, "", 1},
		"after 503":           {[]http.HandlerFunc{status(503, ""), nil}, "", 2},
		"after 429":           {[]http.HandlerFunc{status(429, ""), nil}, "", 2},
		"after a break":       {[]http.HandlerFunc{cut, nil}, "", 2},
		"after empty streams": {[]http.HandlerFunc{empty, empty, empty, nil}, "", 4},
		"404":                 {[]http.HandlerFunc{status(404, "")}, explain.ProblemLost, 1},
		"405":                 {[]http.HandlerFunc{status(405, "")}, explain.ProblemLost, 1},
		"401":                 {[]http.HandlerFunc{status(401, "")}, explain.ProblemLost, 1},
		"400 of the protocol": {[]http.HandlerFunc{status(400,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}`)}, explain.ProblemLost, 1},
		"HTML":      {[]http.HandlerFunc{answer("text/html", "<html>")}, explain.ProblemBadAnswer, 1},
		"no answer": {[]http.HandlerFunc{hang}, explain.ProblemTimeout, 1},
		"a wait past all time": {[]http.HandlerFunc{answer("text/event-stream", "retry: 3600000\n\n")},
			explain.ProblemTimeout, 1},
		"somewhere else": {[]http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}}, explain.ProblemLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, v, asked := resumable(t, test.again...)
			got, err := v.book(t, v.hash(t, "book_room"))
			expect.That(t, v.times("tools/call") == 1 && len(s.Bookings()) == 1, "%d calls, %d bookings",
				v.times("tools/call"), len(s.Bookings()))
			if test.problem == "" {
				expect.That(t, err == nil && len(got.(json.RawMessage)) > 0, "%v", err)
			} else {
				e := known(t, err)
				expect.That(t, e.Outcome == explain.CallUnknown && e.Problem == test.problem, "%v %v", e, e.Err)
			}
			n := int(asked.Load())
			expect.That(t, n == test.asked || test.asked == 0 && n > 0, "asked for the rest %d times", n)
		})
	}
}

// What the server answers in the end is the call's own answer, also that it has not begun; and it is not asked before
// the
// time that it named.
func TestTheRestOfAnAnswerIsTheCallsOwn(t *testing.T) {
	_, v := newRooms(t)
	hash := v.hash(t, "book_room")
	var id json.RawMessage
	v.faults["tools/call"] = func(w http.ResponseWriter, r *http.Request) {
		var in struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&in) // without an id the answer is ignored
		id = in.ID
		answer("text/event-stream", "id: 1\nretry: 600\ndata:\n\n")(w, r)
	}
	v.faults[""] = func(w http.ResponseWriter, r *http.Request) {
		answer("text/event-stream",
			`data: {"jsonrpc":"2.0","id":`+string(id)+`,"error":{"code":-32602,"message":"no"}}`+"\n\n")(w, r)
	}
	began := time.Now()
	_, err := v.book(t, hash)
	e := known(t, err)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemRejected, "%v", e)
	expect.That(t, time.Since(began) >= 600*time.Millisecond, "it was asked after %s", time.Since(began))
}
