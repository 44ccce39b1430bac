package tenancy

import (
	"fmt"
	"slices"

	"ringi/shared/domain/agent"
)

// Limits on what one tenant may define.
const (
	MaxAgents      = 20 // not counting the built-in ones
	MaxAutoActions = 50
	MaxListedReads = 50
)

// agentProblems returns the problems of the agents, of the rules for actions and of the sources. What depends on the deployment, such
// as an address that it forbids, is only a warning of agent.Definitions, because settings can be copied to another
// deployment.
func (s Settings) agentProblems() (all []Problem) {
	for i, d := range s.Agents {
		faults := d.Faults()
		if d.ID != "" && slices.ContainsFunc(s.Agents[:i], func(x agent.Definition) bool { return x.ID == d.ID }) {
			faults = append(faults, agent.Fault{Field: "id", Rule: agent.RuleTaken})
		}
		all = append(all, faultsAt("agents", i, faults)...)
	}
	for i, r := range s.AutoActions {
		faults := r.Faults()
		listed := slices.ContainsFunc(s.Sources, func(x agent.Source) bool { return x.Name == r.Source })
		if r.Source != "" && !listed && len(faults) == 0 {
			faults = append(faults, agent.Fault{Field: "source", Rule: agent.RuleAutoSource})
		}
		all = append(all, faultsAt("auto_actions", i, faults)...)
	}
	for i, r := range s.ListedReads {
		all = append(all, faultsAt("listed_reads", i, r.Faults())...)
	}
	for i, x := range s.Sources {
		faults := x.Faults()
		if slices.ContainsFunc(s.Sources[:i], func(y agent.Source) bool { return y.Name == x.Name }) && x.Name != "" {
			faults = append(faults, agent.Fault{Field: "name", Rule: agent.RuleSourceName})
		}
		all = append(all, faultsAt("sources", i, faults)...)
	}
	return all
}

func faultsAt(list string, i int, faults []agent.Fault) (all []Problem) {
	for _, f := range faults {
		all = append(all, Problem{Field: fmt.Sprintf("%s[%d].%s", list, i, f.Field), Rule: Rule(f.Rule)})
	}
	return all
}
