package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

const listed = "listed"

// vendor answers calls as scripted.
type vendor struct {
	calls   []tool.Call
	returns string
	err     error
	during  func()          // while the call is made
	within  context.Context // of the last call
	sees    bool            // whether a write can be looked for
}

func (v *vendor) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	v.calls, v.within = append(v.calls, c), ctx
	if v.during != nil {
		v.during()
	}
	if v.err == nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return json.RawMessage(v.returns), v.err
}

func (v *vendor) Look(context.Context, tool.Call) (json.RawMessage, bool) {
	return json.RawMessage(v.returns), v.sees
}

// bucket keeps results in memory.
type bucket struct {
	storetest.Rows
	kept map[string]json.RawMessage
	err  error
}

func (b *bucket) KeepCallResult(_ context.Context, _ aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	if b.err != nil {
		return aggregate.Blob{}, b.err
	}
	key := fmt.Sprintf("talks/%d", len(b.kept))
	b.kept[key] = v
	return aggregate.Blob{S3Key: key, Bytes: len(v)}, nil
}

// world is a conversation with one approved call.
type world struct {
	*Handler
	ringitest.Talk
	vendor *vendor
	bucket *bucket
	server *storetest.Server
	now    time.Time
	ids    int
}

// toolCall is what a test has called: a tool of the catalog.
type toolCall struct{ tool, arguments string }

var (
	read  = toolCall{"list_employees", `{"department":null,"status":"all"}`}
	write = toolCall{"send_slack_dm", `{"recipient":"U12","text":"hello","details":[]}`}
)

func catalog(t *testing.T) *tool.Catalog { return expect.Value(tool.Builtin())(t) }

// opened opens a conversation, whose files may be a source's.
func opened(t *testing.T, source ...*conversation.Source) *world {
	t.Helper()
	server := storetest.Start(t)
	_, name := server.Store(t)
	w := &world{vendor: &vendor{returns: `{"employees":[]}`}, bucket: &bucket{kept: map[string]json.RawMessage{}},
		server: server, now: time.Now().UTC().Truncate(time.Millisecond)}
	now := func() time.Time { return w.now }
	o := conversation.Opening{AgentID: "codex", Locale: "en"}
	for _, s := range source {
		o.Source = s
	}
	w.Talk = ringitest.Begin(t, store.NewConversations(server.DB, name), now,
		ringitest.Heard(ringitest.Root, "U1", "do it"), o)
	w.Handler = &Handler{Store: w.Rows, Results: w.bucket, Tools: w.vendor, Catalog: catalog(t), Now: now,
		NewID: func() string { w.ids++; return fmt.Sprint("i", w.ids) }, PollEvery: 5 * time.Millisecond}
	return w
}

// payload is a call as answer-message completes it.
func (w *world) payload(c toolCall) string {
	w.T.Helper()
	s, _ := w.Catalog.Lookup(c.tool)
	p, problems := conversation.ReadPayload(conversation.ToolCall,
		fmt.Appendf(nil, `{"tool":%q,"arguments":%q}`, c.tool, c.arguments))
	expect.Must(w.T, problems == nil, "%v", problems)
	p, _ = p.Complete(conversation.ToolCall, conversation.On{}, nil)
	p.Called = conversation.Called{ToolVersion: s.Version(), Access: s.Access}
	return p.JSON()
}

// proposed has the agent make the read.
func (w *world) proposed() *conversation.Action {
	w.T.Helper()
	proposal := &conversation.Proposal{Type: conversation.ToolCall, Tool: read.tool, Access: aggregate.Read, Rule: listed,
		Payload: ringitest.InRow(w.payload(read)),
		Terms:   aggregate.Terms{ApprovalRequired: true, ApprovalHours: 72}}
	return w.Answer("shall I?", proposal).Current()
}

// entry lists the read for U1.
func entry(t *testing.T) tenancy.ListedRead {
	s, _ := catalog(t).Lookup(read.tool)
	return tenancy.ListedRead{Agent: "codex", Tool: read.tool, Version: s.Version(), People: []string{"U1"}}
}

// calling is a world whose agent makes a listed read.
func calling(t *testing.T) *world {
	t.Helper()
	w := opened(t)
	w.Store = listing{w.Rows, []tenancy.ListedRead{entry(t)}}
	w.proposed()
	return w
}

