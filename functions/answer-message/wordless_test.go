package main

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// gets delivers a message from Slack.
func (w *world) gets(in conversation.Inbound) {
	w.t.Helper()
	c := expect.Value(conversation.Tell(in, conversation.Opening{}, time.Now()))(w.t)
	expect.NoError(w.t, w.rows.Tell(w.t.Context(), w.ref, c))
}

// blank is a message without a word; change replaces an earlier message, or deletes it if there is no text.
func blank(ts string) conversation.Inbound {
	in := inbound(ts, "U1", "")
	in.Blank = true
	return in
}

func change(ts, of, text string) conversation.Inbound {
	in := inbound(ts, "U1", text)
	in.Changes, in.Deleted = of, text == ""
	return in
}

// all lets the agent answer until nothing waits, and returns what the system said meanwhile.
func (w *world) all() (said []string) {
	w.t.Helper()
	if a := w.load(); a.Head.Resting && len(a.Inbox) > 0 {
		w.wake()
	}
	for len(w.load().Inbox) > 0 {
		if next := expect.Value(w.handle())(w.t); next.State != conversation.StateAnswer {
			break
		}
	}
	expect.Is(w.t, len(w.load().Inbox), 0, "messages that wait")
	for _, m := range expect.Value(w.rows.Messages(w.t.Context(), w.ref.Tenant, w.ref.ID, ""))(w.t) {
		if m.Sender == conversation.FromSystem {
			said = append(said, string(m.Reason))
			expect.That(w.t, m.Content != "", "a sentence without words: %+v", m)
		}
	}
	return said
}

const second, third, fourth = "1775034001.000100", "1775034002.000100", "1775034003.000100"

func TestWhatHasNoWordsAsksNoModel(t *testing.T) {
	server := storetest.Start(t)
	for _, tt := range []struct {
		name  string
		first bool // the conversation begins with the first of them
		gets  []conversation.Inbound
		calls int
		said  []aggregate.Reason
		told  string // in the last call
		lacks string
	}{
		{"a conversation that begins without a word", true, []conversation.Inbound{blank(root)}, 0,
			[]aggregate.Reason{reasonBlank}, "", ""},
		{"three blank messages get one sentence", false, []conversation.Inbound{blank(second), blank(third), blank(fourth)}, 1,
			[]aggregate.Reason{reasonBlank}, "", ""},
		{"a blank message beside another", false, []conversation.Inbound{blank(second), inbound(third, "U2", "go on")}, 2,
			[]aggregate.Reason{reasonBlank}, "go on", ""},
		{"a file says enough", true, []conversation.Inbound{{Team: "T1", Channel: "D1", ChannelType: "im", Thread: root,
			TS: root, User: "U1", Attachments: []conversation.Attachment{{Kind: unread, Name: "a.zip", FileID: "F1"}}}}, 1,
			[]aggregate.Reason{""}, "a.zip", ""}, // people are told that it was not read
		{"a message that is changed before it is answered", false,
			[]conversation.Inbound{inbound(second, "U1", "pay 100"), change(third, second, "pay 200")}, 2, nil,
			`\"changes\":\"2026-04-01 18:00\",\"text\":\"pay 200\"`, ""},
		{"a blank message that gets words", false, []conversation.Inbound{blank(second), change(third, second, "now")}, 2,
			nil, "now", ""},
		{"a message that is deleted before it is answered", false,
			[]conversation.Inbound{inbound(second, "U1", "secret"), change(third, second, "")}, 1,
			[]aggregate.Reason{reasonWithdrawn}, "hello", "secret"},
		{"changed, then deleted", false, []conversation.Inbound{inbound(second, "U1", "secret"),
			change(third, second, "secret, too"), change(fourth, second, "")}, 1,
			[]aggregate.Reason{reasonWithdrawn}, "hello", "secret"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := inbound(root, "U1", "hello")
			if tt.first {
				first = tt.gets[0]
			}
			w := talkingOf(t, server, first, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
			w.all()
			if !tt.first {
				for _, in := range tt.gets {
					w.gets(in)
				}
				w.all()
			}
			said := w.all()
			var want []string
			for _, why := range tt.said {
				want = append(want, string(why))
			}
			expect.Same(t, want, said)
			expect.Is(t, len(w.vendor.requests), tt.calls, "calls of the model")
			expect.Has(t, w.told(), tt.told)
			expect.That(t, tt.lacks == "" || !strings.Contains(w.told(), tt.lacks), "the model was told %s", w.told())
		})
	}
}

// What was answered can't be unsaid: people are told that the answer is to the earlier text, and later turns know.
func TestAChangeOfAnAnsweredMessageIsSaidPlainly(t *testing.T) {
	server := storetest.Start(t)
	w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
	w.all()
	w.gets(change(second, root, "good morning"))
	expect.Same(t, []string{string(reasonChanged)}, w.all())
	m := w.said()
	expect.That(t, strings.Contains(m.Content, "before you edited it") && len(w.vendor.requests) == 1,
		"said %q after %d calls", m.Content, len(w.vendor.requests))
	w.gets(change(third, root, ""))
	expect.Same(t, []string{string(reasonChanged), string(reasonDeleted)}, w.all())
	expect.Is(t, len(w.vendor.requests), 1, "calls of the model")
	w.tell(fourth, "U1", "and now?")
	w.all()
	told := w.told()
	expect.Has(t, told, "the author deleted this message")
	expect.Has(t, told, `\"deletes\":\"2026-04-01 18:00\"`)
	expect.That(t, !strings.Contains(told, "hello"), "the model is told what was deleted: %s", told)

	// A change that comes while the model answers is said after that answer.
	w.tell("1775034004.000100", "U1", "ship it")
	w.vendor.asked = func() {
		w.vendor.asked = nil
		w.gets(change("1775034005.000100", "1775034004.000100", "don't ship it"))
	}
	before := len(w.vendor.requests)
	said := w.all()
	expect.That(t, len(said) == 3 && said[2] == string(reasonChanged) && len(w.vendor.requests) == before+1,
		"said %v after %d more calls", said, len(w.vendor.requests)-before)
}

func TestAChangeIsKeptOnce(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
	w.all()
	w.gets(change(second, root, "one"))
	w.gets(change(third, root, "two")) // another change
	c := expect.Value(conversation.Tell(change(third, root, "two"), conversation.Opening{}, time.Now()))(t)
	expect.Fails(t, w.rows.Tell(t.Context(), w.ref, c), aggregate.ErrExists, "a repeated delivery")
	expect.Is(t, len(w.load().Inbox), 2, "changes that wait")
	expect.Same(t, []string{string(reasonChanged)}, w.all())
}
