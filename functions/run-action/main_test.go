package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// box is a scripted sandbox.
type box struct {
	ran     int
	orders  []isolated.Order
	lines   []string
	dropped int // how many lines before the last of these were dropped
	end     isolated.End
	err     error
	running func() // while the command runs
}

func (b *box) Run(_ context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	b.orders = append(b.orders, o)
	if errors.Is(b.err, isolated.ErrNotBegun) {
		return isolated.End{}, b.err
	}
	b.ran++
	for i, text := range b.lines {
		if i == len(b.lines)-1 {
			i += b.dropped
		}
		if err := onLine(isolated.Line{Number: i + 1, Text: text}); err != nil {
			return isolated.End{}, err
		}
	}
	if b.running != nil {
		b.running()
	}
	return b.end, b.err
}

// archives stores workspaces in memory.
type archives struct {
	mu        sync.Mutex // of cancelled
	trees     map[string]*files.Tree
	uploaded  *files.Tree
	cancelled []string
	told      chan struct{} // gets a value for each cancellation
	// uncompared is why differences can't be made.
	uncompared error
}

func (s *archives) Get(_ context.Context, _ aggregate.Ref, version string) (*files.Tree, error) {
	if version == "" {
		return &files.Tree{}, nil
	}
	if s.trees[version] == nil {
		return nil, large.ErrGone
	}
	return s.trees[version], nil
}

func (s *archives) Put(_ context.Context, _ aggregate.Ref, t *files.Tree) (string, error) {
	archive, err := t.Archive()
	if err != nil {
		return "", err
	}
	version := files.Sum(archive)
	s.trees[version] = t
	return version, nil
}

func (s *archives) Take(ctx context.Context, of aggregate.Ref, _ string) (string, error) {
	if s.uploaded == nil {
		return "", large.ErrGone
	}
	return s.Put(ctx, of, s.uploaded)
}

func (s *archives) Difference(ctx context.Context, of aggregate.Ref, base, version string) ([]files.Change, error) {
	if s.uncompared != nil {
		return nil, s.uncompared
	}
	was, err := s.Get(ctx, of, base)
	if err != nil {
		return nil, err
	}
	is, err := s.Get(ctx, of, version)
	if err != nil {
		return nil, err
	}
	return files.Difference(was, is), ctx.Err()
}

func (s *archives) Cancel(_ context.Context, _ aggregate.Ref, action string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = append(s.cancelled, action)
	select {
	case s.told <- struct{}{}:
	default: // the channel is full
	}
	return nil
}

// stopped returns the cancelled actions.
func (s *archives) stopped() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.cancelled)
}

func (s *archives) Lend(_ context.Context, _ aggregate.Ref, on conversation.On, _ time.Time,
	o *isolated.Order) error {
	o.Attachments = on.Attachments
	return nil
}

// world is a conversation with one approved action.
type world struct {
	*Handler
	ringitest.Talk
	box      *box
	archives *archives
	now      time.Time
	ids      int
}

func approved(t *testing.T, server *storetest.Server, typ conversation.ActionType, p conversation.Payload) *world {
	t.Helper()
	_, name := server.Store(t)
	return approvedIn(t, store.NewConversations(server.DB, name), ringitest.Root, typ, p)
}

// approvedIn is approved in a thread of a table that may have other conversations.
func approvedIn(t *testing.T, rows *store.ConversationStore, thread string, typ conversation.ActionType,
	p conversation.Payload) *world {
	t.Helper()
	w := &world{box: &box{}, now: time.Now().UTC().Truncate(time.Millisecond),
		archives: &archives{trees: map[string]*files.Tree{}, told: make(chan struct{}, 1)}}
	now := func() time.Time { return w.now }
	in := ringitest.Heard(thread, "U1", "do it")
	in.Thread = thread
	w.Talk = ringitest.Begin(t, rows, now, in, conversation.Opening{AgentID: "codex", Locale: "en"})
	w.Handler = &Handler{Store: w.Rows, Payloads: storetest.Rows{}, Files: w.archives, Sandbox: w.box, Now: now,
		NewID: func() string { w.ids++; return fmt.Sprint("i", w.ids) }, PollEvery: 5 * time.Millisecond,
		FlushEvery: time.Hour, RedrawEvery: time.Hour}
	proposal := w.proposal(typ, p, "")
	w.Answer("shall I?", proposal)
	w.Approve()
	w.Wake()
	return w
}

// proposal is what answer-message makes of an agent's proposal for these files.
func (w *world) proposal(typ conversation.ActionType, p conversation.Payload, base string) *conversation.Proposal {
	w.T.Helper()
	list := w.archives.trees[base]
	if list == nil {
		list = &files.Tree{}
	}
	kept, problems := p.Complete(typ, conversation.On{Base: base}, list)
	expect.Must(w.T, problems == nil, "%v", problems)
	text := kept.JSON()
	return &conversation.Proposal{Type: typ, Payload: ringitest.InRow(text), On: conversation.On{Base: base},
		Seconds: p.TimeoutSeconds, Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}
}

