package main

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// callCards draws the cards of calls that outside agents ask for, those of a key and a day in one thread.
type callCards struct{}

func (callCards) Place(a aggregate.Aggregate) (Place, bool) {
	x := a.(*call.Aggregate).Call
	if x == nil {
		return Place{}, false
	}
	return Place{Team: x.TeamID, Thread: x.ThreadTS, Accepted: true}, true
}

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

// Copy draws a copy of the card, or what tells of it.
func (callCards) Copy(
	a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time,
) (card.Message, bool) {
	return card.Copy(a, c, s, link, now), true
}
