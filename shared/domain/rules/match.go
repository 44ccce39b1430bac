package rules

import "ringi/shared/domain/circulation"

// Answer is what the rules say about a request. Exactly one of Route and Refused is set.
type Answer struct {
	Rule circulation.Rule
	Last bool // no rule took the request
	Outcome
	Refused bool
	// Unsure: it is the rule's answer if the requester meets its condition, and the organisation doesn't say so. Then the
	// rule refuses.
	Unsure bool
	// Unknown is the department of the condition that the organisation has on no day, where the rule is unsure for that.
	Unknown string
	// Stranger is an asker whom the organisation that stands doesn't have on the day: nobody can say who else they are,
	// or they work there no more, or not yet. Whatever the rules say is refused.
	Stranger circulation.Person
}

// Match returns the decision of the first rule whose conditions all hold, or that of Last. Rules of another form
// refuse everything.
func (r *Rules) Match(f *Facts) Answer {
	if r.Form != Form {
		return answer(circulation.Rule{ID: LastID, Revision: r.Rev}, Outcome{})
	}
	if p, is := f.stranger(); is {
		a := answer(circulation.Rule{ID: LastID, Revision: r.Rev}, Outcome{})
		a.Stranger = p
		return a
	}
	for i := range r.Rules {
		switch rule := &r.Rules[i]; {
		case rule.When.hold(f):
			return r.by(rule)
		case rule.When.unsure(f):
			return r.unsure(rule, f)
		}
	}
	if f.Writes() {
		return r.last(r.Last.Writes)
	}
	return r.last(r.Last.reads())
}

// Possible returns the answers that a request may get as long as only who asks is known, and where. If none of them is
// a route that can be resolved, the request can be refused before its steps are known.
func (r *Rules) Possible(f *Facts) (all []Answer) {
	if _, is := f.stranger(); is || r.Form != Form {
		return []Answer{r.Match(f)}
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		early := rule.When
		early.Tools, early.Destinations, early.Amount = nil, nil, nil
		switch {
		case early.hold(f):
			all = append(all, r.by(rule))
		case early.unsure(f):
			all = append(all, r.unsure(rule, f))
		default:
			continue
		}
		if rule.When.Tools == nil && rule.When.Destinations == nil && rule.When.Amount == nil {
			return all
		}
	}
	return append(all, r.last(r.Last.reads()), r.last(r.Last.Writes))
}

func (r *Rules) by(rule *Rule) Answer {
	return answer(circulation.Rule{ID: rule.ID, Name: rule.Name, Revision: r.Rev}, rule.Outcome)
}

// unsure is the answer of a rule that hangs on what nobody knows of the requester.
func (r *Rules) unsure(rule *Rule, f *Facts) Answer {
	a := r.by(rule)
	a.Outcome, a.Refused, a.Unsure = Outcome{}, true, true
	if f.placed() {
		a.Unknown = rule.When.unknown(f)
	}
	return a
}

func (r *Rules) last(o Outcome) Answer {
	a := answer(circulation.Rule{ID: LastID, Revision: r.Rev}, o)
	a.Last = true
	return a
}

func answer(rule circulation.Rule, o Outcome) Answer {
	rule.Numbered = o.Numbered && o.Route != nil
	return Answer{Rule: rule, Outcome: o, Refused: o.Route == nil}
}

// reads returns what becomes of requests that only read. Unless somebody chose, one person of the channel is asked.
func (l Last) reads() Outcome {
	if l.Reads.Route != nil || l.Reads.Refuse != "" {
		return l.Reads
	}
	return Outcome{Route: &Policy{Stages: []Stage{{Who: Who{Kind: WhoChannel}, Need: 1}}}, Numbered: l.Reads.Numbered}
}
