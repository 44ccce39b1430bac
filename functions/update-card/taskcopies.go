package main

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// outcomeWithin is how long after a task's end its requester is told: one that an earlier release ended, and that is drawn
// again, is no news.
const outcomeWithin = 24 * time.Hour

// outcome is the subject of the message that says how a task ended.
const outcome = "OUTCOME"

// Outcome is due to the requester of a task that ended: not in the thread that is theirs alone anyway, and not of what they
// ended themselves.
func (taskCards) Outcome(a aggregate.Aggregate, now time.Time) *aggregate.Card {
	t := a.(*task.Aggregate)
	e := t.Head.Ended
	due := e != nil && now.Sub(e.At) < outcomeWithin && t.Task != nil && e.By != t.Head.Requester && t.Request.ChannelType != "im" && t.Head.Requester != "" && len(t.CopiesOf(outcome)) == 0
	if !due {
		return nil
	}
	return &aggregate.Card{CardType: task.CardOutcome, Subject: outcome, User: t.Head.Requester}
}

// Copy draws a copy of a card. The message about a task's end is left as it is while a retried task has not ended again.
func (taskCards) Copy(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) (card.Message, bool) {
	t := a.(*task.Aggregate)
	if c.CardType == task.CardOutcome && t.Head.Ended == nil {
		return card.Message{}, false
	}
	return card.Copy(t, c, s, link, now), true
}
