package decide

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// ErrTyped refuses a person's own proposal for what they typed.
type ErrTyped struct{ Faults []conversation.OwnFault }

func (e ErrTyped) Error() string {
	return fmt.Sprintf("%s, and %d more", e.Faults[0].Sentence(language.English), len(e.Faults)-1)
}

// Unwrap makes the refusal one of a field.
func (e ErrTyped) Unwrap() error {
	return aggregate.ErrField{Field: string(e.Faults[0].Field), Limit: e.Faults[0].Sentence(language.English)}
}

// MayPropose checks whether a person may propose an action of their own now, before they type one. Its change is never
// committed.
func MayPropose(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
	of, is := a.(*conversation.Aggregate)
	if !is {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if of.Current() != nil {
		return aggregate.Change{}, conversation.ErrPending
	}
	return aggregate.Change{}, p.Request(by)
}

// Propose makes a person's own proposal of an action in a conversation. It waits for approval as an agent's does, and
// the person counts as who asked for it. A proposal to write a file beside others waits for a run, which can read them;
// form identifies the form, which counts once. The verdict's error is ErrTyped for what they typed, and aggregate.ErrNotAllowed
// also if nobody could approve it.
func (m Maker) Propose(ctx context.Context, c Click, form string, o conversation.Own) (v Verdict) {
	for range 2 { // the settings may change meanwhile
		s, err := m.Store.Settings(ctx, c.Ref.Tenant)
		if err != nil {
			return Verdict{Err: fmt.Errorf("read the settings: %w", err)}
		}
		v = m.Decide(ctx, c, proposing(form, o, s))
		if !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

func proposing(form string, o conversation.Own, s tenancy.Settings) Act {
	return func(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(*conversation.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		def, _ := agent.Find(agent.Named(s.Agents), of.Conversation.AgentID)
		own, faults := o.Read(def, of.Conversation.On(), of.Conversation.KnowsFiles())
		if faults != nil {
			return aggregate.Change{}, ErrTyped{faults}
		}
		if err := s.Nobody(of.Origin(), by.ID); err != nil {
			return aggregate.Change{}, err
		}
		if own.Payload.Bytes == 0 {
			return of.Type(form, o, by, p, now)
		}
		own.Terms = s.ActionTerms(now)
		return of.Propose(own, by, p, now)
	}
}
