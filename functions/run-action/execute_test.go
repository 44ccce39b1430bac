package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/storetest"
)

var hello = conversation.Payload{Files: []files.File{{Path: "a.txt", Content: "1\n2\n"}}}

// An edit works on the very files for which it was approved, and leaves exactly what was shown.
func TestWhatIsApprovedIsMadeOfTheFilesThatWereShown(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.CodeGenerate, hello)
	expect.Value(w.handle())(t)
	a := w.propose(conversation.CodeGenerate, conversation.Payload{
		Edits: []files.Edit{{Path: "a.txt", Old: "2", New: "two"}}, Files: []files.File{{Path: "b.txt"}}})
	x := a.Actions[1]
	expect.Must(t, x.Status == conversation.ActionSucceeded && x.Base == a.Actions[0].Version, "%+v", x)
	content, _ := w.archives.trees[a.Conversation.WorkspaceVersion].Content("a.txt")
	expect.Is(t, string(content), "1\ntwo\n", "the file")
	expect.Same(t, &conversation.FilesChanged{Files: 2, Added: 1, Removed: 1, Names: []string{"b.txt", "a.txt"}},
		x.Changed)
	a = w.propose(conversation.CodeGenerate, conversation.Payload{Delete: []string{"a.txt"}})
	paths := w.archives.trees[a.Conversation.WorkspaceVersion].Paths()
	expect.That(t, len(paths) == 1 && paths[0] == "b.txt", "%v", paths)
}

// forged changes the rows of the current action and its conversation in a way that no decision does.
func (w *world) forged(change func(x *conversation.Action, s *conversation.Conversation)) {
	w.T.Helper()
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		x, s := *a.Current(), *a.Conversation
		change(&x, &s)
		head := a.Head
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&x, &s}}, nil
	})
}

// stamped gives a row another payload, and the stamp to it: whoever could forge a row could forge the stamp.
func stamped(x *conversation.Action, was, is string) {
	x.Payload = ringitest.InRow(strings.Replace(string(x.Payload.JSON), was, is, 1))
	x.Gate.AskedSum, x.Gate.Acts[0].Hash = x.Sum(), x.Sum()
}

// What is not as it was shown is not done, even if the row says that it was approved.
func TestOnlyWhatWasShownIsDone(t *testing.T) {
	server := storetest.Start(t)
	elsewhere := strings.Repeat("a", 64)
	long := expect.Value((&files.Tree{}).Apply([]files.File{
		{Path: "long", Content: strings.Repeat("x", files.MaxChangedLine+1)}}))(t)
	unreadable := conversation.Payload{Stamped: conversation.Stamped{Base: new(string),
		Changes: files.Difference(&files.Tree{}, long)}}
	type (
		action = conversation.Action
		talk   = conversation.Conversation
	)
	for name, tt := range map[string]struct {
		typ    conversation.ActionType
		p      conversation.Payload
		change func(x *action, s *talk)
		stored conversation.Payload // in place of the payload
		reason aggregate.Reason
	}{
		"the conversation has other files": {conversation.CodeGenerate, hello,
			func(_ *action, s *talk) { s.WorkspaceVersion = elsewhere }, hello, conversation.ReasonBase},
		"the row names other files": {conversation.CodeGenerate, hello,
			func(x *action, s *talk) { x.Base, s.WorkspaceVersion = elsewhere, elsewhere }, hello, conversation.ReasonUnread},
		"it does not become what was shown": {conversation.CodeGenerate, hello,
			func(x *action, _ *talk) { stamped(x, `+2\n`, `+3\n`) }, hello, reasonRefused},
		"nobody could have read it": {conversation.CodeGenerate, hello, func(x *action, _ *talk) {
			stamped(x, string(x.Payload.JSON), string(unreadable.JSON()))
		}, hello, conversation.ReasonUnread},
		"the bucket has another command": {conversation.ShellCommand, command, nil,
			conversation.Payload{Script: "rm -rf /", TimeoutSeconds: 60}, conversation.ReasonChanged},
		"the bucket has other files": {conversation.CodeGenerate, hello, nil,
			conversation.Payload{Files: []files.File{{Path: "other", Content: "x"}}}, conversation.ReasonChanged},
	} {
		w := approved(t, server, tt.typ, tt.p)
		if tt.change != nil {
			w.forged(tt.change)
		} else {
			w.Payloads = swapped{string(tt.stored.JSON())}
		}
		log := logged(t, func() { expect.Value(w.handle())(t) })
		x := w.action()
		invalid := tt.reason == conversation.ReasonUnread || tt.reason == reasonRefused
		expect.That(t, strings.Count(log, `"event":"action_completed"`) == 1 &&
			strings.Contains(log, `"errorCode":"VALIDATION_ERROR"`) == invalid &&
			(tt.reason == reasonRefused) == (x.ErrorDetail == inEach.In("en").refused), "%s: %q, %s", name, x.ErrorDetail, log)
		expect.That(t, x.Status == conversation.ActionFailed && x.Error == tt.reason && w.box.ran == 0 &&
			len(w.archives.trees) == 0 && (x.StartedAt == nil || tt.reason == reasonRefused),
			"%s: %+v, %d runs, %d versions", name, x, w.box.ran, len(w.archives.trees))
	}
}

