package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/calls"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

const (
	writeTool = "send_slack_dm"
	readTool  = "list_employees"
)

// vendor answers calls of tools.
type vendor struct {
	mu    sync.Mutex
	calls []tool.Call
	err   error
}

func (v *vendor) Run(_ context.Context, c tool.Call) (json.RawMessage, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = append(v.calls, c)
	return json.RawMessage(`{"employees":[{"mail":"hanako@example.com"}]}`), v.err
}

// world is a door over real rows, with one key.
type world struct {
	*door
	t      *testing.T
	server *storetest.Server
	all    *store.Store
	vendor *vendor
	now    time.Time
	key    tenancy.Key
	secret string
	http   http.Handler
	left   string // who has left Slack
	slack  error  // why it doesn't answer
}

func opened(t *testing.T) *world {
	t.Helper()
	server := storetest.Start(t)
	_, name := server.Store(t)
	w := &world{t: t, server: server, all: store.New(server.DB, name, store.Kinds()...), vendor: &vendor{},
		now: time.Now().UTC().Truncate(time.Millisecond)}
	w.door = &door{Calls: calls.Calls{Store: store.CallsOf(w.all), Catalog: expect.Value(tool.Builtin())(t),
		Now: func() time.Time { return w.now }}, Keys: w.all, Results: storetest.Rows{},
		Tools: func() (Tools, error) { return w.vendor, nil },
		Stays: func(_ context.Context, _, _, user string) (bool, error) { return user != w.left, w.slack }}
	w.http = w.handler()
	w.key, w.secret = w.newKey("T1", 20)
	w.Ready = func() error { return nil }
	return w
}

func (w *world) newKey(team string, quota int) (tenancy.Key, string) {
	w.t.Helper()
	k, secret, err := w.all.CreateKey(context.Background(), tenancy.Key{TenantID: aggregate.TenantID(team), Team: team,
		Name: "ci", Answers: "U1", Tools: []string{writeTool, readTool, "Bash"}, Channel: "C1", QuotaDay: quota,
		ExpiresAt: w.now.AddDate(0, 1, 0)}, ringitest.Member("U9"), w.now)
	expect.NoError(w.t, err)
	return k, secret
}

// says returns the answer to a request with the key.
func (w *world) says(method, path, body string) (status int, a answer, text string) {
	return w.saysTo("Bearer "+w.secret, method, path, body)
}

func (w *world) saysTo(authorization, method, path, body string) (status int, a answer, text string) {
	out := w.sends(authorization, method, path, body)
	_ = json.Unmarshal(out.Body.Bytes(), &a)
	return out.Code, a, out.Body.String()
}

func (w *world) sends(authorization, method, path, body string) *httptest.ResponseRecorder {
	return w.sendsAs("application/json", authorization, method, path, body)
}

func (w *world) sendsAs(kind, authorization, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Type", kind)
	out := httptest.NewRecorder()
	w.http.ServeHTTP(out, r)
	return out
}

// act has U2 do something on the call, as a click does.
func (w *world) act(id string, kind circulation.Kind, reason string) {
	w.t.Helper()
	by := ringitest.Member("U2")
	by.Stage = 1
	others := ringitest.Anyone()
	others.AllowSelf = false
	w.decide(id, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Act(id, a.Call.Gate.Acting(kind, by, reason), by, others, w.now)
	})
}

func (w *world) decide(id string, do aggregate.Decision[*call.Aggregate]) {
	w.t.Helper()
	expect.Value(store.CallsOf(w.all).Decide(context.Background(), call.RefOf(w.key.TenantID, id), do))(w.t)
}

// routed commits what call-tool found out about whom a call asks.
func (w *world) routed(id string, r call.Routed) {
	w.t.Helper()
	set := expect.Value(store.CallsOf(w.all).Settings(context.Background(), w.key.TenantID))(w.t)
	r.Terms = set.ActionTerms(w.now)
	w.decide(id, func(a *call.Aggregate) (aggregate.Change, error) { return a.Route(a.Head.Run, r, w.now) })
}

// make makes a stamped call of Ringi's, as call-tool does.
func (w *world) make(id string, r call.Result) {
	w.t.Helper()
	w.decide(id, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i1", task.Series{}, w.now.Add(time.Minute), w.now)
	})
	w.decide(id, func(a *call.Aggregate) (aggregate.Change, error) { return a.Finish("i1", r, w.now) })
}

