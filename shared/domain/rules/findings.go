package rules

import (
	"fmt"
	"slices"
)

// Finding is something about rules that can be saved which whoever saves them should know.
type Finding struct {
	Kind  FindingKind `json:"kind"`
	Rule  string      `json:"rule"`            // id
	By    string      `json:"by,omitempty"`    // of FindingNever, id of the rule that takes its requests
	Stage int         `json:"stage,omitempty"` // number of the stage, from 1; 0: it is the condition on who asks
	Who   string      `json:"who,omitempty"`   // of FindingUnknown, what the rule names
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
		if j := slices.IndexFunc(r.Rules[:i], func(x Rule) bool { return x.When.covers(&rule.When) }); j >= 0 {
			all = append(all, Finding{Kind: FindingNever, Rule: rule.ID, By: r.Rules[j].ID})
			continue
		}
		for _, name := range rule.When.Requester.Unknown(d) {
			all = append(all, Finding{Kind: FindingUnknown, Rule: rule.ID, Who: name})
		}
		all = append(all, rule.Route.findings(rule.ID, d)...)
	}
	all = append(all, r.Last.reads().Route.findings(LastID, d)...)
	return append(all, r.Last.Writes.Route.findings(LastID, d)...)
}

// findings returns what should be known about the stages of a rule.
func (p *Policy) findings(rule string, d Directory) (all []Finding) {
	if p == nil {
		return nil
	}
	r := resolving{facts: &Facts{}, d: d}
	for i, s := range p.Stages {
		at := Finding{Kind: FindingUnknown, Rule: rule, Stage: i + 1, Who: s.Who.unknown(d)}
		switch {
		case s.Who.Kind == WhoChannel:
			continue
		case at.Who != "":
		case s.Who.of(WhoManager) && d.Org() == "":
			at.Who = s.Name
		case !s.Who.Above() && len(r.stamping(s.Who.find(r.facts, d))) < max(s.Need, 1):
			at.Kind = FindingNobody
		default:
			continue
		}
		all = append(all, at)
	}
	return all
}

// Emptied returns what an organisation, or its removal, makes unknown or empty: each condition and each stage once.
// Stages of user groups aren't looked at, since Slack says who is in these.
func (r *Rules) Emptied(d Directory) (all []Finding) {
	for _, f := range r.Findings(d) {
		groups := f.Kind == FindingNobody && !slices.ContainsFunc(r.policies(f.Rule), func(p *Policy) bool {
			return f.Stage <= len(p.Stages) && p.Stages[f.Stage-1].Who.Kind != WhoGroup
		})
		if f.Kind != FindingNever && !groups && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// String helps tests and logs.
func (f Finding) String() string {
	return fmt.Sprintf("%s rule=%s by=%s stage=%d who=%s", f.Kind, f.Rule, f.By, f.Stage, f.Who)
}
