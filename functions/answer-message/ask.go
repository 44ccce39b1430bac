package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

// ask asks the agent's model. What it would not take at once is folded away before. If the vendor refuses the request
// for its length all the same, because the model takes less than the settings say, ask folds to half and tries once
// more: else each later message would be refused, too. The answer has the usage of all calls, also with an error.
func (t *answering) ask(ctx context.Context, wire model.Wire, of turn.Turn) (conversation.Answer, turn.Reply, error) {
	room, err := of.Room()
	if err != nil {
		return conversation.Answer{}, turn.Reply{}, err
	}
	var x conversation.Answer
	history := of.History
	for again := false; ; again = true {
		paid := x.Usage
		x, of.History = t.fold(ctx, wire, history, of.Share(room))
		x.Usage = together(paid, x.Usage)
		of.Paid = t.paidFor(&x)
		of.Fit(room)
		reply, err := turn.Answer(ctx, wire, of)
		x.Usage = together(x.Usage, reply.Usage)
		if e, is := errors.AsType[*model.Error](err); !is || e.Kind != model.TooLong || again {
			return x, reply, err
		}
		slog.WarnContext(ctx, "too long for the model", "session", t.ref.ID, "room", room)
		room, of.Files = min(room, of.Weigh(reply.Rounds))/2, t.conversationFiles()
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
		if x.Through = t.standsThrough(older, shown); summary == "" { // the next turn tries again
			shown, x.Through = slices.Concat(t.waitingCut(older), shown), ""
		}
		if x.Through != "" {
			x.Summary, x.Folded, x.Spoke = summary, t.waitingOf(older), t.speakersThrough(x.Through)
		}
		shown = append([]turn.Message{{Sender: conversation.FromSystem, Text: summary, Collapsed: true,
			At: older[len(older)-1].At}}, shown...)
		if summary == "" && older[0].Collapsed {
			shown = append([]turn.Message{older[0]}, shown...)
		}
	}
	shown = turn.Fit(shown, room)
	x.Read = t.readings(shown)
	return x, shown
}

// maxWaitingCut is how many characters are shown of a message that waits and has no room.
const maxWaitingCut = 200

// waitingCut returns the beginnings of the messages that wait: no answer is to one of which the agent saw nothing.
func (t *answering) waitingCut(older []turn.Message) (cut []turn.Message) {
	waiting := t.waitingOf(older)
	for _, m := range older {
		if slices.Contains(waiting, m.Key) {
			m.Text, m.Files, m.Forwarded = language.Clip(m.Text, maxWaitingCut), nil, nil
			cut = append(cut, m)
		}
	}
	return cut
}

// record commits the answer and its proposal, anew if the settings have changed meanwhile.
func (t *answering) record(ctx context.Context, x conversation.Answer,
	p *turn.Proposal) (*conversation.Aggregate, error) {
	for again := false; ; again = true {
		a, err := t.recordOnce(ctx, x, p)
		if again || !errors.Is(err, aggregate.ErrSettings) {
			return a, err
		}
		if t.settings, err = t.Store.Settings(ctx, t.in.Tenant); err != nil {
			return nil, fmt.Errorf("read the settings: %w", err)
		}
		if p == nil {
			continue
		}
		why, err := t.undecidable(ctx)
		if err != nil {
			return nil, err
		}
		if why != nil { // the settings leave nobody who could approve it
			p, x.Refused = nil, why.Text
		}
	}
}

