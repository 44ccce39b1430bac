package agent

import (
	"ringi/shared/words/language"
	"slices"
)

// ListedRead lets one agent call one version of a tool that only reads, without approval, for the people named. Whether
// the arguments allow that is decided at each call.
type ListedRead struct {
	Agent   string   `json:"agent"`
	Tool    string   `json:"tool"`
	Version string   `json:"version"` // SHA-256, as the console's page of tools shows it
	People  []string `json:"people"`  // Slack user ids
}

// Limits of a ListedRead.
const (
	maxListedTool   = 200 // bytes
	maxListedPeople = 200
)

// Rules for the fields of a ListedRead.
const (
	RuleListedTool    Rule = "listed_tool"
	RuleListedVersion Rule = "listed_version"
	RuleListedPeople  Rule = "listed_people"
	// The following are what the tools say of an entry that is listed.
	RuleListedUnknown Rule = "listed_unknown"
	RuleListedOther   Rule = "listed_other"
	RuleListedFree    Rule = "listed_free"
)

var versionForm = language.Regexp{Text: `^[0-9a-f]{64}$`}

// Faults returns everything that is wrong with the entry.
func (r ListedRead) Faults() (all []Fault) {
	if !idForm.Get().MatchString(r.Agent) {
		all = append(all, Fault{"agent", RuleID})
	}
	if r.Tool == "" || len(r.Tool) > maxListedTool {
		all = append(all, Fault{"tool", RuleListedTool})
	}
	if !versionForm.Get().MatchString(r.Version) {
		all = append(all, Fault{"version", RuleListedVersion})
	}
	wrong := func(id string) bool { return !personForm.Get().MatchString(id) }
	if n := len(r.People); n == 0 || n > maxListedPeople || slices.ContainsFunc(r.People, wrong) {
		all = append(all, Fault{"people", RuleListedPeople})
	}
	return all
}

// Listed returns the index of the first entry that lists this version of a tool for an agent and everybody in people, or
// -1. An entry with a fault lists nothing, and no entry is for nobody.
func Listed(list []ListedRead, agent, tool, version string, people []string) int {
	if len(people) == 0 {
		return -1
	}
	return slices.IndexFunc(list, func(r ListedRead) bool {
		unlisted := func(id string) bool { return !slices.Contains(r.People, id) }
		return len(r.Faults()) == 0 && r.Agent == agent && r.Tool == tool && r.Version == version &&
			!slices.ContainsFunc(people, unlisted)
	})
}
