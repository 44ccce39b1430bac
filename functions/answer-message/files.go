package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/chat"
	"ringi/shared/slackapi"
)

// filesWithin bounds the reading of all files of a turn: the agent answers without those that take longer.
const filesWithin = 20 * time.Second

// attach reads the files that the turn shows. What can't be read is said to the agent with the reason.
func (t *turn) attach(ctx context.Context, history []chat.Message) {
	if t.File == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, filesWithin)
	defer cancel()
	shown := chat.Attach(history, func(f chat.File, most int) ([]byte, string) {
		got, err := t.File(ctx, t.ref, f.ID, most)
		switch {
		case errors.Is(err, slackapi.ErrFile):
			return nil, err.Error()
		case err != nil:
			slog.WarnContext(ctx, "a file is not read", "file", f.ID, "err", err)
			return nil, "Slack did not give it now"
		}
		return got.Body, ""
	})
	for _, f := range shown {
		slog.InfoContext(ctx, "a file is read", "session", t.ref.ID, "file", f.ID, "sha256", f.Hash, "bytes", f.Size)
	}
}

// reader is File of a client that calls Slack for whichever workspace.
func reader(slack *slackapi.Client) func(context.Context, aggregate.Ref, string, int) (slackapi.File, error) {
	return func(ctx context.Context, ref aggregate.Ref, id string, most int) (slackapi.File, error) {
		return slack.File(slackapi.For(ctx, ref.Tenant), id, most)
	}
}
