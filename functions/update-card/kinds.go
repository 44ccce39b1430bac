package main

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// Results reads the large arguments of a gate, which are stored outside of the table.
type Results interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
}

type taskCards struct {
	results Results
	links   decide.InboxLinks
}

// Opened reads the large arguments of a waiting step, which never change, and the links of a reminder.
func (k taskCards) Opened(ctx context.Context, a aggregate.Aggregate, c *aggregate.Card) (aggregate.Aggregate, error) {
	if c.CardType != task.CardStep {
		return a.(*task.Aggregate).Linked(func(channel, ts, thread string) string {
			return k.links.Link(ctx, channel, ts, thread)
		}), nil
	}
	opened, err := k.results.Opened(ctx, a.(*task.Aggregate), c.Subject)
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

// Outcome tells an asker that something was given back to them, and the requester that a task ended, unless they ended
// it themselves. Who asked in direct messages sees the card anyway.
func (taskCards) Outcome(a aggregate.Aggregate, now time.Time) *aggregate.Card {
	t := a.(*task.Aggregate)
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

// callCards draws the cards of calls that outside agents ask for, those of a key and a day in one thread.
type callCards struct{}

func (callCards) Opened(_ context.Context, a aggregate.Aggregate, _ *aggregate.Card) (aggregate.Aggregate, error) {
	return a, nil
}

// Outcome tells who answers for the key that the call was refused, or somebody else cancelled it. Otherwise the
// card says how it ended, and the agent is told.
func (callCards) Outcome(a aggregate.Aggregate, now time.Time) *aggregate.Card {
	x := a.(*call.Aggregate).Call
	if x == nil {
		return nil
	}
	if !x.TurnedDown() && (x.CancelReason != conversation.ReasonWithdrawn || x.CancelledBy == "") ||
		x.CancelledBy == x.Answers || now.Sub(*x.CompletedAt) >= outcomeWithin || len(a.Common().CopiesOf(outcome)) > 0 {
		return nil
	}
	return &aggregate.Card{CardType: task.CardOutcome, Subject: outcome, User: x.Answers}
}
