package main

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// opened reads what only a card whose message changes needs: the large arguments of a waiting step, which never change,
// the links of a reminder, what was said in a conversation.
func (d *drawing) opened(ctx context.Context, c *aggregate.Card) (aggregate.Aggregate, error) {
	t, is := d.a.(*task.Aggregate)
	switch {
	case d.ref.Kind == conversation.Kind.Name:
		return d.openedTalk(ctx, c)
	case !is:
		return d.a, nil
	case c.CardType != task.CardStep:
		return t.Linked(func(channel, ts, thread string) string { return d.Slack.Link(ctx, channel, ts, thread) }), nil
	}
	opened, err := d.Results.Opened(ctx, t, c.Subject)
	if err != nil {
		return nil, fmt.Errorf("open the arguments of a step: %w", err)
	}
	return opened, nil
}

// reader returns who wrote a direct message that became no task: only they see the answer. "": cards are for several
// people.
func reader(a aggregate.Aggregate) string {
	t, is := a.(*task.Aggregate)
	if !is || t.Request.ChannelType != "im" || t.Head.Ended == nil || t.Task != nil {
		return ""
	}
	return t.Request.User
}

// outcomeWithin is how long after a task's end its requester is told. After that it is no news.
const outcomeWithin = 24 * time.Hour

// outcome is the subject of the message that says how a task ended.
const outcome = "OUTCOME"

// ending returns the message that says how something ended, or nil if none is due: to an asker that something was given
// back to them, to the requester that a task ended, unless they ended it themselves, to who answers for a key that its
// call was refused, or somebody else cancelled it. Who asked in direct messages, or talks with an agent, sees it
// anyway.
func ending(a aggregate.Aggregate, now time.Time) *aggregate.Card {
	switch a := a.(type) {
	case *task.Aggregate:
		return endOfTask(a, now)
	case *call.Aggregate:
		return endOfCall(a, now)
	}
	return nil
}

func endOfTask(t *task.Aggregate, now time.Time) *aggregate.Card {
	if c := returned(t); c != nil {
		return c
	}
	e, to := t.Head.Ended, t.Head.Requester
	if e == nil || now.Sub(e.At) >= outcomeWithin || t.Task == nil || len(t.CopiesOf(outcome)) > 0 {
		return nil
	}
	if to == "" || to == e.By || t.Request.ChannelType == "im" || card.ToldRequester(t) {
		return nil
	}
	return &aggregate.Card{CardType: task.CardOutcome, Subject: outcome, User: to}
}

func endOfCall(a *call.Aggregate, now time.Time) *aggregate.Card {
	x := a.Call
	if !x.TurnedDown() && (x.CancelReason != conversation.ReasonWithdrawn || x.CancelledBy == "") ||
		x.CancelledBy == x.Answers || now.Sub(*x.CompletedAt) >= outcomeWithin || len(a.CopiesOf(outcome)) > 0 {
		return nil
	}
	return &aggregate.Card{CardType: task.CardOutcome, Subject: outcome, User: x.Answers}
}
