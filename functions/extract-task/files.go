package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/legible"
)

// filesWithin bounds the reading of a request's files. It leaves the model as much time as it has for an answer.
const filesWithin = 50 * time.Second

// Slack reads what was said before a request, and its files.
type Slack interface {
	Before(ctx context.Context, channel, thread, ts string, n int) ([]slackapi.Said, error)
	File(ctx context.Context, id string, most int) (slackapi.File, error)
}

// Texts keep the texts of files.
type Texts interface {
	KeepText(ctx context.Context, ref aggregate.Ref, text string) (aggregate.Blob, error)
}

// readFiles reads the request's files, once for the task. Interrupted, it reads them all again and keeps the same
// objects. It returns the task with what was read; what can't be read says why. An error means that a file can't be
// kept or handed to its reader now.
func (h *Handler) readFiles(ctx context.Context, in pipeline.Input, a *task.Aggregate) (*task.Aggregate, error) {
	if !a.Unread() {
		return a, nil
	}
	within, cancel := context.WithTimeout(slackapi.For(ctx, in.Tenant), filesWithin)
	defer cancel()
	var files []task.ReadFile
	bytes, shown := int64(task.MaxFilesBytes), task.MaxFilesShown
	for _, f := range a.Request.Files {
		x, err := h.readFile(within, a.Ref(), f, bytes, shown)
		if err != nil && within.Err() != nil && ctx.Err() == nil {
			x, err = task.ReadFile{SharedFile: f, Why: conversation.NotNow}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a file of the request: %w: %w", explain.ErrUnavailable, err)
		}
		slog.InfoContext(ctx, "a file is read", "task_id", in.Ref().ID, "file", f.ID, "sha256", x.SHA256, "bytes", x.Bytes,
			"form", x.Form, "why", x.Why, "characters", x.Characters, "shown", x.Shown)
		files = append(files, x)
		if x.SHA256 != "" {
			bytes -= x.Bytes
		}
		shown -= x.Shown
	}
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ReadFiles(in.Run, files, h.Now())
	})
	if err != nil {
		return nil, fmt.Errorf("keep what was read of the files: %w", err)
	}
	return after, nil
}

// readFile reads a file of at most so many bytes, and keeps at most so many characters of its text for models.
func (h *Handler) readFile(ctx context.Context, ref aggregate.Ref, f aggregate.SharedFile, bytes int64, most int) (
	task.ReadFile, error) {
	x := task.ReadFile{SharedFile: f}
	got, why := h.fetch(ctx, f.ID, int(min(bytes, isolated.MaxFile)))
	if why != "" {
		x.Why = why
		return x, nil
	}
	x.Name, x.Type = cmp.Or(legible.FirstBytes(got.Name, maxName), f.Name), cmp.Or(got.Type, f.Type)
	x.Bytes, x.SHA256 = int64(len(got.Body)), aggregate.HashOf(string(got.Body))
	text, err := h.Text(ctx, ref, path.Base(cmp.Or(x.Name, f.ID)), got.Body)
	if err != nil {
		return x, err
	}
	x.Form, x.Encoding, x.Remarks, x.Why = text.Form, text.Encoding, text.Remarks, string(text.Why)
	if x.Why != "" {
		return x, nil
	}
	text.Text = strings.ToValidUTF8(text.Text, "�")
	shown := legible.FirstLines(text.Text, min(most, task.MaxFileShown))
	x.Characters, x.Shown = utf8.RuneCountInString(text.Text), utf8.RuneCountInString(shown)
	if shown == "" {
		return x, nil
	}
	kept, err := h.Texts.KeepText(ctx, ref, shown)
	x.Text = &kept
	return x, err
}

// maxName is how many bytes of a file's name are kept.
const maxName = 255

// fetch gets a file of Slack's, or says why it can't be read.
func (h *Handler) fetch(ctx context.Context, id string, most int) (f slackapi.File, why string) {
	for try := 1; ; try++ {
		f, err := h.Slack.File(ctx, id, most)
		var refused slackapi.Refused
		switch {
		case err == nil:
			return f, ""
		case errors.Is(err, slackapi.ErrFile):
			return f, err.Error()
		case errors.As(err, &refused) && (refused.App || refused.Permanent):
			slog.WarnContext(ctx, "a file may not be read", "file", id, "err", err)
			return f, conversation.NoRight
		}
		slog.WarnContext(ctx, "a file is not read", "file", id, "try", try, "err", err)
		if !slackapi.Again(ctx, try, h.Rest, err) {
			return f, conversation.NotNow
		}
	}
}
