package decide

import (
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// Action is what is about to be asked: an action that an agent or a person proposes.
type Action struct {
	Conversation *conversation.Conversation
	Askers       []string // along a route, the latest first: at least one
	Type         agent.ActionType
	Calls        []rules.Call // one of a tool_call, else none
	Now          time.Time
	Home         rules.Home
	// Typed says that a person proposes it at once: then nobody asks whether others are in the channel.
	Typed bool
	// Organised reports whether an organisation stands. Then ByIDs finds nobody.
	Organised bool
}

// FoundFor is what the rules say about an action.
type FoundFor struct {
	Found
	// Unruled says that no rule but the last takes the action: what the settings approve goes without a person.
	Unruled bool
}

// facts returns what the rules may know of it.
func (x *Action) facts(r *rules.Rules, d Seats) *rules.Facts {
	f := &rules.Facts{
		Kind: rules.KindAction, Place: x.Conversation.RulesPlace(r), Calls: x.Calls,
		On: organisation.DateOf(x.Now.In(tenancy.Zone())).String(), Inside: x.Type.Inside(),
		Home: x.Home, Spoken: true,
	}
	for _, user := range x.Askers {
		f.Askers = append(f.Askers, d.Person(user))
	}
	latest := ""
	if len(x.Askers) > 0 {
		latest = x.Askers[0]
	}
	AskedBy(f, r, d, latest)
	return f
}

// ShownTo is Steps.ShownTo for whatever may be proposed in a conversation in direct messages.
func (x *Action) ShownTo(r *rules.Rules) []string { return shownTo(r, x.facts(r, ids{}), ids{}) }

// ByIDs finds whom the rules ask, as far as they name everybody themselves. What must be looked up is not Unruled.
func (x *Action) ByIDs(r *rules.Rules) (FoundFor, error) {
	f := x.facts(r, ids{})
	answer := namedIn(r.Match(f), x.Conversation.Locale)
	switch {
	case x.Organised || answer.Unsure:
		return FoundFor{Found: Found{LookUp: &answer.Rule}}, nil
	case answer.Route != nil && !answer.Route.OfIDs(x.known(f)...):
		return FoundFor{Found{LookUp: &answer.Rule}, answer.Last}, nil
	}
	found, err := resolve(r, answer, f, ids{})
	return FoundFor{found, answer.Last}, err
}

// known returns the kinds of stages that are known without asking Slack.
func (x *Action) known(f *rules.Facts) []rules.WhoKind {
	if x.Typed && !f.Place.Direct {
		return []rules.WhoKind{rules.WhoChannel}
	}
	return nil
}

// By finds whom the rules ask.
func (x *Action) By(r *rules.Rules, d Seats) (FoundFor, error) {
	f := x.facts(r, d)
	answer := namedIn(r.Match(f), x.Conversation.Locale)
	found, err := resolve(r, answer, f, d)
	return FoundFor{found, answer.Last}, err
}

// Refusal returns the error by which such a refusal is told, or nil.
func (f *FoundFor) Refusal() error {
	if f.Refused == nil {
		return nil
	}
	return conversation.ErrByRules{Why: f.Refused.Why, Rule: f.Refused.Rule, Detail: f.Refused.Detail}
}
