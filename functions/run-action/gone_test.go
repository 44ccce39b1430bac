package main

import (
	"context"
	"fmt"
	"testing"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/storetest"
)

// propose has another action approved and executed.
func (w *world) propose(typ conversation.ActionType, p conversation.Payload) *conversation.Aggregate {
	w.t.Helper()
	base := expect.Value(w.rows.Load(context.Background(), w.ref))(w.t).Conversation.WorkspaceVersion
	proposal := w.proposal(typ, p, base)
	w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "shall I?", Proposal: proposal}, w.now)
	})
	w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		x := a.Current()
		return decide.Approve(a, x.ActionID, person(), policy, w.now)
	})
	run := w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(w.now) }).Head.Run
	expect.Value(w.Handle(context.Background(), pipeline.Input{Tenant: w.ref.Tenant, Kind: "session", ID: w.ref.ID, Run: run}))(w.t)
	return expect.Value(w.rows.Load(context.Background(), w.ref))(w.t)
}

// An action whose files are lost does not work in an empty folder, and neither does the next one until a person chooses.
func TestAWorkspaceThatIsGoneWaitsForAPerson(t *testing.T) {
	server, files := storetest.Start(t), conversation.Payload{Files: []conversation.File{{Path: "a", Content: "x"}}}
	for typ, p := range map[conversation.ActionType]conversation.Payload{conversation.ShellCommand: command, conversation.CodeGenerate: files} {
		w := approved(t, server, conversation.CodeGenerate, files)
		expect.Value(w.handle())(t)
		clear(w.archives.trees)
		w.box.err = isolated.ErrCannot
		a := w.propose(typ, p)
		if x := a.Actions[1]; x.Error != conversation.ReasonFilesLost || x.ErrorDetail != inEach.In("en").gone ||
			!a.FilesLost() || a.Conversation.WorkspaceVersion == "" {
			t.Errorf("%s: %+v leaves %q", typ, x, a.Conversation.WorkspaceVersion)
		}
		w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.BeginEmpty(person(), policy, w.now)
		})
		if a := w.propose(conversation.CodeGenerate, files); a.Actions[2].Status != conversation.ActionSucceeded || a.Conversation.WorkspaceVersion == "" {
			t.Errorf("%s: after it %+v", typ, a.Actions[2])
		}
	}
}

// A late result may find out that the files are lost, while the next action is approved already.
func TestAnApprovedActionDoesNotRunWhileFilesAreLost(t *testing.T) {
	server, files := storetest.Start(t), conversation.Payload{Files: []conversation.File{{Path: "a", Content: "x"}}}
	w := approved(t, server, conversation.CodeGenerate, files)
	w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.FilesLostAt, head.ChangedAt = &w.now, w.now
		c := aggregate.Change{Head: &head, Now: w.now}
		c.Put(&s)
		return c, nil
	})
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == conversation.ReasonFilesLost && x.Claim == nil,
		"%+v", x)
}

// The checks before a claim are repeated before a second claim, so that no action begins half prepared.
func TestAnActionThatWasReleasedIsPreparedAgain(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, command)
	w.box.err = fmt.Errorf("no room: %w", isolated.ErrNotBegun)
	if _, err := w.handle(); err == nil {
		t.Fatal("it has begun")
	}
	w.Sandbox = nil // switched off meanwhile
	expect.Value(w.handle())(t)
	if x := w.action(); x.Status != conversation.ActionFailed || x.Error != reasonSandboxOff || x.Outcome != "" || w.box.ran != 0 {
		t.Errorf("%+v after %d runs", x, w.box.ran)
	}
}
