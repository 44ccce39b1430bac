package main

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// Asks is the action that waits.
func (sessionCards) Asks(a aggregate.Aggregate) (aggregate.Question, bool) {
	x := talkOf(a).Pending()
	if x == nil || !x.Gate.Terms.ApprovalRequired {
		return aggregate.Question{}, false
	}
	return x.Asks(), true
}

// Approves asks what a click asks.
func (sessionCards) Approves(a aggregate.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) bool {
	return talkOf(a).Approves(id, by, p, now)
}

// Origin is where the session was opened.
func (sessionCards) Origin(a aggregate.Aggregate) aggregate.Origin {
	return talkOf(a).Session.Origin()
}

// Beginning is the head of its thread.
func (sessionCards) Beginning(a aggregate.Aggregate) (ts, thread string) {
	s := talkOf(a).Session
	return s.ThreadTS, s.ThreadTS
}

// Outcome is none: whoever talks with an agent has the answer in the thread.
func (sessionCards) Outcome(aggregate.Aggregate, time.Time) *aggregate.Card { return nil }

// Copy draws a copy. One whose action has left the session stays as it is.
func (sessionCards) Copy(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) (card.Message, bool) {
	t := talkOf(a)
	x := aggregate.Find(t.Actions, c.Subject)
	if x == nil {
		return card.Message{}, false
	}
	if x.Status == conversation.ActionExecuting { // what it prints is followed in the thread alone
		t.Log = nil
	}
	return card.ConversationCopy(t, c, s, link, now), true
}
