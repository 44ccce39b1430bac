package main

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/session"
	"ringi/shared/tenancy"
)

// Said reads what was said in a session.
type Said interface {
	Message(ctx context.Context, tenant, id, key string) (session.Message, error)
}

// sessionCards draws what an agent says, and its actions.
type sessionCards struct{ said Said }

// Place is the session's thread.
func (sessionCards) Place(a aggregate.Aggregate) (Place, bool) {
	s := a.(*session.Aggregate).Session
	if s == nil {
		return Place{}, false
	}
	return Place{Team: s.TeamID, Thread: s.ThreadTS, Accepted: true}, true
}

// Render draws one card.
func (sessionCards) Render(a aggregate.Aggregate, c *aggregate.Card, _ tenancy.Settings, _ time.Time) card.Message {
	of := a.(*session.Aggregate)
	switch c.CardType {
	case session.CardMessage:
		if m := of.Said; m != nil && "MESSAGE#"+m.Key() == c.Subject {
			return card.Message{Text: m.Content}
		}
		return card.Message{Text: "…"}
	case session.CardAction:
		if x := aggregate.Find(of.Actions, c.Subject); x != nil {
			return card.Message{Text: fmt.Sprintf("#%d %s: %s", x.Number, x.ActionType, x.Status)}
		}
	}
	return card.Message{Text: string(of.Session.Status)}
}

// Opened has the message that a card shows. It never changes.
func (k sessionCards) Opened(ctx context.Context, a aggregate.Aggregate, c *aggregate.Card) (aggregate.Aggregate, error) {
	if c.CardType != session.CardMessage {
		return a, nil
	}
	m, err := k.said.Message(ctx, a.Ref().Tenant, a.Ref().ID, c.Subject[len("MESSAGE#"):])
	if err != nil {
		return nil, fmt.Errorf("read what was said: %w", err)
	}
	opened := *a.(*session.Aggregate)
	opened.Said = &m
	return &opened, nil
}

// Suggestions are none.
func (sessionCards) Suggestions(aggregate.Aggregate, string) []card.Suggestion { return nil }

// Urgency is read off the rows: somebody waits for an answer, and for an action that asks.
func (sessionCards) Urgency(a aggregate.Aggregate, c *aggregate.Card) urgency {
	x := aggregate.Find(a.(*session.Aggregate).Actions, c.Subject)
	if x != nil && x.Status == session.ActionExecuting {
		return progress
	}
	return asks
}
