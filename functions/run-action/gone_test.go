package main

import (
	"context"
	"testing"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/payload"
	"ringi/shared/domain/session"
	"ringi/shared/domain/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/storetest"
)

// propose has another action approved and executed.
func (w *world) propose(typ session.ActionType, p payload.Payload) *session.Aggregate {
	w.t.Helper()
	text := p.JSON()
	proposal := &session.Proposal{Type: typ, Payload: aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}, Terms: aggregate.Terms{ApprovalRequired: true}}
	w.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), session.Answer{Text: "shall I?", Proposal: proposal}, w.now)
	})
	w.decide(func(a *session.Aggregate) (aggregate.Change, error) {
		x := a.Current()
		return a.Approve(x.ActionID, x.Payload.Hash(), person(), policy, w.now)
	})
	run := w.decide(func(a *session.Aggregate) (aggregate.Change, error) { return a.StartRun(w.now) }).Head.Run
	expect.Value(w.Handle(context.Background(), pipeline.Input{Tenant: w.ref.Tenant, Kind: "session", ID: w.ref.ID, Run: run}))(w.t)
	return expect.Value(w.rows.Load(context.Background(), w.ref))(w.t)
}

// A workspace whose time is over ends one action and no more: the next begins with an empty one, as people are told.
func TestAWorkspaceThatIsGoneEndsOneAction(t *testing.T) {
	server, files := storetest.Start(t), payload.Payload{Files: []workspace.File{{Path: "a", Content: "x"}}}
	for typ, p := range map[session.ActionType]payload.Payload{session.ShellCommand: command, session.CodeGenerate: files} {
		w := approved(t, server, session.CodeGenerate, files)
		expect.Value(w.handle())(t)
		clear(w.shelf.trees)
		w.box.err = isolated.ErrCannot
		a := w.propose(typ, p)
		if x := a.Actions[1]; x.Error != reasonRefused || x.ErrorDetail != inEach.In("en").gone || a.Session.WorkspaceVersion != "" {
			t.Errorf("%s: %+v leaves %q", typ, x, a.Session.WorkspaceVersion)
		}
		if a := w.propose(session.CodeGenerate, files); a.Actions[2].Status != session.ActionSucceeded || a.Session.WorkspaceVersion == "" {
			t.Errorf("%s: after it %+v", typ, a.Actions[2])
		}
	}
}
