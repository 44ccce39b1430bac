package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func handler(w *ringitest.World, g *modeltest.Demo) *Handler {
	return &Handler{Store: w.StoreOverTransport(), Open: g.Open, Model: "demo", Now: w.Now,
		Prompts: w.Results().Prompts, Texts: w.Results(), Files: w.Results()}
}

func TestExtractTask(t *testing.T) {
	server := ringitest.Start(t)
	t.Run("a message becomes a task, once", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		for range 2 {
			next, err := handler(w, g).Handle(t.Context(), w.In())
			expect.Must(t, err == nil && next.State == task.StateDraftPrompt, "%+v, %v", next, err)
		}
		if a := w.Load(); a.Task == nil || a.Task.Title == "" || a.Head.Rev != 2 || g.Calls != 1 {
			t.Errorf("%+v at rev %d after %d calls", a.Task, a.Head.Rev, g.Calls)
		}
	})
	t.Run("what is no task gets a plain reply: nobody is asked for a stamp, and it is recorded", func(t *testing.T) {
		w := server.World(t)
		g := &modeltest.Demo{First: `{"kind":"unsupported","sentence":"請求書は作成できません。",
			"title":"","description":"","priority":"medium","task_type":"standard"}`}
		for range 2 {
			next, err := handler(w, g).Handle(t.Context(), w.In())
			expect.Must(t, err == nil && next.State == task.StateFinish && next.Outcome == "answered", "%+v, %v", next, err)
		}
		a := w.Load()
		expect.Must(t, a.Task == nil && a.Prompt() == nil && a.Answer != nil && a.Answer.Sentence == "請求書は作成できません。" &&
			a.Answer.Usage != nil && g.Calls == 1, "%+v %+v after %d calls", a.Task, a.Answer, g.Calls)
		e := a.Head.Ended
		expect.That(t, e != nil && e.As == task.TaskAnswered && e.Reason == task.ReasonUnsupported && a.Used().Calls == 1,
			"%+v", a.Head)
		log, err := w.Store.Audit(t.Context(), w.Ref.Tenant, store.AuditFilter{Resource: w.Ref.ID}, "", 10)
		expect.That(t, err == nil && len(log.Items) == 1 && log.Items[0].Action == task.AuditRequestAnswered,
			"%+v, %v", log.Items, err)
	})
	t.Run("a task that is cancelled meanwhile is not made", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		g.Before = func() { w.Cancel() }
		expect.Fails(t, expect.Err(handler(w, g).Handle(t.Context(), w.In())), aggregate.ErrSuperseded)
		a := w.Load()
		expect.That(t, a.Task == nil && a.Head.Ended != nil, "%+v", a.Task)
	})
	t.Run("a run that is not the head's asks nobody", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		in := w.In()
		w.Restart()
		_, err := handler(w, g).Handle(t.Context(), in)
		expect.That(t, errors.Is(err, aggregate.ErrSuperseded) && g.Calls == 0, "%v after %d calls", err, g.Calls)
	})
	t.Run("a task that can't be saved is paid for", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.RefuseCommits()
		_, err := handler(w, g).Handle(t.Context(), w.In())
		w.PaidAlone(err)
	})
	t.Run("a commit whose answer is lost counts", func(t *testing.T) {
		w, g := server.World(t), &modeltest.Demo{}
		w.Transport.DropAnswers("TransactWriteItems", 3)
		next, err := handler(w, g).Handle(t.Context(), w.In())
		expect.That(t, err == nil && next.State == task.StateDraftPrompt && w.Load().Head.Rev == 2, "%+v, %v", next, err)
	})
}

func TestAModelThatFails(t *testing.T) {
	w := ringitest.Start(t).World(t)
	g := &modeltest.Demo{Err: &model.Error{Kind: model.Overloaded, Retryable: true}}
	expect.Fails(t, expect.Err(handler(w, g).Handle(t.Context(), w.In())), explain.ErrModelUnavailable)
	g.Err = &model.Error{Kind: model.Refused}
	next := expect.Value(handler(w, g).Handle(t.Context(), w.In()))(t)
	expect.That(t, next.State == task.StateFail && w.Load().Head.Parked.Sentence == task.ReasonModelRefused, "%+v", next)
}