func (w *world) rows() (n int) {
	w.t.Helper()
	pages := dynamodb.NewScanPaginator(w.server.DB, &dynamodb.ScanInput{TableName: &w.all.Table().Name,
		Select: types.SelectCount})
	for pages.HasMorePages() {
		n += int(expect.Value(pages.NextPage(w.t.Context()))(w.t).Count)
	}
	return n
}

const askBash = `{"tool":"Bash","arguments":{"command":"make deploy","description":"Deploys"},"reason":"release"}`

// takes is the body by which an attempt takes askBash.
func takes(use string) string {
	return `{"tool_use_id":"` + use + `","tool":"Bash","arguments":{"command":"make deploy"}}`
}

func TestACallElsewhereIsTakenOnce(t *testing.T) {
	w := opened(t)
	status, a, text := w.says("POST", "/calls", askBash)
	expect.That(t, status == 200 && a.Status == "pending" && a.DecideBy != "" && len(a.SHA256) == 64 &&
		a.Tool == "Bash" && strings.HasSuffix(a.Page, "/console/calls/"+a.ID) && strings.Contains(a.Say, "repeat exactly") &&
		strings.Contains(a.Say, a.DecideBy), "%d %s", status, text)
	_, again, _ := w.says("POST", "/calls", strings.Replace(askBash, "Deploys", "Ships it", 1))
	expect.Is(t, again.ID, a.ID, "reworded")
	status, _, text = w.says("POST", "/calls/"+a.ID+"/take", takes("a"))
	expect.That(t, status == 409, "%d %s", status, text)
	w.act(a.ID, circulation.Stamp, "")
	_, is, _ := w.says("GET", "/calls/"+a.ID+"?wait=5", "")
	expect.That(t, is.Status == "approved" && is.Say == sayStamped && is.SHA256 == a.SHA256, "%+v", is)
	status, _, text = w.says("POST", "/calls/"+a.ID+"/take",
		`{"tool_use_id":"a","tool":"Bash","arguments":{"command":"rm"}}`)
	expect.That(t, status == 400 && strings.Contains(text, "arguments"), "%d %s", status, text)
	for range 2 {
		status, is, text = w.says("POST", "/calls/"+a.ID+"/take", takes("a"))
		expect.That(t, status == 200 && is.Status == "granted" && is.Say == sayTaken, "%d %s", status, text)
	}
	status, _, text = w.says("POST", "/calls/"+a.ID+"/take", takes("b"))
	expect.That(t, status == 409 && strings.Contains(text, "runs once"), "%d %s", status, text)
	_, is, _ = w.says("POST", "/calls", askBash)
	expect.That(t, is.ID == a.ID && is.Status == "granted" && strings.Contains(is.Say, "ringi_again: "+a.ID), "%+v", is)
	second := strings.Replace(askBash, `"reason"`, `"again":"`+a.ID+`","reason"`, 1)
	_, is, text = w.says("POST", "/calls", second)
	expect.That(t, is.ID != a.ID && is.Status == "pending", "%s", text)
	_, is, _ = w.says("POST", "/calls/"+is.ID+"/cancel", "")
	expect.That(t, is.Status == "cancelled" && strings.Contains(is.Say, "Nothing was done"), "%+v", is)
	expect.Is(t, len(w.vendor.calls), 0)
}

func TestACallWhoseTimeRanOutSaysSo(t *testing.T) {
	w := opened(t)
	_, a, _ := w.says("POST", "/calls", askBash)
	w.now = w.now.AddDate(0, 0, 30)
	w.changes(func(k *tenancy.Key) { k.ExpiresAt = w.now.AddDate(0, 1, 0) })
	w.decide(a.ID, func(a *call.Aggregate) (aggregate.Change, error) { return a.Expire(w.now) })
	_, is, text := w.says("GET", "/calls/"+a.ID, "")
	expect.That(t, is.Status == "expired" && strings.Contains(is.Say, "ran out"), "%s", text)
}

// Once a call is forgotten the same one is asked about anew.
func TestAForgottenCallIsAskedAnew(t *testing.T) {
	w := opened(t)
	_, a, _ := w.says("POST", "/calls", askBash)
	w.says("POST", "/calls/"+a.ID+"/cancel", "")
	for _, some := range []bool{true, false} {
		n := expect.Value(w.all.Erase(t.Context(), nil, call.RefOf(w.key.TenantID, a.ID)))(t)
		expect.That(t, (n > 0) == some, "%d rows were deleted", n)
	}
	_, is, text := w.says("POST", "/calls", askBash)
	expect.That(t, is.ID == a.ID && is.Status == "pending", "%s", text)
}

