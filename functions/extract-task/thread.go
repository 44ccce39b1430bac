package main

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/slack/slackapi"
)

const (
	// threadMessages is how many earlier messages of its thread the model sees with a request.
	threadMessages = 20
	// threadWithin bounds the reading of a thread.
	threadWithin = 6 * time.Second
)

// Threads reads what was said in a thread before a message.
type Threads interface {
	Before(ctx context.Context, channel, thread, ts string, n int) ([]slackapi.Said, error)
}

// thread is what was written in the thread before a request. When Slack can't be read, it is
// empty and the request is extracted without it.
func (h *Handler) thread(ctx context.Context, a *task.Aggregate) []model.Said {
	r := a.Request
	if r.ThreadTS == "" || r.ThreadTS == r.MessageTS {
		return nil
	}
	ctx, cancel := context.WithTimeout(slackapi.For(ctx, a.Ref().Tenant), threadWithin)
	defer cancel()
	said, err := h.Threads.Before(ctx, r.Channel, r.ThreadTS, r.MessageTS, threadMessages)
	if err != nil {
		slog.WarnContext(ctx, "without the thread", "task_id", a.Ref().ID, "err", err)
		return nil
	}
	var out []model.Said
	for _, s := range said {
		out = append(out, model.Said{User: s.User, Text: s.Text})
	}
	return out
}
