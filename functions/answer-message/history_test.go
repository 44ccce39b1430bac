package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// testTried: the summary succeeds, then the answer fails; the next try continues from the summary.
func testTried(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	for i := range 3 {
		w.Tell(fmt.Sprintf("%d.000100", 1775034001+i), "U1", strings.Repeat("x", 90_000))
	}
	w.Wake()
	before, calls := w.Load().Conversation.Usage.Cost, len(w.vendor.requests)
	paid := model.Usage{Provider: "anthropic", Model: "claude-sonnet-4-6", Input: 1000, Output: 100, Calls: 1}
	w.vendor.says.Usage = paid
	w.vendor.asked = func() {
		if len(w.vendor.requests) == calls+2 {
			w.vendor.err = &model.Error{Provider: "anthropic", Kind: model.Overloaded, Retryable: true}
		}
	}
	_, err := w.handle()
	expect.Must(t, errors.Is(err, explain.ErrModelUnavailable), "%v", err)
	s := w.Load().Conversation
	expect.Must(t, s.Usage.Cost == before+2*(3000+1500) && s.CollapsedThrough != "" &&
		s.TriedError == task.ReasonModelUnavailable && s.Status == conversation.Open && len(w.Load().Inbox) == 3, "%+v",
		s)
	w.vendor.err, w.vendor.asked = nil, nil
	expect.Value(w.handle())(t)
	n := len(w.vendor.requests) - calls
	expect.That(t, n == 3 && w.Newest().Content == "hi" && w.Load().Conversation.TriedError == "",
		"%d calls, the last message is %+v", n, w.Newest())
	last := w.vendor.requests[calls+2]
	expect.That(t, strings.Contains(string(expect.Value(json.Marshal(last.Messages))(t)), "summary"),
		"the model was not told the summary")
}

// testNoSummary: the model makes no summary, and is told the beginnings of what it answers. The next turn tries again.
func testNoSummary(t *testing.T, w *world) {
	for i := range 3 {
		w.Tell(fmt.Sprintf("%d.000100", 1775034001+i), "U1", fmt.Sprint("point ", i, strings.Repeat("x", 90_000)))
	}
	w.vendor.asked = func() {
		w.vendor.says.Text = "hi"
		if w.vendor.requests[len(w.vendor.requests)-1].Tools == nil {
			w.vendor.says.Text = ""
		}
	}
	expect.Value(w.handle())(t)
	for _, told := range []string{"point 0x", "point 1x", "point 2x", "too long to be shown whole"} {
		expect.Has(t, w.told(), told)
	}
	a := w.Load()
	expect.That(t, w.Newest().Content == "hi" && len(a.Inbox) == 0 && a.Conversation.SummaryKey == "", "%+v",
		a.Conversation)
}

// testFoldedBeside: a message that came during a long answer is older than that answer, which is folded.
func testFoldedBeside(t *testing.T, w *world) {
	w.vendor.says.Text = strings.Repeat("a", 110_000)
	expect.Value(w.handle())(t)
	w.Tell("1775034001.000100", "U1", "what came meanwhile "+strings.Repeat("x", 100_000))
	w.Wake()
	w.vendor.says.Text = "short"
	calls := len(w.vendor.requests)
	w.vendor.asked = func() {
		w.vendor.err = nil
		if len(w.vendor.requests) == calls+2 { // after the summary
			w.vendor.err = &model.Error{Provider: "anthropic", Kind: model.Overloaded, Retryable: true}
		}
	}
	w.vendor.says.Usage = model.Usage{Provider: "anthropic", Model: "claude-sonnet-4-6", Input: 1000, Calls: 1}
	_, err := w.handle()
	expect.Must(t, errors.Is(err, explain.ErrModelUnavailable), "%v", err)
	for i, more := range []string{"", "and then?"} {
		if more != "" {
			w.Tell("1775034009.000100", "U1", more)
			w.Wake()
		}
		before := len(w.vendor.requests)
		expect.Value(w.handle())(t)
		told := string(expect.Value(json.Marshal(w.vendor.requests[before:]))(t)) // the second summary
		expect.Is(t, strings.Count(told, "what came meanwhile"), 1,
			"answer %d: the model is told the message (times)", i)
	}
}

func testQuoted(t *testing.T, w *world) {
	testProposal(t, w, conversation.ActionPending)
	w.vendor.says.Calls = nil
	policy := aggregate.Policy{Team: "T1", AllowSelf: true}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
	const reason = "Action #2 was approved in advance."
	x := w.Load().Current()
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Reject(reason)(a, x.ActionID, by, policy, time.Now())
	})
	w.turn()
	said := w.vendor.requests[1].Messages
	result := said[len(said)-1].Parts[0].Result
	expect.Must(t, result != nil, "%+v", said)
	expect.Has(t, result.Text, `[{"system":"Action #1 was rejected. Reason: ","at":"`)
	expect.Has(t, result.Text, `"},{"from":"name of U1","id":"U1","quoted":"`+reason+`"}]`)
}

// told returns what the last request told the model; "" if there was none.
func (w *world) told() string {
	w.T.Helper()
	if len(w.vendor.requests) == 0 {
		return ""
	}
	return string(expect.Value(json.Marshal(w.vendor.requests[len(w.vendor.requests)-1].Messages))(w.T))
}

// later returns a Slack timestamp this many minutes from now, and half a minute before the session's next event.
func (w *world) later(minutes int) string {
	at := time.Now().Add(time.Duration(minutes) * time.Minute)
	w.Now = func() time.Time { return at.Add(30 * time.Second) }
	return fmt.Sprintf("%d.000100", at.Unix())
}