func TestAnotherTenantsKeySeesNothing(t *testing.T) {
	w := opened(t)
	_, a, _ := w.says("POST", "/calls", askBash)
	for _, team := range []string{"T2", "T1"} { // and another key of the same tenant
		_, secret := w.newKey(team, 5)
		for method, path := range map[string]string{"GET": "/calls/" + a.ID, "POST": "/calls/" + a.ID + "/cancel"} {
			status, _, text := w.saysTo("Bearer "+secret, method, path, "")
			expect.That(t, status == 404, "%s %s: %d %s", team, path, status, text)
		}
		status, _, _ := w.saysTo("Bearer "+secret, "POST", "/calls/"+a.ID+"/take", takes("a"))
		expect.Is(t, status, 404)
	}
}

// What nobody could approve isn't asked: who answers for a key doesn't approve its calls, and nobody else is listed.
func TestWhatNobodyCouldApproveIsntAsked(t *testing.T) {
	w := opened(t)
	for _, tt := range []struct {
		listed []string
		want   int
	}{{[]string{w.key.Answers}, 403}, {[]string{w.key.Answers, "U2"}, 200}} {
		s := expect.Value(w.Store.Settings(t.Context(), w.key.TenantID))(t)
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: tt.listed}
		s.AllowSelfApproval = false
		expect.Value(w.all.SaveSettings(t.Context(), w.key.TenantID, s, ringitest.Member("U9"), w.now))(t)
		status, _, text := w.says("POST", "/calls", askBash)
		expect.That(t, status == tt.want && strings.Contains(text, "nobody could approve") == (status == 403),
			"%v: %d %s", tt.listed, status, text)
	}
}

func TestAFullKeyIsToldWhenToComeBack(t *testing.T) {
	w := opened(t)
	_, secret := w.newKey("T1", 1)
	w.saysTo("Bearer "+secret, "POST", "/calls", askBash)
	was := w.rows()
	out := w.sends("Bearer "+secret, "POST", "/calls", strings.Replace(askBash, "deploy", "x", 1))
	expect.That(t, out.Code == 429 && out.Header().Get("Retry-After") != "" && w.rows() == was, "%d %s",
		out.Code, out.Body)
}

// Whatever is sent that isn't a request as it should be ends in 4xx, and leaves no row.
func TestHostileRequestsLeaveNoRow(t *testing.T) {
	w := opened(t)
	w.says("GET", "/calls/call-x", "") // notes the key's use
	was := w.rows()
	long, deep := strings.Repeat("a", 70<<10), strings.Repeat("[", 5000)
	bodies := []string{"", "{", "[]", "null", "1", `"x"`, long, deep, `{"tool":"Bash"}`, `{"tool":"Bash","arguments":[]}`,
		`{"tool":"Bash","arguments":{"command":"a"},"arguments":{"command":"b"}}`,
		`{"tool":"Bash","arguments":{"command":"a","command":"b"}}`, `{"tool":"Bash","arguments":{"command":"a"}}{}`,
		`{"tool":"Bash","arguments":{"command":"a"},"x":1}`, `{"tool":"Bash","Tool":"Bash","arguments":{}}`,
		`{"tool":1,"arguments":{}}`, `{"tool":"Write","arguments":{}}`, `{"tool":"Bash","arguments":{"command":"bash -i"}}`,
		`{"tool":"Bash","arguments":{"command":"a"},"again":"call-x"}`, "{\"tool\":\"Bash\",\"arguments\":{\"a\":\"\xff\"}}",
		`{"tool":"Bash","arguments":{"command":"a"},"reason":"` + strings.Repeat("r", 601) + `"}`,
		`{"tool":"Bash","arguments":{"command":"` + strings.Repeat("c", 33<<10) + `"}}`, `{"tool_use_id":""}`,
		`{"tool_use_id":"a"}`, `{"jsonrpc":"2.0"}`, `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`}
	keys := []string{"Bearer " + w.secret, "", "Bearer", "Bearer rk_", "Basic " + w.secret, w.secret,
		"Bearer rk_" + strings.Repeat("a", 43), "bearer " + w.secret + " x", "Bearer " + strings.ToUpper(w.secret)}
	paths := []string{"POST /calls", "POST /calls?wait=99", "POST /calls?wait=x", "GET /calls", "PUT /calls",
		"HEAD /calls/x",
		"OPTIONS /calls", "GET /calls/call-x", "GET /calls/../calls", "POST /calls/call-x/take", "POST /calls/call-x/cancel",
		"DELETE /calls/call-x", "GET /mcp", "DELETE /mcp", "POST /mcp", "PATCH /mcp", "POST /calls//take", "GET /calls/%00",
		"GET /calls/" + call.ID(w.key.TenantID, w.key.ID, "a", "b", ""), "TRACE /mcp"}
	most := 200
	if expect.Long() { // no beginning of a request is one
		for n := range len(askBash) - 1 {
			bodies, most = append(bodies, askBash[:n+1]), 10_000
		}
	}
	n, lot := 0, rand.New(rand.NewPCG(expect.Seed(), 0))
	for n < most {
		key, body := keys[lot.IntN(len(keys))], bodies[lot.IntN(len(bodies))]
		method, path, _ := strings.Cut(paths[lot.IntN(len(paths))], " ")
		if method == "GET" && key == keys[0] && body != "" && strings.HasPrefix(path, "/calls/") {
			continue // a body of GET means nothing
		}
		status, _, text := w.saysTo(key, method, path, body)
		var says struct{ Error string } // but MCP has errors of its own
		named := json.Unmarshal([]byte(text), &says) == nil && says.Error != "" || method+path == "POST/mcp"
		expect.That(t, status >= 400 && status < 500 && named, "%s %s by %.12s of %.40q: %d %.200s", method, path, key, body,
			status, text)
		n++
	}
	expect.That(t, w.rows() == was, "%d requests, %d rows, not %d", n, w.rows(), was)
}

