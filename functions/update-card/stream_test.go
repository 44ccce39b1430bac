package main

import (
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

// grows has a message grow with the beginning of an answer, as whoever answers does.
func (k *inConversation) grows() *conversation.Stream {
	k.T.Helper()
	a := expect.Value(k.rows.Load(k.T.Context(), k.ref))(k.T)
	row := conversation.NewStream(a.Waiting()[0], k.Now())
	row.TS = expect.Value(k.slack.Client.StartStream(k.T.Context(), k.channel, k.thread, slacktest.Team, workspace.Sato, "The beginning"))(k.T)
	expect.NoError(k.T, k.rows.Of.PutNote(k.T.Context(), k.ref, row, row.Of, true))
	return row
}

func TestAMessageThatGrewShowsWhatTheRowsSay(t *testing.T) {
	db := storetest.Start(t)
	run := func(name string, test func(t *testing.T, k *inConversation)) {
		t.Run(name, func(t *testing.T) { test(t, newConversation(t, db)) })
	}
	run("whoever answered crashed before its end", func(t *testing.T, k *inConversation) {
		row := k.grows()
		k.says("**The beginning**, and the end.", nil)
		k.drawn("active", "*The beginning*, and the end.")
		m := k.slack.Thread(t, k.channel, k.thread)[0]
		expect.That(t, m.TS == row.TS && m.Metadata != nil, "%+v", m)
		expect.Same(t, 0, len(k.slack.Calls("chat.postMessage")))
	})
	run("while its answer is made it stays", func(t *testing.T, k *inConversation) {
		k.grows()
		k.drawn("processing", "The beginning")
	})
	run("its answer never came", func(t *testing.T, k *inConversation) {
		k.grows()
		k.do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(k.By, k.policy, k.Now()) })
		k.drawn("closed", "reopen_session")
		if a := expect.Value(k.rows.Load(t.Context(), k.ref))(t); a.Stream != nil {
			t.Errorf("%+v", a.Stream)
		}
	})
	run("nobody knows whether there is one", func(t *testing.T, k *inConversation) {
		row := k.grows()
		row.TS = ""
		expect.NoError(t, k.rows.Of.PutNote(t.Context(), k.ref, row, row.Of, false))
		k.says(strings.Repeat("The end. ", 9), nil)
		k.drawn("active", "The end.")
	})
	run("Slack can't put the card in its place", func(t *testing.T, k *inConversation) {
		row := k.grows()
		k.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Refused, Code: "block_mismatch"})
		expect.NoError(t, k.slack.Client.StopStream(t.Context(), k.channel, row.TS))
		k.says("The end.", nil)
		k.drawn("active", "The end.")
	})
}

// What is of another message by now is not deleted, and a row that is gone does not come back.
func TestTheRowOfAMessageThatGrows(t *testing.T) {
	k := newConversation(t, storetest.Start(t))
	row := k.grows()
	other := conversation.NewStream(&conversation.Inbox{Message: "another"}, time.Now())
	expect.NoError(t, k.rows.Of.DropNote(t.Context(), k.ref, other, other.Of))
	if err := k.rows.Of.PutNote(t.Context(), k.ref, other, other.Of, true); !isOther(err) {
		t.Errorf("a second one: %v", err)
	}
	a := expect.Value(k.rows.Load(t.Context(), k.ref))(t)
	expect.Must(t, a.Stream != nil && a.Stream.TS == row.TS, "%+v", a.Stream)
	expect.NoError(t, k.rows.Of.DropNote(t.Context(), k.ref, row, row.Of))
	expect.NoError(t, k.rows.Of.DropNote(t.Context(), k.ref, row, row.Of))
	if err := k.rows.Of.PutNote(t.Context(), k.ref, row, row.Of, false); err == nil {
		t.Error("it came back")
	}
}