func (w *world) handle() (aggregate.Next, error) { return w.Handle(context.Background(), w.In()) }

func (w *world) action() *conversation.Action {
	w.T.Helper()
	return w.Load().Actions[0]
}

// refuses handles the call and expects that it was not made.
func (w *world) refuses(why aggregate.Reason) *conversation.Action {
	w.T.Helper()
	next, err := w.handle()
	expect.NoError(w.T, err)
	expect.Is(w.T, next.State, conversation.StateAnswer)
	x := w.action()
	expect.Is(w.T, x.Status, conversation.ActionFailed)
	expect.Is(w.T, x.Error, why)
	expect.Is(w.T, len(w.vendor.calls), 0, "calls")
	return x
}

func (w *world) permit(p tenancy.ToolPermission) {
	w.T.Helper()
	by := ringitest.Member("U9")
	is, _, err := w.Rows.ToolPermission(context.Background(), w.Ref.Tenant, p.ToolName)
	expect.NoError(w.T, err)
	p.TenantID, p.Meta, p.ID = w.Ref.Tenant, is.Meta, is.ID
	expect.Value(w.Rows.SaveToolPermission(context.Background(), p, by, w.now, w.Catalog.Knows(p.ToolName)...))(w.T)
}

func TestCalls(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, w *world){
		"a call is made once, and its result goes to the bucket alone": testOnce,
		"a crashed read did nothing, and is not made again":            testCrashedRead,
		"a read without an answer, or that can't be kept, has failed":  testUnsureRead,
		"a constraint that was set meanwhile holds":                    testConstraint,
		"a permission that changes under the claim is read again":      testChangesUnderTheClaim,
		"a payload that is not what was approved is not called":        testChangedPayload,
		"a cancelled read is stopped":                                  testCancelled,
	} {
		t.Run(name, func(t *testing.T) { test(t, calling(t)) })
	}
}

func testOnce(t *testing.T, w *world) {
	w.vendor.returns = `{"employees":[{"display_name":"<佐藤>","email":"sato@example.com","entry_date":"2026-10-01"}]}`
	for range 3 {
		next, err := w.handle()
		expect.Must(t, err == nil && next.State == conversation.StateAnswer, "%+v %v", next, err)
	}
	x := w.action()
	expect.Is(t, x.Status, conversation.ActionSucceeded)
	expect.Is(t, len(w.vendor.calls), 1)
	c := w.vendor.calls[0]
	expect.Is(t, string(c.Arguments.JSON()), read.arguments)
	expect.That(t, c.Key == w.Ref.ID+"/"+x.ActionID && c.Tenant == w.Ref.Tenant && c.Asked == "U1", "%+v", c)
	expect.Must(t, x.CallResult != nil && x.CallResult.JSON == "", "the row holds %+v", x.CallResult)
	r := expect.Value(conversation.ReadCallResult(w.bucket.kept[x.CallResult.S3Key]))(t)
	expect.Is(t, string(r.Value),
		`{"employees":[{"display_name":"<佐藤>","email":"s***@example.com","entry_date":"2026-10-01"}]}`)
	rows := expect.Value(json.Marshal(x))(t)
	expect.That(t, !strings.Contains(string(rows), "佐藤"), "the row has the result: %s", rows)
}

// testCrashedRead finds a claim whose invocation is gone.
func testCrashedRead(t *testing.T, w *world) {
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.ClaimCall(a.Head.Run, "gone", w.now.Add(time.Minute), w.now)
	})
	expect.Is(t, expect.Value(w.handle())(t).State, aggregate.StateFinish, "while it may still run")
	w.now = w.now.Add(2 * time.Minute)
	expect.Value(w.handle())(t)
	expect.Is(t, len(w.vendor.calls), 0)
	expect.Is(t, w.action().Error, conversation.ReasonReadCutOff)
	expect.Is(t, w.action().Outcome, "")
}

func testUnsureRead(t *testing.T, w *world) {
	w.vendor.err = &explain.CallError{Outcome: explain.CallFailed, Problem: explain.ProblemTimeout,
		Detail: "freee is slow"}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Error == reasonFailed && x.ErrorDetail == "freee is slow" && x.Outcome == "", "%+v", x)
	w = calling(t)
	w.bucket.err = errors.New("no bucket")
	expect.Value(w.handle())(t)
	expect.Is(t, w.action().Error, reasonNotKept)
}

