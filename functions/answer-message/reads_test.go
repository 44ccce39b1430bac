package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// shelf has one version of a conversation's files.
type shelf struct {
	readOnly
	files  []files.File
	opened []string
	err    error
}

func (s *shelf) Get(_ context.Context, of aggregate.Ref, version string) (*files.Tree, error) {
	s.opened = append(s.opened, of.ID+"/"+version)
	if s.err != nil {
		return nil, s.err
	}
	return (&files.Tree{}).Apply(s.files)
}

// withFiles returns a conversation whose files can be read, as an earlier action left them.
func withFiles(t *testing.T, server *storetest.Server, change func(*tenancy.Settings)) (*world, *shelf) {
	t.Helper()
	w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, change)
	s := &shelf{files: []files.File{{Path: "notes.txt", Content: "the budget\nis 30,000 yen\n"}}}
	w.Files = s
	w.version("v1")
	return w, s
}

// version moves the conversation's files to another version.
func (w *world) version(v string) {
	w.T.Helper()
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		head, is := a.Head, *a.Conversation
		is.WorkspaceVersion = v
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&is}}, nil
	})
}

func callOf(name, input string) model.Call {
	return model.Call{ID: "c", Name: name, Input: json.RawMessage(input)}
}

var readNotes = callOf("read_file", `{"path":"notes.txt","from":1,"to":0}`)

// answers has the model give these answers, one after the other, and then the last one again.
func (w *world) answers(all ...model.Response) {
	w.vendor.requests = nil
	w.vendor.asked = func() {
		n := min(len(w.vendor.requests), len(all))
		w.vendor.says = all[n-1]
		w.vendor.says.Stop = model.StopEnd
		w.vendor.says.Usage = model.Usage{Input: 100, Output: 10, Cost: 1000, Provider: "p", Model: "m"}
	}
}

// reading is an answer that reads.
func reading(calls ...model.Call) model.Response { return model.Response{Calls: calls} }

func (w *world) results() string {
	w.T.Helper()
	var out []string
	for _, m := range w.vendor.requests[len(w.vendor.requests)-1].Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				out = append(out, p.Result.Text)
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestAnAgentReadsTheConversationsFiles(t *testing.T) {
	w, s := withFiles(t, storetest.Start(t), func(*tenancy.Settings) {})
	w.answers(reading(callOf("list_files", `{"path":""}`)),
		reading(readNotes, callOf("search", `{"text":"yen","path":""}`)), model.Response{Text: "30,000 yen"})
	expect.Value(w.handle())(t)
	expect.Has(t, w.results(), "is 30,000 yen")
	expect.Same(t, []string{w.Ref.ID + "/v1"}, s.opened)
	m := w.Newest()
	expect.That(t, m.Content == "30,000 yen" && len(m.Read) == 3, "%+v", m)
	expect.Same(t, conversation.Read{Tool: "read_file", Path: "notes.txt", From: 1, To: 2}, m.Read[1])
	a := w.Load()
	uses := expect.Value(w.Rows.Uses(t.Context(), w.Ref.Tenant, w.Ref.ID))(t)
	day := expect.Value(w.Store.Spent(t.Context(), w.Ref.Tenant, time.Now()))(t)
	expect.That(t, len(uses) == 3 && a.Conversation.Usage.Cost == 3000 && a.Conversation.Usage.Calls == 3 &&
		day.Day == 3000 && a.Conversation.Reading == nil,
		"%d uses, %+v, day %+v", len(uses), a.Conversation, day)
	expect.That(t, len(a.Inbox) == 0 && a.Head.Resting, "%+v", a.Head)
}

// What a crash comes after was paid, and another try goes on from it, although the model is asked nothing twice.
func TestAnotherTryReadsNothingTwice(t *testing.T) {
	server := storetest.Start(t)
	for name, crash := range map[string]func(w *world){
		"the model fails": func(w *world) {
			w.vendor.err = &model.Error{Kind: model.Overloaded,
				Retryable: true}
		},
		"the invocation is cut": func(w *world) { panic("cut") },
	} {
		t.Run(name, func(t *testing.T) {
			w, s := withFiles(t, server, func(*tenancy.Settings) {})
			w.answers(reading(callOf("list_files", `{"path":""}`)), reading(readNotes), model.Response{Text: "done"})
			step := w.vendor.asked
			w.vendor.asked = func() {
				if len(w.vendor.requests) == 3 {
					crash(w)
				}
				step()
			}
			func() {
				defer func() { _ = recover() }()
				expect.That(t, expect.Err(w.handle()) != nil, "the first try succeeds")
			}()
			a := w.Load()
			expect.That(t, a.Conversation.Usage.Cost == 2000 || a.Conversation.Usage.Cost == 3000,
				"paid %s", a.Conversation.Usage.Cost)
			expect.That(t, a.Conversation.Reading != nil && len(a.Conversation.Reading.Read) == 2 && len(a.Inbox) == 1,
				"%+v", a.Conversation.Reading)
			w.vendor.err = nil
			w.answers(model.Response{Text: "done"})
			before := a.Conversation.Usage.Cost
			expect.Value(w.handle())(t)
			expect.Is(t, len(w.vendor.requests), 1, "calls of the second try")
			expect.Has(t, w.results(), "notes.txt\",\"bytes\"")
			expect.Has(t, w.results(), "is 30,000 yen")
			m := w.Newest()
			expect.That(t, m.Content == "done" && len(m.Read) == 2 &&
				w.Load().Conversation.Usage.Cost == before+1000, "%+v", m)
			expect.That(t, len(s.opened) == 2, "opened %v", s.opened)
		})
	}
}

func TestReadingStopsWithTheTurn(t *testing.T) {
	server := storetest.Start(t)
	by, p := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1"},
		aggregate.Policy{Team: "T1", Mode: aggregate.ApproversList}
	end := func(decide conversation.Decision) func(*world) {
		return func(w *world) { expect.Value(w.Rows.Decide(context.Background(), w.Ref, decide))(w.T) }
	}
	for name, tt := range map[string]struct {
		change func(*tenancy.Settings)
		during func(*world)
		calls  int
		said   string
	}{
		"a person stops it": {during: end(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Stop(by, p, time.Now())
		}), calls: 1, said: "The answer was stopped. To continue, write again."},
		"another run took over": {during: end(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.RestartRun(a.Head.Run, time.Now())
		}), calls: 1},
		"the conversation costs": {change: func(s *tenancy.Settings) { s.MaxCostUSD = 0.0015 }, calls: 5,
			said: "that is all"},
		"the day's budget": {change: func(s *tenancy.Settings) { s.MaxCostDayUSD = 0.0015 }, calls: 5,
			said: "that is all"},
	} {
		t.Run(name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*tenancy.Settings) {}
			}
			w, s := withFiles(t, server, change)
			w.answers(reading(readNotes))
			step := w.vendor.asked
			w.vendor.asked = func() {
				step()
				if tt.during != nil {
					tt.during(w)
				}
				if len(w.vendor.requests) == tt.calls && tt.calls > 1 {
					w.vendor.says.Calls, w.vendor.says.Text = nil, "that is all"
				}
			}
			_, err := w.handle()
			expect.That(t, err == nil || errors.Is(err, aggregate.ErrSuperseded), "%v", err)
			a := w.Load()
			expect.That(t, len(w.vendor.requests) == min(tt.calls, 3+2) &&
				a.Conversation.Usage.Calls == len(w.vendor.requests), "%d calls, %d are paid", len(w.vendor.requests),
				a.Conversation.Usage.Calls)
			if tt.calls == 1 {
				expect.That(t, len(s.opened) == 0, "read for nobody: %v", s.opened)
			} else {
				last := fmt.Sprint(w.vendor.requests[len(w.vendor.requests)-1].Tools)
				expect.That(t, !strings.Contains(last, "read_file"), "the last call offers reads")
			}
			if tt.said != "" {
				expect.Is(t, w.Newest().Content, tt.said)
			}
		})
	}
}

