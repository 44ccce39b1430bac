package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/boot"
)

// failed handles a model's error. It returns a temporary error to the state machine, which tries again. It answers any
// other error with a sentence. x has the cost so far.
func (t *answering) failed(ctx context.Context, err error, x conversation.Answer) (aggregate.Next, error) {
	if e, is := errors.AsType[*model.Error](err); is && e.Kind == model.OverBudget {
		why := t.overDay()
		why.Usage = x.Usage
		return t.refused(ctx, why, nil)
	}
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

// unfetched has the messages that are left looked at, too, before anything is fetched.
func (t *answering) unfetched(next aggregate.Next, err error) (aggregate.Next, error) {
	if next.State == conversation.StateFetch {
		next.State = conversation.StateAnswer
	}
	return next, err
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
