package main

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

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
