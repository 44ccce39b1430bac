package ringitest

import (
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// Root is the message with which a talk in direct messages begins.
const Root = "1775034000.000100"

// Heard is what somebody says to an agent in direct messages, in the thread of Root.
func Heard(ts, user, text string) conversation.Inbound {
	return conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: Root, TS: ts, User: user, Text: text}
}

// Member is a member of the workspace of Heard.
func Member(user string) aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: "T1", Member: true}
}

// Anyone lets every member of that workspace decide.
func Anyone() aggregate.Policy { return aggregate.Policy{Team: "T1", AllowSelf: true} }

// Talk is one conversation in a store, which the tests advance as the pipeline and people do.
type Talk struct {
	T     testing.TB
	Rows  *store.ConversationStore
	Ref   aggregate.Ref
	Clock func() time.Time
	By    aggregate.Actor // approves, cancels and ends
	Under aggregate.Policy
	Tick  func() // is called before each decision, if there is one

	Objects large.Copier // what a decision wants copied; nil: nothing is
}

// Begin begins a conversation with a message.
func Begin(t testing.TB, rows *store.ConversationStore, now func() time.Time, in conversation.Inbound,
	o conversation.Opening) Talk {
	t.Helper()
	expect.NoError(t, rows.Begin(t.Context(), expect.Value(conversation.Begin(in, o, now()))(t)))
	return Talk{T: t, Rows: rows, Ref: in.Ref(), Clock: now, By: Member("U1"), Under: Anyone()}
}

// Do commits a decision.
func (k *Talk) Do(f conversation.Decision) *conversation.Aggregate {
	k.T.Helper()
	if k.Tick != nil {
		k.Tick()
	}
	if k.Objects != nil {
		f = large.Copying(k.T.Context(), k.Objects, f)
	}
	return expect.Value(k.Rows.Decide(k.T.Context(), k.Ref, f))(k.T)
}

// Rewrite changes the conversation's row as no decision does.
func (k *Talk) Rewrite(change func(*conversation.Conversation)) {
	k.T.Helper()
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		row, head := *a.Conversation, a.Head
		change(&row)
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&row}}, nil
	})
}

func (k *Talk) Load() *conversation.Aggregate {
	k.T.Helper()
	return expect.Value(k.Rows.Load(k.T.Context(), k.Ref))(k.T)
}

// Newest returns the newest message.
func (k *Talk) Newest() conversation.Message {
	k.T.Helper()
	return expect.Value(k.Rows.Newest(k.T.Context(), k.Ref.Tenant, k.Ref.ID, "", 1))(k.T)[0]
}

// In returns a state's input for the head's run.
func (k *Talk) In() pipeline.Input {
	k.T.Helper()
	return pipeline.Input{Tenant: k.Ref.Tenant, Kind: "session", ID: k.Ref.ID, Run: k.Load().Head.Run}
}

// Tell adds a message of Heard's.
func (k *Talk) Tell(ts, user, text string) {
	k.T.Helper()
	k.Deliver(Heard(ts, user, text))
}

// Wake opens the next run, as the relay does.
func (k *Talk) Wake() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(k.Clock()) })
}

// Answer has the agent answer all that waits, with a proposal if there is one.
func (k *Talk) Answer(text string, p *conversation.Proposal) *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: text, Proposal: p}, k.Clock())
	})
}

// Approve approves the current action.
func (k *Talk) Approve() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, a.Current().ActionID, k.By, k.Under, k.Clock())
	})
}

// Cancel cancels the current action.
func (k *Talk) Cancel() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Cancel(a.Current().ActionID, k.By, k.Under, k.Clock())
	})
}

// End ends the conversation.
func (k *Talk) End() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(k.By, k.Under, k.Clock()) })
}

// Claim has the invocation i1 claim the current action for a minute.
func (k *Talk) Claim() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i1", k.Clock().Add(time.Minute), k.Clock())
	})
}

// Finish ends an action that the invocation i1 claimed.
func (k *Talk) Finish(action string, r conversation.Result) *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Finish(action, "i1", r, k.Clock()) })
}

// InRow is a payload that its row holds.
func InRow[T ~string | ~[]byte](text T) aggregate.Blob {
	return aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
}

// Deliver delivers a message from Slack.
func (k *Talk) Deliver(in conversation.Inbound) {
	k.T.Helper()
	c := expect.Value(conversation.Tell(in, conversation.Opening{}, k.Clock()))(k.T)
	expect.NoError(k.T, k.Rows.Tell(k.T.Context(), k.Ref, c))
}

// Stop stops the answer.
func (k *Talk) Stop() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Stop(k.By, k.Under, k.Clock()) })
}

// Reopen begins a conversation that has ended anew, an hour later.
func (k *Talk) Reopen() *conversation.Aggregate {
	k.T.Helper()
	return k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Reopen(k.By, k.Under, k.Clock().Add(time.Hour))
	})
}
