package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// live adds the console's address, and the last lines of a running action's output, which grows without a commit.
func (d *drawing) live(ctx context.Context) (decide.Subject, error) {
	t := card.ConversationOf(d.a)
	t.Console = d.Console
	x := t.Current()
	if x == nil || x.Status != conversation.ActionExecuting {
		return t, nil
	}
	var err error
	if t.Log, err = d.Said.Log(ctx, t.Ref(), x.ActionID, card.TailLines); err != nil {
		return nil, fmt.Errorf("read what the action prints: %w", err)
	}
	return t, nil
}

// openedTalk reads the contents that the card's row lacks. A card whose message was deleted shows nothing.
func (d *drawing) openedTalk(ctx context.Context, c *aggregate.Card) (aggregate.Aggregate, error) {
	t, ref := card.ConversationOf(d.a), d.ref
	switch c.CardType {
	case conversation.CardMessage:
		key, _ := conversation.OfMessage(c.Subject)
		m, err := d.Said.Message(ctx, ref.Tenant, ref.ID, key)
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
			t.Message = &conversation.Message{}
		case err != nil:
			return nil, fmt.Errorf("read what was said: %w", err)
		default:
			t.Message = &m
		}
	case conversation.CardAction:
		x := aggregate.Find(t.Actions, c.Subject)
		if x == nil {
			return d.a, nil
		}
		var err error
		if x.Payload.S3Key != "" {
			if t.Payload, err = d.Results.Open(ctx, ref, x.Payload); err != nil {
				return nil, fmt.Errorf("open what the action is to do: %w", err)
			}
		}
		if x.StartedAt != nil && t.Log == nil {
			if t.Log, err = d.Said.Log(ctx, ref, x.ActionID, card.TailLines); err != nil {
				return nil, fmt.Errorf("read what the action printed: %w", err)
			}
		}
	}
	return t, nil
}

// status sends Slack the agent's state, each time, since another process may have sent another one. If it fails, cards
// and copies are drawn anyway.
func (d *drawing) status(ctx context.Context) {
	if d.ref.Kind != conversation.Kind.Name {
		return
	}
	t := card.ConversationOf(d.a)
	st, x, is := slackapi.AgentActive, t.Current(), t.Conversation
	_, root := d.a.Beginning()
	switch {
	case is.Status == conversation.Closed:
		st = slackapi.AgentClosed
	case x != nil && x.Status == conversation.ActionPending && len(t.Inbox) == 0:
		st = slackapi.AgentSuspended
	case !t.Head.Resting:
		st = slackapi.AgentProcessing
	}
	err := d.Slack.SetAgentStatus(ctx, is.Channel, root, st, is.Title)
	if waits := card.AgentReads(t, d.settings); err == nil && waits != "" {
		err = d.Slack.SetWaiting(ctx, is.Channel, root, waits)
	}
	if err != nil {
		slog.WarnContext(ctx, "the status is not shown", d.ref.Log(), "status", st, "err", err)
	}
}
