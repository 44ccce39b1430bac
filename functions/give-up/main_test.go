package main

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// A failed turn is answered with a sentence.
func TestAConversationIsGivenUp(t *testing.T) {
	server := storetest.Start(t)
	_, table := server.Store(t)
	k := pipelinetest.Begin(t, store.NewConversations(server.DB, table), time.Now,
		pipelinetest.Heard(pipelinetest.Root, "U1", "hello"), conversation.Opening{AgentID: "codex", Locale: "en"})
	h := &Handler{Conversations: k.Rows, Now: time.Now}
	var next aggregate.Next
	out := expect.Metrics(t, func() {
		next = expect.Value(h.Handle(t.Context(), k.In()))(t)
	})
	expect.That(t, strings.Contains(out, `"RunFailed":1`), "nobody hears of it: %s", out)
	a := k.Load()
	expect.That(t, next.State == aggregate.StateFinish && a.Head.Resting &&
		a.Conversation.Status == conversation.Failing &&
		len(a.Inbox) == 0, "%+v, %+v: the conversation is %s, %d messages wait", next, a.Head, a.Conversation.Status,
		len(a.Inbox))
}
