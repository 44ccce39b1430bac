package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// A model's call is charged even if the answer comes after the stop button or after the end of the conversation.
func TestAnAnswerThatComesTooLateIsPaidFor(t *testing.T) {
	server := storetest.Start(t)
	by, p := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1"}, aggregate.Policy{Team: "T1", Mode: aggregate.ApproversList}
	for name, end := range map[string]conversation.Decision{
		"stopped": func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Stop(by, p, time.Now()) },
		"closed":  func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(by, p, time.Now()) },
	} {
		w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
		w.vendor.says.Usage = model.Usage{ID: "call", Input: 100, Output: 50, Cost: 1000}
		w.vendor.asked = func() { expect.Value(w.rows.Decide(t.Context(), w.ref, end))(t) }
		w.handle()
		w.costs(name, 50)
	}
}

// refusing is a store that permanently refuses the next commit and accepts later ones.
type refusing struct {
	Store
	next bool
}

func (s *refusing) Decide(ctx context.Context, ref aggregate.Ref, decide conversation.Decision) (*conversation.Aggregate, error) {
	if s.next {
		s.next = false
		return nil, errors.New("the table never takes that")
	}
	return s.Store.Decide(ctx, ref, decide)
}

func TestAnAnswerThatCantBeSavedIsPaidFor(t *testing.T) {
	server := storetest.Start(t)
	for name, fails := range map[string]error{
		"an answer": nil, "a failure that another try may mend": &model.Error{Kind: model.Overloaded, Retryable: true}, "one that none does": &model.Error{Kind: model.Refused},
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
	w.t.Helper()
	uses := expect.Value(w.rows.Uses(w.t.Context(), w.ref.Tenant, w.ref.ID))(w.t)
	day := expect.Value(w.Store.Spent(w.t.Context(), w.ref.Tenant, time.Now()))(w.t)
	if got := w.load().Conversation.Usage; got.Output != output || len(uses) != 1 || day.Day != got.Cost || day.Day == 0 {
		w.t.Errorf("%s: the session cost %+v, with %d calls, and the day %+v", name, got, len(uses), day)
	}
}

// An answer that is too long for a row is replaced by a sentence, once, and is charged.
func TestAnAnswerThatIsTooLongToBeKept(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
	w.vendor.says.Text = strings.Repeat("a", 500_000)
	w.vendor.says.Usage = model.Usage{ID: "call", Input: 1000, Output: 150_000, Cost: 1000}
	expect.Value(w.handle())(t)
	if got := w.said(); got.Content != wordsIn("en").long || got.Reason != reasonTooLong || len(w.load().Inbox) != 0 || len(w.vendor.requests) != 1 {
		t.Errorf("said %.100q because of %q after %d calls; %d messages wait", got.Content, got.Reason, len(w.vendor.requests), len(w.load().Inbox))
	}
	expect.Is(t, w.load().Conversation.Status, conversation.Open, "the agent counts")
	w.costs("too long", 150_000)
	w.vendor.says.Text = "short"
	w.tell("1775034001.000100", "U1", "shorter, please")
	w.wake()
	expect.Value(w.handle())(t)
	expect.Is(t, w.said().Content, "short", "then it said")
}
