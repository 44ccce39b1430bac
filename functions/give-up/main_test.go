package main

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// A failed turn is answered with a sentence.
func TestGiveUp(t *testing.T) {
	server := storetest.Start(t)
	_, table := server.Store(t)
	rows := store.NewConversations(server.DB, table)
	in := conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: "1775034000.000100",
		TS: "1775034000.000100", User: "U1", Text: "hello"}
	expect.NoError(t, rows.Begin(t.Context(), expect.Value(conversation.Begin(in,
		conversation.Opening{AgentID: "codex", Locale: "en"}, time.Now()))(t)))
	h := &Handler{Store: rows, Now: time.Now}
	ref := in.Ref()
	var next aggregate.Next
	out := expect.Metrics(t, func() {
		next = expect.Value(h.Handle(t.Context(), pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: 1}))(t)
	})
	expect.That(t, strings.Contains(out, `"RunFailed":1`), "nobody hears of it: %s", out)
	a := expect.Value(rows.Load(t.Context(), ref))(t)
	expect.That(t, next.State == aggregate.StateFinish && a.Head.Resting &&
		a.Conversation.Status == conversation.Failing &&
		len(a.Inbox) == 0, "%+v, %+v: the conversation is %s, %d messages wait", next, a.Head, a.Conversation.Status,
		len(a.Inbox))
}
