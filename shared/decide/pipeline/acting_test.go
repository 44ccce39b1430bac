package pipeline_test

import (
	"context"
	"testing"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// unconfirmed is a store with one conversation, which never says what became of a commit.
type unconfirmed struct {
	pipeline.Conversations
	a *conversation.Aggregate
}

func (u unconfirmed) Decide(context.Context, aggregate.Ref, conversation.Decision) (*conversation.Aggregate, error) {
	return nil, aggregate.ErrUnconfirmed
}

func (u unconfirmed) Load(context.Context, aggregate.Ref) (*conversation.Aggregate, error) {
	return u.a, nil
}

// An invocation whose claim's answer is lost executes the action only if it executes under its own claim.
func TestAClaimWhoseAnswerIsLostIsItsOwnAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		id     string
		status conversation.ActionStatus
		by     string
		want   error
	}{
		"its own":         {"a", conversation.ActionExecuting, "own", nil},
		"another's":       {"a", conversation.ActionExecuting, "other", aggregate.ErrSuperseded},
		"nobody's":        {"a", conversation.ActionExecuting, "", aggregate.ErrSuperseded},
		"cancelled since": {"a", conversation.ActionCancelled, "own", aggregate.ErrSuperseded},
		"another action":  {"b", conversation.ActionExecuting, "own", aggregate.ErrSuperseded},
	} {
		is := &conversation.Action{ActionID: tt.id, Status: tt.status}
		if tt.by != "" {
			is.Claim = &aggregate.Claim{Invocation: tt.by}
		}
		s := unconfirmed{a: &conversation.Aggregate{Actions: []*conversation.Action{is}}}
		x, err := pipeline.Claimed(t.Context(), s, aggregate.Ref{}, "a", "own", nil)
		expect.Fails(t, err, tt.want, name)
		expect.That(t, (x == is) == (tt.want == nil), "%s: %+v", name, x)
	}
}