func testConstraint(t *testing.T, w *world) {
	w.permit(tenancy.ToolPermission{ToolName: read.tool, Allowed: true, Constraints: `{"departments":["営業部"]}`})
	x := w.refuses(reasonConstraint)
	expect.Has(t, x.ErrorDetail, "営業部")
}

// forbidding has once run something, such as forbidding the tool, after the permission was read.
type forbidding struct {
	Store
	once func()
}

func (f *forbidding) ToolPermission(ctx context.Context, tenant, name string) (tenancy.ToolPermission, bool, error) {
	p, found, err := f.Store.ToolPermission(ctx, tenant, name)
	if f.once != nil {
		f.once()
		f.once = nil
	}
	return p, found, err
}

func testChangesUnderTheClaim(t *testing.T, w *world) {
	w.Store = &forbidding{w.Store, func() { w.permit(tenancy.ToolPermission{ToolName: read.tool}) }}
	expect.Is(t, w.refuses(reasonForbidden).ErrorDetail, read.tool)
}

func testChangedPayload(t *testing.T, w *world) {
	for name, change := range map[string]func(x *conversation.Action){
		"files":  func(x *conversation.Action) { x.Base = "other" },
		"tool":   func(x *conversation.Action) { x.Tool = "list_departments" },
		"access": func(x *conversation.Action) { x.Access = aggregate.Write },
	} {
		a := w.Load()
		j := &job{making: w.making(w.In(), "en"), session: a.Conversation, action: a.Current()}
		change(j.action)
		expect.Is(t, expect.Value(j.prepare(t.Context()))(t).reason, conversation.ReasonUnread, "a row of another %s", name)
		referring := conversation.Payload{Tool: read.tool, Arguments: `{"department":{"$ref":"step-1.result"}}`}
		expect.Is(t, j.check(referring).reason, reasonArguments)
	}
	w.Results = swapped{w.bucket}
	w.refuses(conversation.ReasonChanged)
}

// swapped is a bucket with something else than was approved.
type swapped struct{ *bucket }

func (swapped) Open(context.Context, aggregate.Ref, aggregate.Blob) (json.RawMessage, error) {
	return json.RawMessage(`{"tool":"list_employees","arguments":"{}"}`), nil
}

func testCancelled(t *testing.T, w *world) {
	w.vendor.during = func() {
		w.Cancel()
		select {
		case <-w.vendor.within.Done():
		case <-time.After(10 * time.Second):
		}
	}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.Is(t, x.Status, conversation.ActionCancelled)
	expect.Must(t, x.Late != nil, "no late result")
	expect.Is(t, x.Late.Error, reasonFailed)
}

func TestAListedReadIsAskedOfTheSettingsAgain(t *testing.T) {
	for name, change := range map[string]func(*tenancy.ListedRead){
		"for another agent":      func(e *tenancy.ListedRead) { e.Agent = "claude" },
		"in another version":     func(e *tenancy.ListedRead) { e.Version = strings.Repeat("0", 64) },
		"another tool is listed": func(e *tenancy.ListedRead) { e.Tool = "list_departments" },
	} {
		t.Run(name, func(t *testing.T) {
			w, e := opened(t), entry(t)
			change(&e)
			w.Store = listing{w.Rows, []tenancy.ListedRead{e}}
			expect.Is(t, w.proposed().ApprovedBy, conversation.ApprovedByAuto)
			w.refuses(reasonUnlisted)
		})
	}
	e := entry(t)
	j := job{session: &conversation.Conversation{AgentID: e.Agent}, action: &conversation.Action{Askers: e.People}}
	j.settings.ListedReads = []tenancy.ListedRead{e}
	for access, want := range map[aggregate.Access]bool{aggregate.Read: true, aggregate.Write: false} {
		j.tool.Spec.Access = access
		p := conversation.Payload{Tool: e.Tool}
		p.ToolVersion = e.Version
		expect.Is(t, j.listed(p), want, "by the settings a tool that is a %s is listed", access)
	}
}

// listing has the settings of a workspace that lists reads.
type listing struct {
	Store
	list []tenancy.ListedRead
}

func (l listing) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	s, err := l.Store.Settings(ctx, tenant)
	s.ListedReads = l.list
	return s, err
}
