package main

import (
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// Of each path it is known which actions changed it since the first files, and whether people saw the text before.
func TestWhoMadeEachChangeIsKnown(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.CodeGenerate, conversation.Payload{Files: []conversation.File{
		{Path: "a", Content: "1\n"}, {Path: "b", Content: "1\n"}}})
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Changed.Makers == nil, "before the first action: %+v", x.Changed)

	w.box.end = isolated.End{Version: "x"}
	w.archives.uploaded = expect.Value(w.archives.trees[x.Version].Apply([]conversation.File{{Path: "a",
		Content: "2\n"}, {Path: "c", Content: "1\n"}}))(t)
	a := w.propose(conversation.ShellCommand, command)
	expect.Same(t, [][]conversation.Maker{nil, {{Action: 1, Seen: true}}}, a.Actions[1].Changed.Makers)

	w.archives.uploaded = w.archives.trees[a.Conversation.WorkspaceVersion] // nothing changes
	a = w.propose(conversation.ShellCommand, command)
	expect.Is(t, a.Conversation.FilesBy, 2, "the action that left the files")

	a = w.propose(conversation.CodeGenerate, conversation.Payload{Delete: []string{"a"},
		Files: []conversation.File{{Path: "b", Content: "1\n2\n"}}})
	made := expect.Value(w.archives.Made(t.Context(), large.VersionsOf{}, a.Conversation.WorkspaceVersion,
		a.Conversation.FilesBy))(t)
	expect.Same(t, conversation.Made{Paths: map[string][]conversation.Maker{
		"a": {{Action: 1, Seen: true}, {Action: 2}, {Action: 4, Seen: true}},
		"b": {{Action: 1, Seen: true}, {Action: 4, Seen: true}}, "c": {{Action: 2}}}}, made)

	clear(w.archives.made) // they could not be stored
	a = w.propose(conversation.CodeGenerate, conversation.Payload{Delete: []string{"c"}})
	expect.Same(t, [][]conversation.Maker{{{}}}, a.Actions[4].Changed.Makers)
}