// A command finds the attachments for which it was proposed, whatever was posted since; a row that names others is not
// believed.
func TestACommandGetsTheAttachmentsThatWereShown(t *testing.T) {
	server := storetest.Start(t)
	on := strings.Repeat("b", 64)
	for about, tt := range map[string]struct {
		now, row string
		ran      int
	}{"as proposed": {on, on, 1}, "more was posted": {strings.Repeat("c", 64), on, 1},
		"the row names others": {on, strings.Repeat("d", 64), 0}} {
		w := approved(t, server, conversation.ShellCommand, command)
		w.forged(func(x *conversation.Action, s *conversation.Conversation) {
			stamped(x, `"base":""`, `"base":"","attachments_version":"`+on+`"`)
			x.AttachmentsVersion, s.AttachmentsVersion = tt.row, tt.now
		})
		expect.Value(w.handle())(t)
		x := w.action()
		expect.That(t, w.box.ran == tt.ran && (tt.ran == 1) == (x.Status == conversation.ActionSucceeded),
			"%s: %+v", about, x)
		for _, o := range w.box.orders {
			expect.Is(t, o.Attachments, on, about)
		}
	}
}

// A result doesn't need its difference.
func TestAResultWhoseDifferenceFailsIsAResult(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, command)
	w.archives.uncompared = errors.New("no answer")
	w.box.end = isolated.End{Version: "x"}
	w.archives.uploaded = expect.Value((&files.Tree{}).Apply(hello.Files))(t)
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionSucceeded && x.Changed == nil && x.Version != "" && !x.NotTaken, "%+v",
		x)
}

// propose has another action approved and executed.
func (w *world) propose(typ conversation.ActionType, p conversation.Payload) *conversation.Aggregate {
	w.T.Helper()
	base := w.Load().Conversation.WorkspaceVersion
	proposal := w.proposal(typ, p, base)
	w.Answer("shall I?", proposal)
	w.Approve()
	w.Wake()
	expect.Value(w.handle())(w.T)
	return w.Load()
}

// An action whose files are lost does not work in an empty folder. The next one does.
func TestAWorkspaceThatIsGoneIsEmptyAfterwards(t *testing.T) {
	server, list := storetest.Start(t), conversation.Payload{Files: []files.File{{Path: "a", Content: "x"}}}
	for typ, p := range map[conversation.ActionType]conversation.Payload{conversation.ShellCommand: command,
		conversation.CodeGenerate: list} {
		w := approved(t, server, conversation.CodeGenerate, list)
		expect.Value(w.handle())(t)
		clear(w.archives.trees)
		w.box.err = isolated.ErrCannot
		var a *conversation.Aggregate
		expect.Has(t, logged(t, func() { a = w.propose(typ, p) }), `"errorCode":"VALIDATION_ERROR"`)
		x := a.Actions[1]
		expect.That(t, x.Error == conversation.ReasonFilesLost && x.ErrorDetail == inEach.In("en").gone &&
			a.Conversation.WorkspaceVersion == "", "%s: %+v leaves %q", typ, x, a.Conversation.WorkspaceVersion)
		a = w.propose(conversation.CodeGenerate, list)
		expect.That(t, a.Actions[2].Status == conversation.ActionSucceeded && a.Conversation.WorkspaceVersion != "",
			"%s: after it %+v", typ, a.Actions[2])
	}
}

// swapped returns another payload for each, as if the bucket had been changed.
type swapped struct{ text string }

func (s swapped) Open(context.Context, aggregate.Ref, aggregate.Blob) (json.RawMessage, error) {
	return json.RawMessage(s.text), nil
}