// says has a person write something, and the agent answer.
func (w *world) says(ts, text string) {
	w.T.Helper()
	w.Tell(ts, "U1", text)
	w.turn()
}

// turn has the agent answer the waiting messages.
func (w *world) turn() {
	w.T.Helper()
	if w.Load().Head.Resting {
		w.Wake()
	}
	expect.Value(w.handle())(w.T)
}

// long sends three messages that together are too long for the model.
func (w *world) long(minutes int) {
	w.T.Helper()
	for i := range 3 {
		w.Tell(w.later(minutes+i), "U1", strings.Repeat("x", 90_000))
	}
	w.turn()
}

func TestWhatIsAnsweredWasTold(t *testing.T) {
	server := storetest.Start(t)
	for name, test := range map[string]func(*testing.T, *world){
		"written before the session began anew":      testLateForTheBeginning,
		"written before what is folded away":         testLateForTheSummary,
		"refused by a sentence before it was told":   testLateAndRefused,
		"its row can be seen a moment after another": testUnreadable,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en", IsCached: true},
				func(*tenancy.Settings) {}))
		})
	}
}

// anew closes the conversation and begins it again, an hour later.
func (w *world) anew() {
	w.T.Helper()
	by, p := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true},
		aggregate.Policy{Team: "T1",
			AllowSelf: true}
	for _, decide := range []conversation.Decision{
		func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(by, p, time.Now()) },
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Reopen(by, p, time.Now().Add(time.Hour))
		},
	} {
		expect.Value(w.Rows.Decide(w.T.Context(), w.Ref, decide))(w.T)
	}
}

func testLateForTheBeginning(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	w.anew()
	w.says("1775034001.000100", "pay invoice 17")
	told := w.told()
	expect.That(t, strings.Contains(told, "invoice 17") && !strings.Contains(told, "hello"), "told %s", told)
	w.says(w.later(120), "and now?")
	told = w.told()
	expect.That(t, strings.Count(told, "invoice 17") == 1 &&
		strings.Index(told, "invoice 17") <= strings.Index(told, "and now?"), "later the agent knows %s", told)
}

func testLateForTheSummary(t *testing.T, w *world) {
	w.long(1)
	folded := w.Load().Conversation.CollapsedThrough
	expect.Must(t, folded != "", "nothing was folded")
	for i, late := range []string{"1775034000.900000", "1775034000.800000"} {
		w.later(10 + i)
		w.says(late, fmt.Sprintf("pay invoice 1%d", i))
		told := w.told()
		expect.That(t, strings.Count(told, fmt.Sprintf("pay invoice 1%d", i)) == 1 &&
			strings.Count(told, "pay invoice") == i+1, "told %s", told)
	}
	before := len(w.vendor.requests)
	w.Tell("1775034000.700000", "U1", "pay invoice 12")
	w.long(20)
	summed := string(expect.Value(json.Marshal(w.vendor.requests[before].Messages))(t))
	if s := w.Load().Conversation; s.CollapsedThrough <= folded || strings.Count(summed, "pay invoice") != 3 {
		t.Errorf("folded through %s, and then through %s: summed up %.300s", folded, s.CollapsedThrough, summed)
	}
	w.says(w.later(30), "and now?")
	expect.That(t, !strings.Contains(w.told(), "pay invoice"), "what the summary stands for is told beside it")
}

// A sentence says that the message is saved, and the agent reads the message when it answers again.
func testLateAndRefused(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	w.anew()
	w.Tell("1775034001.000100", "U1", "pay invoice 17")
	w.Wake()
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.GiveUp(a.Head.Run, time.Now()) })
	w.says(w.later(120), "go on")
	expect.Is(t, strings.Count(w.told(), "invoice 17"), 1, "told")
}

// blind is a store that can't read messages with a word.
type blind struct {
	Store
	word string
}

func (b blind) Messages(ctx context.Context, tenant, id, from string) ([]conversation.Message, error) {
	all, err := b.Store.Messages(ctx, tenant, id, from)
	return slices.DeleteFunc(all, func(m conversation.Message) bool { return strings.Contains(m.Content, b.word) }), err
}

func (b blind) Message(ctx context.Context, tenant, id, key string) (conversation.Message, error) {
	m, err := b.Store.Message(ctx, tenant, id, key)
	if err == nil && strings.Contains(m.Content, b.word) {
		return conversation.Message{}, aggregate.ErrNotFound
	}
	return m, err
}

func testUnreadable(t *testing.T, w *world) {
	rows := w.Store
	w.Store = blind{rows, "invoice"}
	w.Tell("1775033999.000100", "U1", "pay invoice 17")
	next := expect.Value(w.handle())(t)
	expect.Must(t, next.State == conversation.StateAnswer && len(w.Load().Inbox) == 1 &&
		strings.Contains(w.told(), "hello"), "beside another one: %+v with %d in the inbox", next, len(w.Load().Inbox))
	_, err := w.handle()
	expect.Must(t, errors.Is(err, explain.ErrUnavailable) && len(w.Load().Inbox) == 1 && len(w.vendor.requests) == 1,
		"alone: %v after %d calls, %d in the inbox", err, len(w.vendor.requests), len(w.Load().Inbox))
	w.Store = rows
	expect.Value(w.handle())(t)
	if told := w.told(); strings.Count(told, "invoice 17") != 1 || len(w.Load().Inbox) != 0 {
		t.Errorf("told %s, %d in the inbox", told, len(w.Load().Inbox))
	}
}
