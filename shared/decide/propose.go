package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
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
// form identifies the form, which counts once. The verdict's error is ErrTyped for what they typed,
// aggregate.ErrNotAllowed also if nobody could approve it, and conversation.ErrByRules for what the tenant's rules
// refuse. What they ask of people who must be looked up waits for a run, too, which does that.
func (m Maker) Propose(ctx context.Context, c Click, form string, o conversation.Own) (v Verdict) {
	// Slack's bots have ids like people's. While Slack doesn't say who these are, they are people.
	if apps, err := m.People.Apps(ctx, c.Team, o.Authors); err == nil {
		o.Authors = slices.DeleteFunc(slices.Clone(o.Authors), func(id string) bool { return slices.Contains(apps, id) })
	}
	for range 2 { // the settings may change meanwhile
		t, err := m.tenant(ctx, c.Ref.Tenant)
		if err != nil && !errors.Is(err, aggregate.ErrSettings) {
			return Verdict{Err: err}
		}
		if v.Err = err; err == nil {
			v = m.Decide(ctx, c, proposing(form, o, t))
		}
		if !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

// tenant is what a person's own proposal depends on.
type tenant struct {
	tenancy.Settings
	rules *rules.Rules // nil: none that decide about actions
	// organised reports whether an organisation stands, by the row on.
	organised bool
	on        []aggregate.Owned
}

// tenant reads the settings, and the rules if the settings say that there are some. It returns aggregate.ErrSettings if
// one changed meanwhile.
func (m Maker) tenant(ctx context.Context, id string) (t tenant, err error) {
	if t.Settings, err = m.Store.Settings(ctx, id); err != nil {
		return t, fmt.Errorf("read the settings: %w", err)
	}
	if t.RulesRev == 0 {
		return t, nil
	}
	r, err := Rules(ctx, m.Store, id, t.Settings)
	if err != nil || r == nil || !r.Actions() {
		return t, err
	}
	organised, on, err := Organised(ctx, m.Store, id)
	t.rules, t.organised, t.on = r, organised, []aggregate.Owned{on}
	return t, err
}

func proposing(form string, o conversation.Own, t tenant) Act {
	return func(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(*conversation.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		def, _ := agent.Find(agent.Named(t.Agents), of.Conversation.AgentID)
		own, faults := o.Read(def, of.Conversation.On(), of.Conversation.KnowsFiles())
		if faults != nil {
			return aggregate.Change{}, ErrTyped{faults}
		}
		ruled := t.rules != nil && of.Conversation.ByRules(t.Settings)
		if !ruled {
			if err := t.Nobody(of.Origin(), by.ID); err != nil {
				return aggregate.Change{}, err
			}
		}
		if own.Payload.Bytes == 0 {
			return of.Type(form, o, by, p, now)
		}
		own.Terms = t.ActionTerms(now)
		if ruled {
			x := Action{Conversation: of.Conversation, Askers: of.RouteAskersAfter(nil, by.ID, o.Authors...),
				Type: own.Type, Now: now, Organised: t.organised, Home: t.DirectApprovers, Typed: true}
			found, err := x.ByIDs(t.rules)
			if err == nil {
				err = found.Refusal()
			}
			if err != nil {
				return aggregate.Change{}, err
			}
			if own.Opening, own.Rows = found.Opening, t.on; found.LookUp != nil { // a run asks Slack
				own.LookUp, own.Rows = &conversation.LookUp{Rule: *found.LookUp}, nil
			}
		}
		return of.Propose(own, by, p, now)
	}
}