func TestFilesThatCantBeReadAreSaidToBe(t *testing.T) {
	server := storetest.Start(t)
	for err, want := range map[error]string{large.ErrGone: "were deleted when their time was over",
		errors.New("the bucket does not answer"): "can't be read at the moment"} {
		w, s := withFiles(t, server, func(*tenancy.Settings) {})
		s.err = err
		w.answers(reading(readNotes), model.Response{Text: "sorry"})
		expect.Value(w.handle())(t)
		expect.Has(t, w.results(), want)
		expect.That(t, !strings.Contains(w.results(), "bucket") && w.Newest().Content == "sorry" &&
			w.Newest().Read[0].Failed,
			"%s, %+v", w.results(), w.Newest())
	}
}

// unkept is a bucket that is down.
type unkept struct{ storetest.Rows }

func (unkept) KeepReads(context.Context, aggregate.Ref, json.RawMessage) (aggregate.Blob, error) {
	return aggregate.Blob{}, errors.New("no room")
}

func TestABucketThatIsDownKeepsNobodyFromReading(t *testing.T) {
	w, _ := withFiles(t, storetest.Start(t), func(*tenancy.Settings) {})
	w.Payloads = unkept{}
	w.answers(reading(readNotes), model.Response{Text: "done"})
	expect.Value(w.handle())(t)
	expect.That(t, w.Newest().Content == "done" && len(w.Newest().Read) == 1, "%+v", w.Newest())
}

// An answer that fails for good still shows people what was read for it.
func TestWhatWasReadForNothingIsShown(t *testing.T) {
	w, _ := withFiles(t, storetest.Start(t), func(*tenancy.Settings) {})
	w.answers(reading(readNotes), model.Response{})
	step := w.vendor.asked
	w.vendor.asked = func() {
		if step(); len(w.vendor.requests) == 2 {
			w.vendor.err = &model.Error{Kind: model.Refused}
		}
	}
	expect.Value(w.handle())(t)
	m := w.Newest()
	expect.That(t, m.Sender == conversation.FromSystem && len(m.Read) == 1 && m.Read[0].Path == "notes.txt" &&
		w.Load().Conversation.Reading == nil, "%+v", m)
}

// What an agent read is named to it in later turns.
func TestWhatWasReadIsNamedLater(t *testing.T) {
	w, s := withFiles(t, storetest.Start(t), func(*tenancy.Settings) {})
	w.answers(reading(readNotes), model.Response{Text: "30,000 yen"})
	expect.Value(w.handle())(t)
	w.answers(model.Response{Text: "as I said"})
	w.says(w.later(1), "and?")
	expect.That(t, w.results() == "" && len(s.opened) == 1, "%s", w.results())
	expect.Has(t, w.told(), `\"read\":\"notes.txt\",\"lines\":\"1–2\"`)
}
