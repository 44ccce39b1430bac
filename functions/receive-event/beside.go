package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// Slack shows notes to one person.
type Slack interface {
	Ephemeral(ctx context.Context, channel, thread, user, text string, blocks ...slack.Block) error
}

// mostBeside is how many requests of a thread are looked at, the newest first, and the one that began it.
const mostBeside = 10

// beside answers a message in a thread that is no request: in one in which a request waits for people, and in direct
// messages what doesn't mention Ringi. Only its author sees the note, and nothing is saved. done is false for any other
// message.
func (h *Handler) beside(ctx context.Context, r task.Request, mentioned bool) (done bool, err error) {
	a, err := h.waiting(ctx, r)
	if err != nil {
		return true, unkept(ctx, r.EventID, err)
	}
	if a == nil && mentioned {
		return false, nil
	}
	s, err := h.settings(ctx, aggregate.TenantID(r.TeamID))
	if err != nil {
		return true, unkept(ctx, r.EventID, err)
	}
	if a == nil {
		h.note(ctx, r, card.Elsewhere(language.Detect(r.Text, s.Locale)))
		return true, nil
	}
	text, blocks := card.NoRequest(a, r.Text, a.Language(s.Locale))
	h.note(ctx, r, text, blocks...)
	return true, nil
}

// note shows the author of a message a text where they wrote it. They may not see it if Slack fails.
func (h *Handler) note(ctx context.Context, r task.Request, text string, blocks ...slack.Block) {
	ctx = slackapi.For(ctx, aggregate.TenantID(r.TeamID))
	thread := ""
	if r.Threaded() {
		thread = r.ThreadTS
	}
	log := slog.With("event_id", r.EventID, "user", r.User)
	if err := h.Slack.Ephemeral(ctx, r.Channel, thread, r.User, text, blocks...); err != nil {
		log.WarnContext(ctx, "no note is shown", "err", err)
		return
	}
	log.InfoContext(ctx, "noted")
}

// waiting returns the request in a message's thread that waits for people, or nil: the newest that was written there,
// or the one that began it. The index, which may lag, only lists them; their rows are read from the table.
func (h *Handler) waiting(ctx context.Context, r task.Request) (*task.Aggregate, error) {
	tenant := aggregate.TenantID(r.TeamID)
	refs, err := h.Tasks.Thread(ctx, tenant, r.Channel, r.ThreadTS, mostBeside)
	if err != nil {
		return nil, fmt.Errorf("list the requests of a thread: %w", err)
	}
	if root, err := task.ID(r.TeamID, r.Channel, r.ThreadTS); err == nil { // else it is no valid Slack timestamp
		refs = append(refs, task.RefOf(tenant, root))
	}
	for _, ref := range refs {
		a, err := h.Tasks.Load(ctx, ref)
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("load a request of the thread: %w", err)
		}
		if _, waits := a.Asks(); waits && a.Head.Ended == nil {
			return a, nil
		}
	}
	return nil, nil
}
