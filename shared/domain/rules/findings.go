package rules

import "slices"

// Finding is something about rules that can be saved which whoever saves them should know.
type Finding struct {
	Kind  FindingKind
	Rule  string // id
	By    string // of FindingNever, id of the rule that takes its requests
	Stage int    // number of the stage, from 1; 0: it is the condition on who asks
	Who   string // of FindingUnknown, what the rule names
}

// FindingKind says what was found.
type FindingKind string

const (
	// FindingNever: an earlier rule takes all requests that this one would.
	FindingNever FindingKind = "never"
	// FindingUnknown: a stage or condition names a post or department that the organisation doesn't have, or no
	// organisation stands. What it takes is refused.
	FindingUnknown FindingKind = "unknown"
	// FindingNobody: a stage finds fewer people today than must stamp, whoever asks.
	FindingNobody FindingKind = "nobody"
)

// Findings returns what should be known about the rules.
func (r *Rules) Findings(d Directory) (all []Finding) {
	for i := range r.Rules {
		rule := &r.Rules[i]
		if j := slices.IndexFunc(r.Rules[:i], func(x Rule) bool { return x.covers(&rule.Conditions) }); j >= 0 {
			all = append(all, Finding{Kind: FindingNever, Rule: rule.ID, By: r.Rules[j].ID})
			continue
		}
		for _, name := range rule.Unknown(d) {
			all = append(all, Finding{Kind: FindingUnknown, Rule: rule.ID, Who: name})
		}
		all = append(all, rule.findings(rule.ID, d)...)
	}
	return all
}

// findings returns what should be known about the stages of a rule.
func (o *Outcome) findings(rule string, d Directory) (all []Finding) {
	r := resolving{facts: &Facts{}, d: d}
	for i, s := range o.Stages {
		at := Finding{Kind: FindingUnknown, Rule: rule, Stage: i + 1, Who: s.unknown(d)}
		switch {
		case s.Channel:
			continue
		case at.Who != "":
		case s.Superior > 0 && !d.Organised():
			at.Who = s.Name
		case !s.Above() && len(r.stamping(s.find(r.facts, d))) < max(s.Need, 1):
			at.Kind = FindingNobody
		default:
			continue
		}
		all = append(all, at)
	}
	return all
}
