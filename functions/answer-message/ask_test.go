package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

// A vendor that refuses the length gets the conversation once more, folded to half, or what it reads in smaller parts.
// What both tries cost is charged once.
func TestARefusalForLengthIsFoldedAndTriedOnceMore(t *testing.T) {
	server := storetest.Start(t)
	for about, tt := range map[string]struct {
		refused []int // which calls
		reads   bool
		text    string
		calls   int // answers and summaries
		reason  aggregate.Reason
	}{
		"it fits folded":           {[]int{1}, false, strings.Repeat("w", 30_000), 3, ""},
		"it fits neither way":      {[]int{1, 3}, false, strings.Repeat("w", 30_000), 3, task.ReasonModelTooLong},
		"there is nothing to fold": {[]int{1, 2}, false, "", 2, task.ReasonModelTooLong},
		"after reading":            {[]int{2}, true, "", 4, ""},
	} {
		t.Run(about, func(t *testing.T) {
			w, shelf := withFiles(t, server, func(*tenancy.Settings) {})
			shelf.files = []files.File{{Path: "notes.txt", Content: strings.Repeat("a line of the notes\n", 2_000)}}
			for i := range 3 {
				if tt.text != "" {
					w.Tell(w.later(i+1), "U1", tt.text)
				}
			}
			says := model.Response{Text: "hi"}
			w.answers(says)
			if tt.reads {
				w.answers(reading(readNotes), says, reading(readNotes), says)
			}
			step := w.vendor.asked
			w.vendor.asked = func() {
				step()
				if w.vendor.err = nil; slices.Contains(tt.refused, len(w.vendor.requests)) {
					w.vendor.err = &model.Error{Provider: "openai", Model: "small", Kind: model.TooLong}
				}
			}
			expect.Value(w.handle())(t)
			m, a, used := w.Newest(), w.Load(), w.Load().Conversation.Usage
			expect.That(t, len(w.vendor.requests) == tt.calls && used.Calls == tt.calls && m.Reason == tt.reason &&
				used.Cost == aggregate.MicroUSD(1000*tt.calls) && len(a.Inbox) == 0, "%d calls, %+v, %+v",
				len(w.vendor.requests), used, m)
			first, last := w.vendor.requests[0], w.vendor.requests[tt.calls-1]
			expect.That(t, tt.text == "" || last.Tokens() < first.Tokens()*3/4, "%d, then %d",
				first.Tokens(), last.Tokens())
			expect.That(t, !tt.reads || strings.Contains(w.results(), "read fewer lines"), "%s", w.results())
			expect.That(t, tt.reason == "" || strings.Contains(m.Content, "too long for the AI model (small)"), "%s",
				m.Content)
		})
	}
}

func (w *world) tellFile(ts, file string) {
	w.T.Helper()
	in := inbound(ts, "U1", "look")
	in.Attachments = []conversation.Attachment{{Kind: unread, Name: "a.txt", Type: "text/plain", FileID: file,
		Bytes: 48_000}}
	expect.NoError(w.T, w.Rows.Tell(w.T.Context(), w.Ref,
		expect.Value(conversation.Tell(in, conversation.Opening{}, w.Now()))(w.T)))
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
