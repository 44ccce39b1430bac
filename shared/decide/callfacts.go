package decide

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// CallFacts is a call about which the rules are asked.
type CallFacts struct {
	Answers, Channel string
	Content          call.Content
	Permission       tenancy.ToolPermission
	Locale           string
	Organised        bool // an organisation stands. Then ByIDs finds nobody
}

// FoundFor is what the rules say about a call.
type FoundFor struct{ Found }

// Refusal returns the error by which such a refusal is told, or nil.
func (f *FoundFor) Refusal() error {
	if f.Refused == nil {
		return nil
	}
	return call.ErrByRules{Why: f.Refused.Why, Rule: f.Refused.Rule, Detail: f.Refused.Detail}
}

// facts returns what the rules may know of it. Of a call that runs elsewhere they know that it may do anything.
func (x *CallFacts) facts(r *rules.Rules, d Seats) *rules.Facts {
	f := &rules.Facts{Kind: rules.KindCall, Place: rules.Place{Channel: x.Channel},
		Askers: []circulation.Person{{User: x.Answers}}}
	if c := x.Content; !c.Elsewhere {
		f.Calls = []rules.Call{x.Permission.Call(c.ToolVersion, c.Access, aggregate.JSON(c.Arguments), c.Mark)}
	}
	AskedBy(f, r, d, x.Answers)
	return f
}

// ByIDs finds whom the rules ask, as far as they name everybody themselves.
func (x *CallFacts) ByIDs(r *rules.Rules) (out FoundFor, err error) {
	f := x.facts(r, ids{})
	answer := namedIn(r.Match(f), x.Locale)
	if x.Organised || answer.Unsure || len(r.Groups()) > 0 || answer.Route != nil && !answer.Route.OfIDs() {
		return FoundFor{Found: Found{LookUp: &answer.Rule}}, nil
	}
	out.Found, err = resolve(r, answer, f, ids{})
	return out, err
}

// Unruled reports whether no rule but the last takes a call that only reads, and that one says nothing of reads.
// Nothing is looked up for it: where an organisation stands it isn't known of rules that tell such calls from others,
// nor of rules by user groups.
func (x *CallFacts) Unruled(r *rules.Rules) bool {
	answer := r.Match(x.facts(r, ids{}))
	return answer.Last && !answer.Refused && r.Last.Reads.Route == nil && !(x.Organised && r.Calls()) &&
		len(r.Groups()) == 0
}

// By finds whom the rules ask.
func (x *CallFacts) By(r *rules.Rules, d Seats) (out FoundFor, err error) {
	f := x.facts(r, d)
	out.Found, err = resolve(r, namedIn(r.Match(f), x.Locale), f, d)
	return out, err
}