// The budget is checked before the first call. A request that waits for the budget continues when there is some again.
func TestABudgetThatIsSpent(t *testing.T) {
	server := ringitest.Start(t)
	for name, tt := range map[string]struct {
		day  float64
		want aggregate.Reason
	}{
		"spent": {2.5, task.ReasonDayBudget}, "more is left": {2.51, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, g := server.World(t), &modeltest.Demo{}
			s := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
			s.MaxCostDayUSD, s.Model = tt.day, "claude-sonnet-4-6"
			expect.Value(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, s, ringitest.Approver(), w.Now()))(t)
			w.Decide(task.Charge(aggregate.Usage{ID: "1", Calls: 1, Cost: aggregate.USD(2.5)}, w.Now(),
				func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
			h := handler(w, g)
			h.Model = "claude-sonnet-4-6"
			next, err := h.Handle(t.Context(), w.In())
			expect.NoError(t, err)
			a := w.Load()
			if tt.want == "" {
				expect.That(t, next.State == task.StateDraftPrompt && g.Calls == 1, "%+v after %d calls", next, g.Calls)
				return
			}
			expect.Must(t, g.Calls == 0 && a.Head.Parked != nil && a.Head.Parked.Sentence == tt.want,
				"%+v, %+v after %d calls", next, a.Head, g.Calls)
		})
	}
}

// threadBefore is a thread, or why it can't be read.
type threadBefore struct {
	Slack
	said  []slackapi.Said
	err   error
	fails int // how often err is returned; 0 for always
	asked []string
}

func (t *threadBefore) Before(ctx context.Context, channel, thread, ts string, n int) ([]slackapi.Said, error) {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 6*time.Second {
		return nil, errors.New("it may take for ever")
	}
	t.asked = append(t.asked, fmt.Sprint(channel, " ", thread, " ", ts, " ", n))
	if t.fails > 0 && len(t.asked) > t.fails {
		return t.said, nil
	}
	return t.said, t.err
}

func TestARequestInAThread(t *testing.T) {
	in := func(root string) *task.Aggregate {
		return &task.Aggregate{Request: &task.Request{Channel: "C1", ThreadTS: root, MessageTS: "1700000000.000200",
			Text: "これをお願い"}}
	}
	said, many := []slackapi.Said{{User: "U1", Text: "有給の残りが合わない"}}, make([]slackapi.Said, model.ThreadMessages+1)
	for i := range many {
		many[i] = slackapi.Said{User: "U1", Text: strings.Repeat("長", 100+i*100)}
	}
	const asked = "C1 1700000000.000100 1700000000.000200 21"
	away, refused := slackapi.Unknown{Cause: "502"}, slackapi.Refused{Code: "missing_scope", App: true}
	for _, tt := range []struct {
		name         string
		root         string
		threadBefore threadBefore
		read         *aggregate.Thread
		asked        []string
	}{
		{"it goes with what was said before", "1700000000.000100", threadBefore{said: said}, &aggregate.Thread{Read: 1},
			[]string{asked}},
		{"what is left out is known", "1700000000.000100", threadBefore{said: many}, &aggregate.Thread{Read: 13, Cut: 1,
			Earlier: true}, []string{asked}},
		{"it does without when Slack does not show it", "1700000000.000100", threadBefore{err: refused}, &aggregate.Thread{
			Failed: true}, []string{asked}},
		{"what Slack does not show now it is asked again", "1700000000.000100", threadBefore{err: away, said: said, fails: 2},
			&aggregate.Thread{Read: 1}, []string{asked, asked, asked}},
		{"but not for ever", "1700000000.000100", threadBefore{err: away, fails: 9}, &aggregate.Thread{Failed: true},
			[]string{asked, asked, asked}},
		{"nor for minutes", "1700000000.000100", threadBefore{err: slackapi.RateLimited{RetryAfter: time.Minute}},
			&aggregate.Thread{Failed: true}, []string{asked}},
		{"one that begins its thread asks for none", "1700000000.000200", threadBefore{said: said}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &Handler{Slack: &tt.threadBefore}
			shown, read := h.thread(t.Context(), in(tt.root))
			expect.Same(t, tt.read, read)
			expect.That(t, read == nil && shown == nil || len(shown) == read.Read, "%d messages", len(shown))
			expect.Same(t, tt.asked, tt.threadBefore.asked)
		})
	}
}

