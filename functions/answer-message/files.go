package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/model/turn"
	"ringi/shared/slack/slackapi"
)

// filesWithin bounds the reading of all files of a turn. The agent answers without the files that take longer.
const filesWithin = 20 * time.Second

// attach reads the files of the turn's messages. If a file can't be read, the agent gets the reason instead.
func (t *answering) attach(ctx context.Context, history []turn.Message) {
	if t.File == nil {
		return
	}
	for i := range history {
		for j := range history[i].Files {
			t.show(ctx, &history[i].Files[j])
		}
	}
	ctx, cancel := context.WithTimeout(ctx, filesWithin)
	defer cancel()
	shown := turn.Attach(history, func(f turn.File, most int) ([]byte, string) {
		if body, laid := t.body(ctx, f.ID); laid {
			return body, ""
		}
		got, err := t.File(ctx, t.ref, f.ID, most)
		switch {
		case errors.Is(err, slackapi.ErrFile):
			return nil, err.Error()
		case err != nil:
			slog.WarnContext(ctx, "a file is not read", "file", f.ID, "err", err)
			return nil, conversation.NotNow
		}
		return got.Body, ""
	})
	for _, f := range shown {
		slog.InfoContext(ctx, "a file is read", "session", t.ref.ID, "file", f.ID, "sha256", f.Hash, "bytes", f.Size)
	}
}

// unread is the kind of an attachment that was not read.
const unread = "unread"

// remember collects the attachments on which earlier answers were based.
func (t *answering) remember(all []conversation.Message) {
	t.read = map[string]conversation.Attachment{}
	for _, m := range all {
		if m.Sender != conversation.FromAgent {
			continue
		}
		for _, f := range m.Attachments {
			t.read[f.FileID] = f
		}
	}
}

// files returns a message's files, with the content hashes on which an earlier answer was based.
func (t *answering) files(m conversation.Message) []turn.File {
	var out []turn.File
	for _, f := range m.Attachments {
		out = append(out, turn.File{ID: f.FileID, Name: f.Name, Type: f.Type, Hash: t.read[f.FileID].Hash, Size: int(f.Bytes),
			Why: f.Why})
	}
	return out
}

// readings returns the files on which no earlier answer was based: as they were read now, or why they were not read.
func (t *answering) readings(history []turn.Message) []conversation.Attachment {
	var out []conversation.Attachment
	noted := map[string]bool{}
	for _, m := range history {
		for _, f := range m.Files {
			x := conversation.Attachment{Kind: unread, Name: f.Name, Type: f.Type, FileID: f.ID, Bytes: int64(f.Size),
				Why: f.Why}
			switch {
			case f.Body != nil && strings.HasPrefix(f.Type, "image/"):
				x.Kind, x.Hash = "image", f.Hash
			case f.Body != nil:
				x.Kind, x.Hash = "text", f.Hash
			case f.TextLies != "": // too long to be shown at once: the agent reads it by a tool
				x.Kind, x.Why = "text", ""
			}
			if was, known := t.read[f.ID]; f.ID == "" || noted[f.ID] || known && (was.Hash != "" || was == x) {
				continue
			}
			noted[f.ID] = true
			out = append(out, x)
		}
	}
	return out
}

// reader implements Handler.File with a client that serves any workspace.
func reader(slack *slackapi.Client) func(context.Context, aggregate.Ref, string, int) (slackapi.File, error) {
	return func(ctx context.Context, ref aggregate.Ref, id string, most int) (slackapi.File, error) {
		return slack.File(slackapi.For(ctx, ref.Tenant), id, most)
	}
}