// recordOnce commits the answer and its proposal. In place of an answer that is too long for a row, people are told so.
func (t *answering) recordOnce(ctx context.Context, x conversation.Answer,
	p *turn.Proposal) (_ *conversation.Aggregate, err error) {
	x.Proposal, err = t.proposal(ctx, p)
	if err != nil {
		return nil, err
	}
	decide := func(a *conversation.Aggregate) (aggregate.Change, error) {
		c, err := a.Answered(t.in.Run, t.seen, x, t.Now())
		why := t.overtaken(err)
		if why == "" {
			return c, err
		}
		y := x
		y.Proposal, y.Refused = nil, why
		return a.Answered(t.in.Run, t.seen, y, t.Now())
	}
	a, err := t.Store.Decide(ctx, t.ref, large.Copying(ctx, t.Payloads, decide))
	if long, is := errors.AsType[aggregate.ErrTooLarge](err); is {
		conversation.LogError(ctx, conversation.EventMessage, t.ref.ID, t.a.Conversation.AgentID, "", string(reasonTooLong),
			long.Error())
		return t.say(ctx, conversation.Refusal{Reason: reasonTooLong, Text: wordsIn(t.settings.Locale).long, Usage: x.Usage})
	}
	return a, err
}

// overtaken says why a proposal was too late: a person's own came first, the files are others by now, or the settings
// don't list the read any more.
func (t *answering) overtaken(err error) string {
	switch w := wordsIn(t.settings.Locale); {
	case errors.As(err, new(conversation.ErrType)):
		return w.unlisted
	case errors.Is(err, conversation.ErrPending):
		return w.busy
	case errors.Is(err, conversation.ErrBase):
		return w.moved
	}
	return ""
}

// alone records the cost of an answer that was discarded.
func (t *answering) alone(u aggregate.Usage) func(context.Context) (*conversation.Aggregate, error) {
	return func(ctx context.Context) (*conversation.Aggregate, error) {
		return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Overtaken(u, t.Now())
		})
	}
}

// say commits a sentence in place of an answer.
func (t *answering) say(ctx context.Context, why conversation.Refusal) (*conversation.Aggregate, error) {
	return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Refused(t.in.Run, t.seen, why, t.Now())
	})
}

// failed handles a model's error. It returns a temporary error to the state machine, which tries again. It answers any
// other error with a sentence. x has the cost so far.
func (t *answering) failed(ctx context.Context, err error, x conversation.Answer) (aggregate.Next, error) {
	f := model.Failure(err)
	conversation.LogError(ctx, conversation.EventMessage, t.ref.ID, t.a.Conversation.AgentID, "", string(f.Reason),
		err.Error())
	if f.Transient {
		return t.tried(ctx, f.Reason, x, err)
	}
	if task.ForOperator(f.Reason) {
		boot.Count(boot.RunFailed, 1)
	}
	return t.refused(ctx, &conversation.Refusal{
		Reason: f.Reason, Detail: f.Detail, Text: explain.EndedInTalk(t.settings.Locale, f.Reason, f.Detail), Failed: true,
		Usage: x.Usage,
	}, nil)
}

// tried leaves the answer to the state machine's next try. It first records this try's cost and reason, in case there
// is no next try.
func (t *answering) tried(ctx context.Context, why aggregate.Reason, x conversation.Answer,
	err error) (aggregate.Next, error) {
	if x.Usage.Free() {
		x.Usage = aggregate.Usage{}
	}
	a, failed := pipeline.Paid(ctx, x.Usage, func(ctx context.Context) (*conversation.Aggregate, error) {
		return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Tried(t.in.Run, why, x, t.Now())
		})
	}, t.alone(x.Usage))
	switch {
	case failed != nil:
		return aggregate.Next{}, fmt.Errorf("record what was tried: %w", failed)
	case a.Next(t.Now()).State != conversation.StateAnswer: // nothing waits for an answer any more
		return t.again(ctx)
	}
	return aggregate.Next{}, fmt.Errorf("%w: %w", explain.ErrModelUnavailable, err)
}

// refused answers with a sentence.
func (t *answering) refused(ctx context.Context, why *conversation.Refusal, err error) (aggregate.Next, error) {
	if err != nil {
		return aggregate.Next{}, err
	}
	a, err := pipeline.Paid(ctx, why.Usage, func(ctx context.Context) (*conversation.Aggregate, error) {
		return t.say(ctx, *why)
	}, t.alone(why.Usage))
	if errors.Is(err, aggregate.ErrMoved) {
		return t.again(ctx)
	}
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("answer by a sentence: %w", err)
	}
	return a.Next(t.Now()), nil
}