// A tool that its server changed is off until an administrator allows it again.
func TestOnlyToolsThatMayBeCalledAreDescribed(t *testing.T) {
	changed, pin := time.Now(), &tenancy.Pin{Title: "Rooms", Description: "Lists rooms."}
	lines := moreTools([]tenancy.ToolPermission{{ToolName: "rooms.list_rooms", Allowed: true, Pin: pin},
		{ToolName: "rooms.book_room", Allowed: true, Pin: pin, ChangedAt: &changed}, {ToolName: "rooms.house_rules",
			Pin: pin},
		{ToolName: "send_slack_dm", Allowed: true}})
	expect.Same(t, []string{"rooms.list_rooms: Rooms. Lists rooms."}, lines)
}

// A form says itself what it is about: no model reads it.
func TestAFormIsATask(t *testing.T) {
	w, g := ringitest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	next, err := handler(w, g).Handle(t.Context(), w.In())
	a := w.Load()
	expect.That(t, err == nil && next.State == task.StateDraftPrompt && a.Task.Title == ringitest.Form.Title &&
		a.Task.Description == ringitest.Form.Description && g.Calls == 0, "%+v, %v: %+v", next, err, a.Task)
}

// form receives a form with files of Slack's.
func form(t *testing.T, s *shelf, files ...string) (*ringitest.World, *Handler) {
	t.Helper()
	w := ringitest.Start(t).World(t)
	r := task.Request{User: ringitest.Requester, Channel: "C0HR", ChannelType: "channel", Text: "決裁を求めます",
		Matter: &ringitest.Form, MessageTS: "1793458790.000100", ThreadTS: "1793458790.000100"}
	for _, id := range files {
		r.Files = append(r.Files, aggregate.SharedFile{ID: id, User: ringitest.Requester})
	}
	w.Receive(r)
	h := handler(w, &modeltest.Demo{})
	h.Slack = s
	h.Text = func(context.Context, aggregate.Ref, []byte) (isolated.FileText, error) {
		t.Error("a form's file is read, though no model is asked")
		return isolated.FileText{}, nil
	}
	return w, h
}

// Files of a form are kept for as long as the audit log, and nobody reads them. What isn't attached is told with why.
func TestFilesOfAFormAreAttached(t *testing.T) {
	s := &shelf{files: map[string]string{"F1": "名前,金額\n", "F2": "MZ\x90\x00",
		"F3": strings.Repeat("a", task.MaxFileBytes+1)}, errs: map[string][]error{"F1": {slackapi.Unknown{Cause: "http 503"}},
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
	expect.That(t, a.Task != nil && len(attached) == 1 && attached[0].Kind == task.KindText, "%+v", attached)
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
	expect.That(t, err != nil && w.Load().Task == nil && w.Load().Files != nil,
		"it is no task before its file is kept: %v", err)
	s.files["F1"], h.Texts = "%PDF-2", texts
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	attached, _ := w.Load().Attached()
	expect.That(t, len(attached) == 1 && attached[0].SHA256 == aggregate.HashOf("%PDF-1") && s.asked == 1, "%+v", attached)
	expect.Value(w.Results().Attached(t.Context(), w.Ref, attached[0].SHA256))(t)
}

// failing attaches nothing.
type failing struct{ Texts }

func (failing) Attach(context.Context, aggregate.Ref, string) error { return errors.New("S3 is away") }

// What a form gets when it is filled in again is attached before that is said, also after a run that died between. What
// it had before is not read again.
func TestFilesThatAreAddedAreAttached(t *testing.T) {
	s := &shelf{files: map[string]string{"F1": "%PDF-1", "F2": "%PDF-2"}}
	w, h := form(t, s, "F1")
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	w.FormGivenBack()
	id := w.Load().Process().ID
	s.files["F1"] = "%PDF-3"
	w.FormRefilled(ringitest.Form, w.Load().WithFiles(id, []string{"F1"}, []aggregate.SharedFile{{ID: "F2"}})...)
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
