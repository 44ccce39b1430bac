package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/slack/slackapi"
)

// giveThread gives the agent what was said in the thread before somebody called it, once for a conversation. What of it
// can't be read, the agent answers without.
func (t *answering) giveThread(ctx context.Context) error {
	s := t.a.Conversation
	if s.ThreadBefore == "" || t.Thread == nil {
		return nil
	}
	said, of := model.ReadThread(ctx, func(ctx context.Context, n int) (out []model.Said, err error) {
		said, err := t.Thread(ctx, t.ref, s.Channel, s.ThreadTS, s.ThreadBefore, n)
		for _, x := range said {
			out = append(out, model.Said(x))
		}
		return out, err
	}, func(try int, err error) bool { return slackapi.Again(ctx, try, t.Rest, err) })
	a, failed := t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.GiveThread(t.in.Run, earlierOf(said), *of, t.Now())
	})
	switch {
	case errors.Is(failed, aggregate.ErrNotDue): // another invocation was faster
		return nil
	case failed != nil:
		return fmt.Errorf("give the thread: %w", failed)
	}
	t.a = a
	return nil
}

func earlierOf(said []model.Said) (out []conversation.Earlier) {
	for _, s := range said {
		at, err := aggregate.ParseTS(s.TS)
		if err != nil {
			continue
		}
		out = append(out, conversation.Earlier{User: s.User, At: at, Text: s.Text, Quoted: s.Quoted})
	}
	return out
}

// quoted returns whose words a person's message forwards.
func quoted(m conversation.Message) (out []conversation.Earlier) {
	for _, q := range m.Forwarded {
		out = append(out, conversation.Earlier{User: q.User, Text: q.Text})
	}
	return out
}

// forwarded returns the messages that a person's message forwards.
func forwarded(m conversation.Message, names map[string]string) (out []turn.Forwarded) {
	for _, q := range m.Forwarded {
		out = append(out, turn.Forwarded{Where: q.Where, Cut: q.Cut, Earlier: turn.Earlier{
			Name: cmp.Or(names[q.User], q.Name), UserID: q.User, At: q.At, Text: named(q.Text, names)}})
	}
	return out
}

// threads implements Handler.Thread with a client that serves any workspace.
func threads(slack *slackapi.Client) func(context.Context, aggregate.Ref, string, string, string,
	int) ([]slackapi.Said, error) {
	return func(ctx context.Context, ref aggregate.Ref, channel, thread, before string, n int) ([]slackapi.Said, error) {
		return slack.Before(slackapi.For(ctx, ref.Tenant), channel, thread, before, n)
	}
}
