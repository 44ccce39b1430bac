package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/large"
)

// A form says itself what it is about: no model reads it.
func TestAFormIsATask(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	next, err := handler(w, g).Handle(t.Context(), w.In())
	a := w.Load()
	expect.That(t, err == nil && next.State == task.StateDraftPrompt && a.Task.Title == pipelinetest.Form.Title &&
		a.Task.Description == pipelinetest.Form.Description && g.Calls == 0, "%+v, %v: %+v", next, err, a.Task)
}

// form receives a form with files of Slack's.
func form(t *testing.T, s *shelf, files ...string) (*pipelinetest.World, *Handler) {
	t.Helper()
	w := pipelinetest.Start(t).World(t)
	r := task.Request{User: pipelinetest.Requester, Channel: "C0HR", ChannelType: "channel", Text: "決裁を求めます",
		Matter: &pipelinetest.Form, MessageTS: "1793458790.000100", ThreadTS: "1793458790.000100"}
	for _, id := range files {
		r.Files = append(r.Files, aggregate.SharedFile{ID: id, User: pipelinetest.Requester})
	}
	w.Receive(r)
	h := handler(w, &modeltest.Demo{})
	h.Slack = s
	h.Text = func(context.Context, aggregate.Ref, string, []byte) (isolated.FileText, error) {
		t.Error("a form's file is read, though no model is asked")
		return isolated.FileText{}, nil
	}
	return w, h
}

// Files of a form are kept for as long as the audit log, and nobody reads them. What isn't attached is told with why.
func TestFilesOfAFormAreAttached(t *testing.T) {
	s := &shelf{files: map[string]string{"F1": "名前,金額\n", "F2": "MZ\x90\x00", "F3": strings.Repeat("a", task.MaxFileBytes+1)},
		errs: map[string][]error{"F1": {slackapi.Unknown{Cause: "http 503"}},
			"F5": {slackapi.Refused{Code: "missing_scope", App: true}}}}
	w, h := form(t, s, "F1", "F2", "F3", "F4", "F5")
	ref := w.Ref
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	a := w.Load()
	attached, left := a.Attached()
	var why []string
	for _, f := range left {
		why = append(why, fmt.Sprint(f.ID, " ", f.Left, " ", conversation.CauseOf(f.Why)))
	}
	expect.Same(t, []string{"F2 type unreadable", "F3  too_large", "F4  unreadable", "F5  forbidden"}, why)
	expect.That(t, a.Task != nil && len(attached) == 1 && attached[0].Kind == task.KindText && a.Head.Files == 5, "%+v", attached)
	got := expect.Value(w.Results().Attached(t.Context(), ref, attached[0].SHA256))(t)
	expect.Is(t, string(got), "名前,金額\n")
	_, err := w.Results().Attached(t.Context(), ref, left[0].SHA256)
	expect.That(t, errors.Is(err, large.ErrExpired), "what isn't attached is not kept for good: %v", err)
}

// A run that died after it had kept a file, or after it had noted it, goes on with the very bytes, whatever Slack has
// by then.
func TestAFormsFilesAreKeptOnce(t *testing.T) {
	s := &shelf{files: map[string]string{"F1": "%PDF-1"}}
	w, h := form(t, s, "F1")
	texts := h.Texts
	h.Texts = failing{texts}
	_, err := h.Handle(t.Context(), w.In())
	expect.That(t, err != nil && w.Load().Task == nil && w.Load().Files != nil, "it is no task before its file is kept: %v",
		err)
	s.files["F1"], h.Texts = "%PDF-2", texts
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	attached, _ := w.Load().Attached()
	expect.That(t, len(attached) == 1 && attached[0].SHA256 == aggregate.HashOf("%PDF-1") && s.asked == 1, "%+v", attached)
	expect.Value(w.Results().Attached(t.Context(), w.Ref, attached[0].SHA256))(t)
}

// failing attaches nothing.
type failing struct{ Texts }

func (failing) Attach(context.Context, aggregate.Ref, string) error { return errors.New("S3 is away") }

// A request without files costs no call and no row more.
func TestWithoutFilesNothingIsAsked(t *testing.T) {
	s := &shelf{}
	w, h := form(t, s)
	h.Texts = nil
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	expect.That(t, s.asked == 0 && w.Load().Files == nil && w.Load().Head.Files == 0, "%d calls", s.asked)
}

// What a form gets when it is filled in again is attached before that is said, also after a run that died between. What
// it had before is not read again.
func TestFilesThatAreAddedAreAttached(t *testing.T) {
	s := &shelf{files: map[string]string{"F1": "%PDF-1", "F2": "%PDF-2"}}
	w, h := form(t, s, "F1")
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	w.FormGivenBack()
	id := w.Load().Process().ID
	s.files["F1"] = "%PDF-3"
	w.FormRefilled(pipelinetest.Form, w.Load().WithFiles(id, []string{"F1"}, []aggregate.SharedFile{{ID: "F2"}})...)
	texts := h.Texts
	h.Texts = failing{texts}
	_, err := h.Handle(t.Context(), w.In())
	expect.That(t, err != nil && w.Load().Unread(), "a file is had before it is attached: %v", err)
	h.Texts = texts
	next := expect.Value(h.Handle(t.Context(), w.In()))(t)
	attached, left := w.Load().Attached()
	expect.That(t, next.State == task.StateDraftPrompt && len(attached) == 2 && left == nil && s.asked == 3 &&
		attached[0].SHA256 == aggregate.HashOf("%PDF-1") && attached[1].SHA256 == aggregate.HashOf("%PDF-2"),
		"%+v, %d calls: %+v", next, s.asked, attached)
	expect.Is(t, string(expect.Value(w.Results().Attached(t.Context(), w.Ref, attached[1].SHA256))(t)), "%PDF-2")
}
