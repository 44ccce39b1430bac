package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// replace makes a message show m. It first ends the message's stream, if that is still open.
func (d *drawing) replace(ctx context.Context, c *aggregate.Card, m card.Message) error {
	err := d.limited(ctx, methodUpdate, d.Slack.Update(ctx, c.Channel, c.MessageTS, m, d.about(c)))
	if slackapi.Code(err) != slackapi.CodeStreaming {
		return err
	}
	if err := d.Slack.StopStream(ctx, c.Channel, c.MessageTS); err != nil {
		return fmt.Errorf("end the stream: %w", err)
	}
	return d.limited(ctx, methodUpdate, d.Slack.Update(ctx, c.Channel, c.MessageTS, m, d.about(c)))
}

// withLeftover is a kind that streams messages before their content is committed.
type withLeftover interface {
	Leftover(a aggregate.Aggregate) (s *conversation.Stream, channel string)
}

// Leftover returns a message that was streamed for an answer which will never be committed.
func (conversationCards) Leftover(a aggregate.Aggregate) (s *conversation.Stream, channel string) {
	t := conversationOf(a)
	return t.Leftover(), t.Conversation.Channel
}

// mayCome is how long a message may take to appear after the answer to its call was lost.
const mayCome = time.Minute

// leftover deletes a leftover message, so that the thread shows only what the rows contain. If Slack refuses, the
// message stays.
func (d *drawing) leftover(ctx context.Context) error {
	k, ok := d.kind.(withLeftover)
	if !ok {
		return nil
	}
	s, channel := k.Leftover(d.a)
	if s == nil {
		return nil
	}
	if err := d.reach(ctx); err != nil {
		return err
	}
	found := []string{s.TS}
	if s.TS == "" {
		var err error
		if found, err = d.lost(ctx, s, channel); err != nil || len(found) == 0 && d.Now().Sub(s.StartedAt) < mayCome {
			return err
		}
	}
	for _, ts := range found {
		err := d.Slack.StopStream(ctx, channel, ts)
		if err == nil {
			err = d.Slack.Delete(ctx, channel, ts)
		}
		var refused slackapi.Refused
		switch {
		case errors.As(err, &refused) && !refused.App:
			slog.WarnContext(ctx, "the beginning of an answer stays", d.ref.Log(), "ts", ts, "err", err)
		case err != nil:
			return fmt.Errorf("delete the beginning of an answer: %w", err)
		}
	}
	return d.Rows.DropNote(ctx, d.ref, s, s.Of)
}

// lost looks for the messages of a call whose answer was lost.
func (d *drawing) lost(ctx context.Context, s *conversation.Stream, channel string) (found []string, err error) {
	all, err := d.Slack.FindStreams(ctx, channel, d.place.Thread, s.StartedAt)
	var refused slackapi.Refused
	if errors.As(err, &refused) {
		slog.WarnContext(ctx, "can't be looked for", d.ref.Log(), "err", err)
		return nil, nil
	}
	return d.a.Common().Uncarded(all), err
}