// What is wrong is named, with its limit.
func TestAFaultIsNamed(t *testing.T) {
	w := opened(t)
	for body, want := range map[string]string{
		`{"tool":"Bash","arguments":{"command":"a","command":"b"}}`: "arguments.command is there twice",
		`{"tool":"Bash","arguments":{"command":"a","Command":"b"}}`: "arguments.Command is there twice",
		`{"tool":"Bash","arguments":{"a":{"b":1,"ｂ":2}}}`:           "arguments.a.ｂ is there twice",
		`{"tool":"Bash","arguments":{"b":1,"b\u200b":2}}`:           "arguments.b is there twice",
		`{"tool":"Bash","arguments":{"command":"a"},"x":1}`:         "x is unknown here",
		`{"TOOL":"Bash","arguments":{"command":"a"}}`:               "TOOL must be written tool",
		`{"tool":"Bash","argumentſ":{"command":"a"}}`:               "argumentſ must be written arguments",
		`{"tool":1,"arguments":{}}`:                                 "tool must not be a JSON number",
		`{"tool":"Write","arguments":{}}`:                           "not among those of this key",
		askBash + " {}":                                             "more than one JSON value",
		`{"tool":"` + writeTool + `","arguments":{}}`:               "tool is one that Ringi calls itself",
		`{"tool":"Bash","arguments":{"command":"a\udc80"}}`:         "arguments.command must not have half of a surrogate",
		`{"tool":"Bash","arguments":{"a":["\\\\\ud83d\u0061"]}}`:    "arguments.a[0] must not have half",
		`{"tool":"Bash","arguments":{"\uD83D":"a"}}`:                "arguments must not have half",
	} {
		_, _, text := w.says("POST", "/calls", body)
		expect.That(t, strings.Contains(text, want), "%s: %s", body, text)
	}
	for body, want := range map[string]string{ // of a take
		`{"tool_use_id":"a","tool":"Bash"}`:                           "arguments must be one JSON object",
		`{"tool_use_id":"a","arguments":{"command":"make deploy"}}`:   "tool must be that of the call",
		`{"tool_use_id":"a","tool":"Bash","arguments":{"command":1}}`: "arguments must be those of the call",
		strings.Replace(takes(""), `"tool_use_id":"",`, "", 1):        "tool_use_id must have 1 to",
	} {
		_, a, _ := w.says("POST", "/calls", askBash)
		status, _, text := w.says("POST", "/calls/"+a.ID+"/take", body)
		expect.That(t, status == 400 && strings.Contains(text, want), "%s: %d %s", body, status, text)
	}
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"ringi_wait"}}`,
		`{"jsonrpc":"2.0","id":1,"Method":"tools/list"}`} {
		_, _, text := w.says("POST", "/mcp", body)
		expect.Has(t, text, "body must be one message")
	}
	_, a, text := w.says("POST", "/calls", `{"tool":"Bash","arguments":{"command":"\ud83d\ude00 \\udc80 \ufffd"}}`)
	expect.That(t, a.Status == "pending", "%s", text)
	_, _, text = w.says("POST", "/calls?wait=26", askBash)
	expect.That(t, strings.Contains(text, "wait must be a whole number of seconds, 0 to 25"), "%s", text)
}

// A body counts only if it says that it is JSON.
func TestABodyOfAnotherKindIsRefused(t *testing.T) {
	w := opened(t)
	for kind, want := range map[string]int{"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415,
		"application/json; charset=utf-8": 200, `application/json; charset="UTF-8"`: 200,
		"application/json; charset=shift_jis": 415} {
		expect.Is(t, w.sendsAs(kind, "Bearer "+w.secret, "POST", "/calls", askBash).Code, want, kind)
	}
}

// What the handler never sees, and what it dies of, is a fault of the same form.
func TestWhatIsNotHandledIsAFault(t *testing.T) {
	serve := (&door{}).serve().(func(context.Context, boot.Request) (boot.Response, error)) // without Keys it dies
	large := base64.StdEncoding.EncodeToString(make([]byte, mostSent+1))
	for body, want := range map[string]int{"*": 400, large: 413, "": 500} {
		in := boot.Request{RawPath: "/calls", Body: body, IsBase64Encoded: true}
		in.RequestContext.HTTP.Method = "POST"
		out := expect.Value(serve(t.Context(), in))(t)
		var is struct{ Error string }
		err := json.Unmarshal([]byte(out.Body), &is)
		expect.That(t, err == nil && out.StatusCode == want && is.Error != "", "%.9q: %+v", body, out)
	}
}

// A secret of another form isn't looked up; one that doesn't exist is, once.
func TestWrongKeysCostLittle(t *testing.T) {
	w := opened(t)
	counted := &counting{Keys: w.Keys}
	w.Keys = counted
	status, _, text := w.saysTo("Bearer rk_"+strings.Repeat("a", 43), "POST", "/calls", askBash)
	expect.That(t, status == 401 && counted.uses == 0, "%d %s, %d uses", status, text, counted.uses)
	expect.NoError(t, w.all.RevokeKey(t.Context(), w.key.TenantID, w.key.ID, aggregate.System(), w.now))
	status, _, text = w.says("POST", "/calls", askBash)
	expect.That(t, status == 401 && strings.Contains(text, "revoked") && counted.uses == 0, "%d %s", status, text)
}

type counting struct {
	Keys
	uses int
}

func (c *counting) UseKey(ctx context.Context, k tenancy.Key, now time.Time) (bool, error) {
	c.uses++
	return c.Keys.UseKey(ctx, k, now)
}

func TestEachEndHasAWordAndASentence(t *testing.T) {
	lost := call.Call{Status: conversation.ActionFailed, Outcome: conversation.OutcomeUnknown}
	for want, x := range map[string]call.Call{
		"unknown": lost, "failed": {Status: conversation.ActionFailed}, "succeeded": {Status: conversation.ActionSucceeded},
		"refused":   {Status: conversation.ActionCancelled, CancelReason: call.ReasonDenied},
		"cancelled": {Status: conversation.ActionCancelled, CancelReason: conversation.ReasonWithdrawn},
		"expired":   {Status: conversation.ActionCancelled, CancelReason: call.ReasonAged},
		"pending":   {Status: conversation.ActionPending}, "approved": {Status: conversation.ActionApproved},
		"executing": {Status: conversation.ActionExecuting}, "granted": {Status: call.Granted},
	} {
		expect.Is(t, statusOf(&x), want)
		r := request{Request: httptest.NewRequest("GET", "/calls/x", nil), door: &door{}}
		a := r.answerOf(t.Context(), &call.Aggregate{Call: &x})
		expect.That(t, a.Say != "" && !strings.ContainsAny(a.Say, "{}") && a.failed() == (want == "failed" ||
			want == "unknown"), "%s: %+v", want, a)
	}
}

func TestWhatIsNotTheCallersFaultAsksForPatience(t *testing.T) {
	d := &door{}
	f := d.faultOf(t.Context(), fmt.Errorf("read: %w", &explain.CallError{Problem: explain.ProblemInternal}))
	expect.That(t, f.status == 503 && strings.Contains(f.text, "later"), "%+v", f)
}