func (w *world) handle() (aggregate.Next, error) { return w.Handle(context.Background(), w.In()) }

// action returns the conversation's only action.
func (w *world) action() *conversation.Action {
	w.T.Helper()
	return w.Load().Actions[0]
}

var command = conversation.Payload{Script: "make", TimeoutSeconds: 60}

func TestActions(t *testing.T) {
	server := storetest.Start(t)
	run := func(name string, typ conversation.ActionType, p conversation.Payload, test func(t *testing.T, w *world)) {
		t.Run(name, func(t *testing.T) { test(t, approved(t, server, typ, p)) })
	}
	run("a command runs once for one approval", conversation.ShellCommand, command, testRuns)
	run("a flood of output keeps its numbers", conversation.ShellCommand, command, testFlood)
	run("the newest lines are kept", conversation.ShellCommand, command, testManyLines)
	run("output that can't be saved is missing", conversation.ShellCommand, command, testUnsaved)
	run("a command that fails says how", conversation.ShellCommand, command, testFails)
	tests := conversation.Payload{Argv: []string{"npm", "test"}, TimeoutSeconds: 60}
	run("tests of which some fail were run", conversation.TestRun, tests, testFailingTests)
	run("tests that were stopped failed", conversation.TestRun, tests, testStoppedTests)
	run("tests whose numbers the exit code denies are a failure", conversation.TestRun, tests, testDenied)
	run("a lost call is unknown and not made again", conversation.ShellCommand, command, testLost)
	run("a crash during the call is unknown and it is not made again", conversation.ShellCommand, command, testCrash)
	run("a sandbox that can't be had is asked for again", conversation.ShellCommand, command, testNotBegun)
	run("what is cancelled is told to stop, and its late result is kept beside", conversation.ShellCommand, command,
		testCancelled)
	run("files are written without a sandbox", conversation.CodeGenerate,
		conversation.Payload{Files: []files.File{{Path: "a/b.txt", Content: "hi"}}}, testWrites)
	run("without a sandbox no command is run", conversation.ShellCommand, command, testNoSandbox)
}

func testRuns(t *testing.T, w *world) {
	w.box.lines, w.box.end = []string{"one", "two"}, isolated.End{Version: "whatever it says"}
	w.archives.uploaded = expect.Value((&files.Tree{}).Apply([]files.File{{Path: "out", Content: "x"}}))(t)
	for range 3 {
		next, err := w.handle()
		expect.Must(t, err == nil && next.State == conversation.StateAnswer, "%+v %v", next, err)
	}
	x, a := w.action(), w.Load()
	expect.That(t, x.Status == conversation.ActionSucceeded && w.box.ran == 1 && *x.ExitCode == 0 && x.Lines == 2 &&
		x.StartedAt != nil && x.CompletedAt != nil, "%+v after %d runs", x, w.box.ran)
	expect.That(t, a.Conversation.WorkspaceVersion == x.Version && w.archives.trees[x.Version] != nil &&
		a.Conversation.Status == conversation.Open && a.Head.Acting == "", "version %q of %q, %s",
		a.Conversation.WorkspaceVersion, x.Version, a.Conversation.Status)
	expect.Is(t, x.ResultSummary, "Files: out · Exit code: 0", "result_summary")
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == 2 && log[1].Text == "two" && log[1].Order == 1, "%+v", log)
	told := w.Newest().Content
	expect.That(t, strings.Contains(told, "two") && strings.Contains(told, "done"), "the agent is told %q", told)
	o := w.box.orders[0]
	expect.Same(t, &conversation.FilesChanged{Files: 1, Added: 1, Names: []string{"out"}}, x.Changed)
	expect.That(t, strings.Contains(told, "Files changed: 1, +1 −0 lines"), "the agent is told %q", told)
	expect.That(t, o.Script == "make" && o.Action == x.ActionID && o.Deadline.Before(x.Claim.LeaseUntil), "%+v", o)
}

func testFails(t *testing.T, w *world) {
	w.box.lines, w.box.end = []string{"Tests:       1 failed, 8 passed, 9 total"}, isolated.End{ExitCode: 3}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == conversation.ReasonExit && *x.ExitCode == 3 &&
		x.Outcome == "" && x.Version == "" && x.Tests == nil, "%+v", x)
	expect.Has(t, w.Newest().Content, "Action #1 ran, with exit code 3.")
}