// An error's text about this machine goes to the log, not to people.
func TestPeopleAreToldOfLimitsInWords(t *testing.T) {
	server, w := storetest.Start(t), inEach.In("en")
	for name, tt := range map[string]struct {
		end  isolated.End
		want string
	}{
		"the changes were not kept": {isolated.End{Limit: isolated.NotKept + ": open /tmp/room/x: permission denied"},
			w.notKept},
		"memory": {isolated.End{ExitCode: -1, Signal: "SIGKILL", Limit: isolated.EndedByMemory},
			"SIGKILL\n" + w.memory},
		"ended early":            {isolated.End{ExitCode: -1, Limit: isolated.EndedEarly}, w.early},
		"an upload that is gone": {isolated.End{Version: "x"}, w.notKept},
		"what can't be kept":     {isolated.End{Left: []string{"a", "b"}}, "Couldn't be saved in the folder: a, b"},
		"too long":               {isolated.End{TimedOut: true}, "Time limit: 60 s"},
	} {
		k := approved(t, server, conversation.ShellCommand, command)
		k.box.end = tt.end
		expect.Value(k.handle())(t)
		expect.Is(t, k.action().ErrorDetail, tt.want, name)
		all := expect.Value(k.Rows.Messages(t.Context(), k.Ref.Tenant, k.Ref.ID, ""))(t)
		for _, p := range all[len(all)-1].Pieces() { // to the agent only the sandbox's words are quoted
			sandbox := p.Text == "SIGKILL" || p.Text == "a, b"
			expect.That(t, p.Quoted == sandbox, "%s: %+v", name, p)
		}
	}
}

// logged returns the log lines that do writes.
func logged(t *testing.T, do func()) string {
	t.Helper()
	var out strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&out, nil)))
	defer slog.SetDefault(before)
	do()
	return out.String()
}

// broken is a store whose output can't be saved for a while.
type broken struct {
	Store
	left int
}

func (b *broken) AppendLog(ctx context.Context, ref aggregate.Ref, action string, lines []conversation.LogEntry,
	gone []int) error {
	if b.left--; b.left >= 0 {
		return errors.New("the table is away")
	}
	return b.Store.AppendLog(ctx, ref, action, lines, gone)
}

// testFlood: the first lines came, then so many at once that the sandbox dropped most of them.
func testFlood(t *testing.T, w *world) {
	for i := range 20 {
		w.box.lines = append(w.box.lines, fmt.Sprint("early ", i+1))
	}
	w.box.lines = append(w.box.lines, "late 10000")
	w.box.dropped, w.box.end = 9979, isolated.End{Dropped: 9979}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Lines == 10000 && x.Dropped == 9979, "%d lines, %d dropped", x.Lines, x.Dropped)
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == 21 && log[19].Order == 19 && log[20].Order == 9999 && log[20].Text == "late 10000", "%+v",
		log[len(log)-1])
	told := w.Newest().Content
	for _, want := range []string{"10,000 lines", "Not kept: 9,979.", "\n20: early 20\n10000: late 10000"} {
		expect.Has(t, told, want)
	}
}

// testManyLines: of the lines that came, the newest are kept, and the agent sees the last of these.
func testManyLines(t *testing.T, w *world) {
	for i := range 700 {
		w.box.lines = append(w.box.lines, fmt.Sprint("line ", i+1))
	}
	expect.Value(w.handle())(t)
	x := w.action()
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == conversation.MostLines && log[0].Order == 200 && x.Dropped == 200,
		"%d lines from %d, not kept: %d", len(log), log[0].Order, x.Dropped)
	told := w.Newest().Content
	expect.Has(t, told, "Not kept: 200. The last ones")
	expect.Has(t, told, "\n641: line 641\n")
}

// testUnsaved: output that couldn't be saved is said to be missing, and the lines after it have their numbers.
func testUnsaved(t *testing.T, w *world) {
	w.Handler.Store = &broken{w.Handler.Store, 1}
	for i := range 510 {
		w.box.lines = append(w.box.lines, fmt.Sprint("line ", i+1))
	}
	expect.Value(w.handle())(t)
	x := w.action()
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == 10 && log[0].Order == 500 && x.Lines == 510 && x.Dropped == 500,
		"%d lines, not kept: %d", len(log), x.Dropped)
}

// The agent's part of the output has whole lines, each after its number, within its limit.
func TestTheEndOfTheOutputHasWholeLines(t *testing.T) {
	long := strings.Repeat("あ", isolated.MaxLine/3)
	l := &lines{last: []isolated.Line{{Number: 7, Text: strings.Repeat("s", 99)}, {Number: 9, Text: long}}}
	text := l.tail()
	expect.That(t, text == "9: "+long && len(text) <= mostTail, "%d bytes", len(text))
	l.last = nil
	for i := range 200 {
		l.last = append(l.last, isolated.Line{Number: i + 1, Text: strings.Repeat("x", 300)})
	}
	text = l.tail()
	all := strings.Split(text, "\n")
	from := 200 - len(all) + 1
	expect.That(t, len(text) <= mostTail && strings.HasPrefix(all[0], fmt.Sprint(from, ": xxx")) &&
		slices.Min(lengths(all)) > 300, "%d lines from %d", len(all), from)
	l.last = nil
	expect.Is(t, l.tail(), "", "of nothing")
	l.last = []isolated.Line{{Number: 3}, {Number: 7}, {Number: 8}}
	expect.Is(t, l.tail(), "3: \n7: \n8: ", "with a gap")
}

func lengths(all []string) (out []int) {
	for _, s := range all {
		out = append(out, len(s))
	}
	return out
}
