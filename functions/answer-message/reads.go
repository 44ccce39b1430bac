package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/store/large"
)

// conversationFiles returns the files as they are when the turn begins, with the attachments in their place. They are
// opened when the agent first reads one; a list needs their manifests alone.
func (t *answering) conversationFiles() *turn.Files {
	if t.Files == nil {
		return nil
	}
	return &turn.Files{Version: t.a.Conversation.WorkspaceVersion, Attached: t.laid.version != "", List: t.listFiles,
		Open: func(ctx context.Context) (*conversation.Tree, error) {
			if t.tree == nil {
				if why := t.open(ctx); why != "" {
					return nil, errors.New(why)
				}
			}
			if t.laid.version == "" {
				return t.tree, nil
			}
			if err := t.openAttachments(ctx); err != nil {
				slog.WarnContext(ctx, "the attachments of a conversation are not read", "session", t.ref.ID, "err", err)
				return nil, errors.New(attachmentsUnread)
			}
			return t.tree.Beside(t.laid.Tree), nil
		}}
}

// listFiles lists the files and the attachments.
func (t *answering) listFiles(ctx context.Context) (m conversation.Manifest, err error) {
	switch m, err = t.Files.Manifest(ctx, t.of(), t.base()); {
	case errors.Is(err, large.ErrGone):
		return m, errors.New(t.open(ctx))
	case err != nil:
		slog.WarnContext(ctx, "the files of a conversation are not listed", "session", t.ref.ID, "err", err)
		return m, errors.New(filesUnread)
	case t.laid.version == "":
		return m, nil
	}
	if t.laid.Tree != nil {
		return m.Beside(t.laid.Tree.Manifest()), nil
	}
	attached, err := t.Attachments.Manifest(ctx, t.of(), t.laid.version)
	if err != nil {
		slog.WarnContext(ctx, "the attachments of a conversation are not listed", "session", t.ref.ID, "err", err)
		return m, errors.New(attachmentsUnread)
	}
	return m.Beside(attached), nil
}

// earlier returns what an earlier try at this answer read, which is paid for.
func (t *answering) earlier(ctx context.Context) []turn.Round {
	if r := t.a.ReadFor(t.seen); r != nil && r.Kept.Bytes > 0 {
		return t.keptRounds(ctx, r.Kept)
	}
	return nil
}

// keptRounds returns rounds that were stored, or nil if they can't be read: then the agent reads again.
func (t *answering) keptRounds(ctx context.Context, b aggregate.Blob) []turn.Round {
	text, err := t.Payloads.Open(ctx, t.ref, b)
	if err == nil {
		var rounds []turn.Round
		if rounds, err = turn.ReadKept(text); err == nil {
			return rounds
		}
	}
	slog.WarnContext(ctx, "what an agent read can't be opened", "session", t.ref.ID, "err", err)
	return nil
}

// whatWasRead stores rounds, and returns what the conversation says of them; nil if there are none. A bucket that is
// down keeps nobody from an answer.
func (t *answering) whatWasRead(ctx context.Context, rounds []turn.Round) *conversation.Reading {
	if len(rounds) == 0 {
		return nil
	}
	out := &conversation.Reading{Of: t.seen[0].Message}
	for _, r := range rounds {
		out.Read = append(out.Read, r.Reads...)
	}
	text, err := turn.Kept(rounds)
	if err == nil {
		out.Kept, err = t.Payloads.KeepReads(ctx, t.ref, text)
	}
	if err != nil {
		slog.WarnContext(ctx, "what an agent read is not kept", "session", t.ref.ID, "err", err)
		out.Kept = aggregate.Blob{}
	}
	return out
}

// turnsAgain is in how many later turns the agent is shown what it read. mostNamed is how many older reads are named.
const turnsAgain, mostNamed = 2, 50

// readBefore adds to the history what the agent read: in its newest answers with the results, as far as these fit.
func (t *answering) readBefore(ctx context.Context, all []conversation.Message, out []turn.Message) {
	answers, left, named := 0, turn.MaxAgain, mostNamed
	for i, m := range slices.Backward(all) {
		if m.Sender != conversation.FromAgent {
			continue
		}
		answers++
		out[i].Read = m.Read
		if m.ReadKept != nil && m.ReadKept.Bytes > 0 && answers <= turnsAgain {
			if rounds := t.keptRounds(ctx, *m.ReadKept); rounds != nil {
				size := 0
				out[i].Rounds, out[i].Read, size = turn.Again(rounds, left)
				left -= size
			}
		}
		out[i].Read = out[i].Read[:min(len(out[i].Read), named)]
		named -= len(out[i].Read)
	}
}

// paidFor returns what commits the cost of an answer that reads, with the cost and the summary in x, which x then
// doesn't have any more. The agent may read on while the run and its messages stand and no budget is used up.
func (t *answering) paidFor(x *conversation.Answer) turn.Paid {
	return func(ctx context.Context, rounds []turn.Round, used model.Usage) (bool, error) {
		read := *t.whatWasRead(ctx, rounds)
		y := conversation.Answer{Usage: x.Usage.Plus(used), Summary: x.Summary, Through: x.Through, Folded: x.Folded,
			Spoke: x.Spoke}
		a, err := pipeline.Paid(ctx, y.Usage, func(ctx context.Context) (*conversation.Aggregate, error) {
			return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				return a.ReadOn(t.in.Run, t.seen, read, y, t.Now())
			})
		}, t.alone(y.Usage))
		if err != nil {
			return false, fmt.Errorf("record a round of reads: %w", err)
		}
		x.Usage, x.Summary, x.Through = model.Usage{}, "", ""
		t.cost = 0
		if limit := t.settings.MaxSessionCost(); limit > 0 && a.Conversation.Usage.Cost >= limit {
			return false, nil
		}
		over, err := pipeline.OverBudget(ctx, t.Store, t.in.Tenant, t.settings, t.Now())
		return err == nil && over.Reason == "", err
	}
}
