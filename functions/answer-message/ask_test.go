package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// small is an agent whose model takes little at once.
func small(s *tenancy.Settings) {
	s.Agents = []agent.Definition{{ID: "small", Provider: agent.OpenAI, Model: "small",
		Capabilities: agent.Capabilities, ContextTokens: 20_000}}
}

// A model that takes less at once gets less, whatever has the length: files count as words do.
func TestAnAgentIsSentWhatItsOwnModelTakes(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "small", Locale: "en"}, small)
	w.File = func(context.Context, aggregate.Ref, string, int) (slackapi.File, error) {
		return slackapi.File{Body: []byte(strings.Repeat("lines of a file ", 3_000))}, nil // 16,000 tokens
	}
	w.tellFile("1775034001.000100", "F1")
	expect.Value(w.handle())(t)
	w.says("1775034002.000100", "and what is in it?")
	for i, r := range w.vendor.requests {
		n := 0
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				n += model.Tokens(p.Text)
			}
		}
		expect.That(t, n+r.MaxTokens+model.Tokens(r.System) < 20_000 && (r.Tools == nil || r.MaxTokens <= 5_000),
			"request %d has %d tokens and asks for %d", i, n, r.MaxTokens)
	}
	said := string(expect.Value(json.Marshal(w.vendor.requests[0].Messages))(t))
	expect.Has(t, said, "too large for what the agent's model takes at once")
	expect.Has(t, said, "hello")
}

func (w *world) tellFile(ts, file string) {
	w.T.Helper()
	in := inbound(ts, "U1", "look")
	in.Attachments = []conversation.Attachment{{Kind: unread, Name: "a.txt", Type: "text/plain", FileID: file,
		Bytes: 48_000}}
	expect.NoError(w.T, w.Rows.Tell(w.T.Context(), w.Ref,
		expect.Value(conversation.Tell(in, conversation.Opening{}, w.Now()))(w.T)))
}

// A vendor that refuses the length is not asked again, and people are told which model it is.
func TestARefusalForLengthIsSaid(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "codex", Locale: "en"},
		func(*tenancy.Settings) {})
	w.vendor.err = &model.Error{Provider: "openai", Model: "small", Kind: model.TooLong}
	expect.Value(w.handle())(t)
	m := w.Newest()
	expect.That(t, len(w.vendor.requests) == 1 && m.Reason == task.ReasonModelTooLong && len(w.Load().Inbox) == 0,
		"%+v", m)
	expect.Has(t, m.Content, "too long for the AI model (small)")
}

// What an agent reads counts, too: all of a turn fits what its model takes at once, and nothing is read twice.
func TestWhatAnAgentReadsFitsItsModel(t *testing.T) {
	w, shelf := withFiles(t, storetest.Start(t), func(s *tenancy.Settings) {
		small(s)
		s.Agents[0].ID = "codex"
	})
	// 4,000 tokens
	shelf.files = []files.File{{Path: "notes.txt", Content: strings.Repeat("a line of the notes\n", 600)}}
	long := reading(callOf("read_file", `{"path":"notes.txt","from":1,"to":0}`))
	w.answers(long, long, long, long, model.Response{Text: "read"})
	expect.Value(w.handle())(t)
	for i, r := range w.vendor.requests {
		n := model.Tokens(r.System)
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if n += model.Tokens(p.Text); p.Result != nil {
					n += model.Tokens(p.Result.Text)
				}
			}
		}
		expect.That(t, n+r.MaxTokens < 20_000, "request %d has %d tokens", i, n)
	}
	expect.Has(t, w.results(), "too large for what the agent's model takes at once")
	expect.Has(t, w.results(), "a line of the notes")
	expect.Is(t, w.Newest().Content, "read")
}

// A model's call is charged even if the answer comes after the stop button or after the end of the conversation.
func TestAnAnswerThatComesTooLateIsPaidFor(t *testing.T) {
	server := storetest.Start(t)
	by, p := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1"}, aggregate.Policy{Team: "T1",
		Mode: aggregate.ApproversList}
	for name, end := range map[string]conversation.Decision{
		"stopped": func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Stop(by, p, time.Now()) },
		"closed":  func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(by, p, time.Now()) },
	} {
		w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
		w.vendor.says.Usage = model.Usage{ID: "call", Input: 100, Output: 50, Cost: 1000}
		w.vendor.asked = func() { expect.Value(w.Rows.Decide(t.Context(), w.Ref, end))(t) }
		w.handle()
		w.costs(name, 50)
	}
}

// refusing is a store that permanently refuses the next commit and accepts later ones.
type refusing struct {
	Store
	next bool
}

func (s *refusing) Decide(ctx context.Context, ref aggregate.Ref,
	decide conversation.Decision) (*conversation.Aggregate, error) {
	if s.next {
		s.next = false
		return nil, errors.New("the table never takes that")
	}
	return s.Store.Decide(ctx, ref, decide)
}

func TestAnAnswerThatCantBeSavedIsPaidFor(t *testing.T) {
	server := storetest.Start(t)
	for name, fails := range map[string]error{
		"an answer": nil, "a failure that another try may mend": &model.Error{Kind: model.Overloaded,
			Retryable: true}, "one that none does": &model.Error{Kind: model.Refused},
	} {
		w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
		store := &refusing{Store: w.Store}
		w.Store = store
		w.vendor.says.Usage, w.vendor.err = model.Usage{ID: "call", Input: 100, Output: 50, Cost: 1000}, fails
		w.vendor.asked = func() { store.next = true }
		if _, err := w.handle(); pipeline.Name(err) != pipeline.Internal {
			t.Errorf("%s: the state machine is told %s: %v", name, pipeline.Name(err), err)
		}
		w.costs(name, 50)
	}
}

// costs checks the recorded cost of one call.
func (w *world) costs(name string, output int64) {
	w.T.Helper()
	uses := expect.Value(w.Rows.Uses(w.T.Context(), w.Ref.Tenant, w.Ref.ID))(w.T)
	day := expect.Value(w.Store.Spent(w.T.Context(), w.Ref.Tenant, time.Now()))(w.T)
	if got := w.Load().Conversation.Usage; got.Output != output || len(uses) != 1 || day.Day != got.Cost ||
		day.Day == 0 {
		w.T.Errorf("%s: the session cost %+v, with %d calls, and the day %+v", name, got, len(uses), day)
	}
}

// An answer that is too long for a row is replaced by a sentence, once, and is charged.
func TestAnAnswerThatIsTooLongToBeKept(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "codex", Locale: "en"},
		func(*tenancy.Settings) {})
	w.vendor.says.Text = strings.Repeat("a", 500_000)
	w.vendor.says.Usage = model.Usage{ID: "call", Input: 1000, Output: 150_000, Cost: 1000}
	expect.Value(w.handle())(t)
	got := w.Newest()
	expect.That(t, got.Content == wordsIn("en").long && got.Reason == reasonTooLong && len(w.Load().Inbox) == 0 &&
		len(w.vendor.requests) == 1, "said %.100q because of %q after %d calls; %d messages wait", got.Content,
		got.Reason, len(w.vendor.requests), len(w.Load().Inbox))
	expect.Is(t, w.Load().Conversation.Status, conversation.Open, "the agent counts")
	w.costs("too long", 150_000)
	w.vendor.says.Text = "short"
	w.says("1775034001.000100", "shorter, please")
	expect.Is(t, w.Newest().Content, "short", "then it said")
}
