package main

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// Asks is the action that waits.
func (conversationCards) Asks(a aggregate.Aggregate) (aggregate.Question, bool) {
	x := conversationOf(a).Pending()
	if x == nil || !x.Gate.Terms.ApprovalRequired {
		return aggregate.Question{}, false
	}
	return x.Asks(), true
}

// Approves asks what a click asks.
func (conversationCards) Approves(a aggregate.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) bool {
	return conversationOf(a).Approves(id, by, p, now)
}

// Origin is where the conversation was opened.
func (conversationCards) Origin(a aggregate.Aggregate) aggregate.Origin {
	return conversationOf(a).Session.Origin()
}

// Beginning is the head of its thread.
func (conversationCards) Beginning(a aggregate.Aggregate) (ts, thread string) {
	s := conversationOf(a).Session
	return s.ThreadTS, s.ThreadTS
}

// Outcome is none: whoever talks with an agent has the answer in the thread.
func (conversationCards) Outcome(aggregate.Aggregate, time.Time) *aggregate.Card { return nil }

// Copy draws a copy. One whose action has left the conversation stays as it is.
func (conversationCards) Copy(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) (card.Message, bool) {
	t := conversationOf(a)
	x := aggregate.Find(t.Actions, c.Subject)
	if x == nil {
		return card.Message{}, false
	}
	if x.Status == conversation.ActionExecuting { // what it prints is followed in the thread alone
		t.Log = nil
	}
	return card.ConversationCopy(t, c, s, link, now), true
}
