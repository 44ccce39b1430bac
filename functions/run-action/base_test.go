package main

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/storetest"
)

var hello = conversation.Payload{Files: []conversation.File{{Path: "a.txt", Content: "1\n2\n"}}}

// An edit works on the very files for which it was approved, and leaves exactly what was shown.
func TestWhatIsApprovedIsMadeOfTheFilesThatWereShown(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.CodeGenerate, hello)
	expect.Value(w.handle())(t)
	a := w.propose(conversation.CodeGenerate, conversation.Payload{
		Edits: []conversation.Edit{{Path: "a.txt", Old: "2", New: "two"}}, Files: []conversation.File{{Path: "b.txt"}}})
	x := a.Actions[1]
	expect.Must(t, x.Status == conversation.ActionSucceeded && x.Base == a.Actions[0].Version, "%+v", x)
	content, _ := w.archives.trees[a.Conversation.WorkspaceVersion].Content("a.txt")
	expect.Is(t, string(content), "1\ntwo\n", "the file")
	expect.Same(t, &conversation.FilesChanged{Files: 2, Added: 1, Removed: 1, Names: []string{"b.txt", "a.txt"},
		Written: 1, Makers: [][]conversation.Maker{nil, {{Action: 1, Seen: true}}}}, x.Changed)
	a = w.propose(conversation.CodeGenerate, conversation.Payload{Delete: []string{"a.txt"}})
	paths := w.archives.trees[a.Conversation.WorkspaceVersion].Paths()
	expect.That(t, len(paths) == 1 && paths[0] == "b.txt", "%v", paths)
}

// forged changes the rows of the current action and its conversation in a way that no decision does.
func (w *world) forged(change func(x *conversation.Action, s *conversation.Conversation)) {
	w.t.Helper()
	w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		x, s := *a.Current(), *a.Conversation
		change(&x, &s)
		head := a.Head
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&x, &s}}, nil
	})
}

func TestNothingIsDoneToOtherFilesThanWereShown(t *testing.T) {
	server := storetest.Start(t)
	elsewhere := strings.Repeat("a", 64)
	for name, tt := range map[string]struct {
		change func(x *conversation.Action, s *conversation.Conversation)
		reason aggregate.Reason
	}{
		"the conversation has other files": {func(_ *conversation.Action, s *conversation.Conversation) { s.WorkspaceVersion = elsewhere }, conversation.ReasonBase},
		"the row names other files": {func(x *conversation.Action, s *conversation.Conversation) {
			x.Base, s.WorkspaceVersion = elsewhere, elsewhere
		}, conversation.ReasonUnread},
	} {
		w := approved(t, server, conversation.CodeGenerate, hello)
		w.forged(tt.change)
		_, err := w.handle()
		expect.NoError(t, err)
		x := w.action()
		if x.Status != conversation.ActionFailed || x.Error != tt.reason || x.StartedAt != nil || len(w.archives.trees) != 0 {
			t.Errorf("%s: %s %s, started %v, %d versions", name, x.Status, x.Error, x.StartedAt, len(w.archives.trees))
		}
	}
}

// What can't be made as it was shown is not made, even if the row says that it was approved.
func TestWhatDoesNotBecomeWhatWasShownIsRefused(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.CodeGenerate, hello)
	w.forged(func(x *conversation.Action, _ *conversation.Conversation) {
		text := strings.Replace(string(x.Payload.JSON), `+2\n`, `+3\n`, 1)
		x.Payload = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
		x.Gate.Asked, x.Gate.Acts[0].Hash = x.Payload.Hash(),
			x.Payload.Hash() // whoever could forge a row could forge the stamp
	})
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == reasonRefused && len(w.archives.trees) == 0, "%+v", x)
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
			text := strings.Replace(string(x.Payload.JSON), `"base":""`, `"base":"","attachments_version":"`+on+`"`, 1)
			x.Payload = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
			x.Gate.Asked, x.Gate.Acts[0].Hash = x.Payload.Hash(), x.Payload.Hash()
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
	w.archives.uploaded = expect.Value((&conversation.Tree{}).Apply(hello.Files))(t)
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionSucceeded && x.Changed == nil && x.Version != "" && !x.NotTaken, "%+v", x)
}
