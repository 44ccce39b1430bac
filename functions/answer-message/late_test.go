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

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// told returns what the last request told the model; "" if there was none.
func (w *world) told() string {
	w.t.Helper()
	if len(w.vendor.requests) == 0 {
		return ""
	}
	return string(expect.Value(json.Marshal(w.vendor.requests[len(w.vendor.requests)-1].Messages))(w.t))
}

// later returns a Slack timestamp this many minutes from now, and half a minute before the session's next event.
func (w *world) later(minutes int) string {
	at := time.Now().Add(time.Duration(minutes) * time.Minute)
	w.Now = func() time.Time { return at.Add(30 * time.Second) }
	return fmt.Sprintf("%d.000100", at.Unix())
}

// says has a person write something, and the agent answer.
func (w *world) says(ts, text string) {
	w.t.Helper()
	w.tell(ts, "U1", text)
	w.turn()
}

// turn has the agent answer the waiting messages.
func (w *world) turn() {
	w.t.Helper()
	if w.load().Head.Resting {
		w.wake()
	}
	expect.Value(w.handle())(w.t)
}

// long sends three messages that together are too long for the model.
func (w *world) long(minutes int) {
	w.t.Helper()
	for i := range 3 {
		w.tell(w.later(minutes+i), "U1", strings.Repeat("x", 90_000))
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
			test(t, talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en", IsCached: true}, func(*tenancy.Settings) {}))
		})
	}
}

// anew closes the conversation and begins it again, an hour later.
func (w *world) anew() {
	w.t.Helper()
	by, p := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}, aggregate.Policy{Team: "T1", AllowSelf: true}
	for _, decide := range []conversation.Decision{
		func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(by, p, time.Now()) },
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Reopen(by, p, time.Now().Add(time.Hour))
		},
	} {
		expect.Value(w.rows.Decide(w.t.Context(), w.ref, decide))(w.t)
	}
}

func testLateForTheBeginning(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	w.anew()
	w.says("1775034001.000100", "pay invoice 17")
	if told := w.told(); !strings.Contains(told, "invoice 17") || strings.Contains(told, "hello") {
		t.Errorf("told %s", told)
	}
	w.says(w.later(120), "and now?")
	if told := w.told(); strings.Count(told, "invoice 17") != 1 || strings.Index(told, "invoice 17") > strings.Index(told, "and now?") {
		t.Errorf("later the agent knows %s", told)
	}
}

func testLateForTheSummary(t *testing.T, w *world) {
	w.long(1)
	folded := w.load().Conversation.CollapsedThrough
	expect.Must(t, folded != "", "nothing was folded")
	for i, late := range []string{"1775034000.900000", "1775034000.800000"} {
		w.later(10 + i)
		w.says(late, fmt.Sprintf("pay invoice 1%d", i))
		if told := w.told(); strings.Count(told, fmt.Sprintf("pay invoice 1%d", i)) != 1 || strings.Count(told, "pay invoice") != i+1 {
			t.Errorf("told %s", told)
		}
	}
	before := len(w.vendor.requests)
	w.tell("1775034000.700000", "U1", "pay invoice 12")
	w.long(20)
	summed := string(expect.Value(json.Marshal(w.vendor.requests[before].Messages))(t))
	if s := w.load().Conversation; s.CollapsedThrough <= folded || strings.Count(summed, "pay invoice") != 3 {
		t.Errorf("folded through %s, and then through %s: summed up %.300s", folded, s.CollapsedThrough, summed)
	}
	w.says(w.later(30), "and now?")
	expect.That(t, !strings.Contains(w.told(), "pay invoice"), "what the summary stands for is told beside it")
}

// A sentence says that the message is saved, and the agent reads the message when it answers again.
func testLateAndRefused(t *testing.T, w *world) {
	expect.Value(w.handle())(t)
	w.anew()
	w.tell("1775034001.000100", "U1", "pay invoice 17")
	w.wake()
	expect.Value(w.rows.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, conversation.ReasonRunFailed, time.Now())
	}))(t)
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
	w.tell("1775033999.000100", "U1", "pay invoice 17")
	if next := expect.Value(w.handle())(t); next.State != conversation.StateAnswer || len(w.load().Inbox) != 1 || !strings.Contains(w.told(), "hello") {
		t.Fatalf("beside another one: %+v with %d in the inbox", next, len(w.load().Inbox))
	}
	if _, err := w.handle(); !errors.Is(err, explain.ErrUnavailable) || len(w.load().Inbox) != 1 ||
		len(w.vendor.requests) != 1 {
		t.Fatalf("alone: %v after %d calls, %d in the inbox", err, len(w.vendor.requests), len(w.load().Inbox))
	}
	w.Store = rows
	expect.Value(w.handle())(t)
	if told := w.told(); strings.Count(told, "invoice 17") != 1 || len(w.load().Inbox) != 0 {
		t.Errorf("told %s, %d in the inbox", told, len(w.load().Inbox))
	}
}