func testFailingTests(t *testing.T, w *world) {
	w.box.lines, w.box.end = []string{"Tests:       1 failed, 8 passed, 9 total"}, isolated.End{ExitCode: 3}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionSucceeded && x.Error == "" && *x.ExitCode == 3, "%+v", x)
	expect.Is(t, x.ResultSummary, "Tests: 8 passed, 1 failed · Exit code: 3", "result_summary")
	expect.Has(t, w.Newest().Content, "Tests: 8 passed, 1 failed")
}

func testStoppedTests(t *testing.T, w *world) {
	w.box.lines, w.box.end = []string{"Tests:       1 failed, 8 passed, 9 total"}, isolated.End{ExitCode: 1,
		Limit: isolated.EndedEarly}
	expect.Value(w.handle())(t)
	expect.Is(t, w.action().Status, conversation.ActionFailed)
}

func testDenied(t *testing.T, w *world) {
	w.box.lines, w.box.end = []string{"Tests:       8 passed, 8 total", "coverage is too low"}, isolated.End{ExitCode: 1}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == conversation.ReasonExit, "%+v", x)
	expect.Is(t, x.ResultSummary, "Exit code: 1", "result_summary")
}

func testLost(t *testing.T, w *world) {
	w.box.lines, w.box.err = []string{"deleting"}, errors.New("the stream broke off")
	for range 3 {
		expect.Value(w.handle())(t)
	}
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Outcome == conversation.OutcomeUnknown && w.box.ran == 1,
		"%+v after %d runs", x, w.box.ran)
}

func testCrash(t *testing.T, w *world) {
	func() {
		defer func() { _ = recover() }()
		w.box.running = func() { panic("the environment is gone") }
		_, _ = w.handle()
	}()
	next, err := w.handle()
	expect.Must(t, err == nil && next.State == aggregate.StateFinish, "while the claim holds: %+v %v", next, err)
	w.now = w.now.Add(10 * time.Minute)
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Crashed(w.now) })
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Outcome == conversation.OutcomeUnknown && w.box.ran == 1,
		"%+v after %d runs", x, w.box.ran)
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(a.Actions[0].ActionID, "i1", conversation.Result{Status: conversation.ActionSucceeded,
			Version: "v1"}, w.now)
	})
	a := w.Load()
	if x := a.Actions[0]; x.Status != conversation.ActionSucceeded || x.Outcome != "" || !x.NotTaken ||
		a.Conversation.WorkspaceVersion != "" {
		t.Errorf("the truth came late, and it is %+v; the files are %q", x, a.Conversation.WorkspaceVersion)
	}
}

func testNotBegun(t *testing.T, w *world) {
	w.box.err = fmt.Errorf("no room: %w", isolated.ErrNotBegun)
	for try := range 9 {
		expect.Must(t, expect.Err(w.handle()) != nil, "try %d is no error", try)
		if x := w.action(); try < 8 && (x.Status != conversation.ActionExecuting || x.Claim != nil) {
			t.Fatalf("after try %d: %+v", try, x)
		}
	}
	if x := w.action(); x.Status != conversation.ActionFailed || x.Error != conversation.ReasonNotBegun || w.box.ran != 0 {
		t.Errorf("%+v", x)
	}
}

func testCancelled(t *testing.T, w *world) {
	w.box.running = func() {
		w.Cancel()
		select { // the command ends because it was cancelled
		case <-w.archives.told:
		case <-time.After(time.Minute):
			w.T.Error("the command is not told to stop")
		}
	}
	w.box.end = isolated.End{ExitCode: -1, Signal: "killed", Cancelled: true, Version: "x"}
	w.archives.uploaded = expect.Value((&files.Tree{}).Apply([]files.File{{Path: "half", Content: "x"}}))(t)
	expect.Value(w.handle())(t)
	a := w.Load()
	x := a.Actions[0]
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelledBy == "U1" && x.Late != nil &&
		x.Late.Status == conversation.ActionFailed && len(w.archives.stopped()) == 1, "%+v, told to stop %v", x,
		w.archives.stopped())
	expect.Is(t, x.Late.ErrorDetail, "", "nothing of it stays in the folder")
	expect.Has(t, w.Newest().Content, "has stopped. The folder is unchanged.")
	expect.That(t, a.Conversation.WorkspaceVersion == "" && a.Conversation.Status == conversation.Open,
		"the workspace is %q, the session %s", a.Conversation.WorkspaceVersion, a.Conversation.Status)
}

func testWrites(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionSucceeded && len(w.box.orders) == 0, "%+v", x)
	expect.Same(t, &conversation.FilesChanged{Files: 1, Added: 1, Names: []string{"a/b.txt"}}, x.Changed)
	content, ok := w.archives.trees[x.Version].Content("a/b.txt")
	expect.That(t, ok && string(content) == "hi", "%q", content)
}

func testNoSandbox(t *testing.T, w *world) {
	w.Sandbox = nil
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == reasonSandboxOff && x.StartedAt == nil, "%+v", x)
}
