package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/model/turn"
)

// ask asks the agent's model. What it would not take at once is folded away before. If the vendor refuses the request
// for its length all the same, because it counts otherwise or the model takes less than the settings say, ask folds once
// more, to half, and tries once more. The answer has the usage of all calls, also with an error.
func (t *answering) ask(ctx context.Context, wire model.Wire, of turn.Turn) (conversation.Answer, turn.Reply, error) {
	room, err := of.Room()
	if err != nil {
		return conversation.Answer{}, turn.Reply{}, err
	}
	history, whole := of.History, turn.Weigh(of.History)
	var x conversation.Answer
	for again := false; ; again = true {
		paid := x.Usage
		x, of.History = t.fold(ctx, wire, history, of.Share(room))
		bySummary := x.Usage
		x.Usage = together(paid, x.Usage)
		of.Paid = t.paidFor(&x)
		of.Fit(room)
		onText, end := t.grow(ctx)
		reply, err := turn.Answer(ctx, wire, of, onText)
		end(err != nil)
		x.Usage = together(x.Usage, reply.Usage)
		if err != nil && bySummary.Free() { // the model made no summary; another try will
			x.Summary, x.Through, x.Folded = "", "", nil
		}
		if e, is := errors.AsType[*model.Error](err); !is || e.Kind != model.TooLong || again {
			return x, reply, err
		}
		slog.WarnContext(ctx, "too long for the model", "session", t.ref.ID, "estimated_tokens", whole, "room", room)
		room, of.MaxTokens = min(room, turn.Weigh(of.History))/2, turn.MaxTokens/2
		of.Earlier = reply.Rounds
	}
}

// together adds the usage of later calls, which names the sum.
func together(earlier, later model.Usage) model.Usage {
	sum := earlier.Plus(later)
	sum.ID = cmp.Or(later.ID, earlier.ID)
	return sum
}

// fold replaces what is too long by a summary, and leaves out files and arguments that are too large by themselves.
func (t *answering) fold(ctx context.Context, wire model.Wire, history []turn.Message, room int,
) (x conversation.Answer, shown []turn.Message) {
	if last := len(history) - 1; last >= 0 { // a file that is too large by itself doesn't fold all the rest away
		history = slices.Concat(history[:last], turn.Fit(history[last:], room-turn.FoldedTokens))
	}
	older, shown := turn.Fold(history, room)
	if len(older) > 0 {
		var summary string
		summary, x.Usage = turn.Summarize(ctx, wire, older, room, t.settings.Locale)
		if x.Through = t.standsThrough(older, shown); x.Through != "" {
			x.Summary, x.Folded, x.Spoke = summary, t.waitingOf(older), t.speakersThrough(x.Through)
		}
		shown = append([]turn.Message{{Sender: turn.FromSystem, Text: summary, Collapsed: true,
			At: older[len(older)-1].At}}, shown...)
	}
	shown = turn.Fit(shown, room)
	x.Read = t.readings(shown)
	return x, shown
}
