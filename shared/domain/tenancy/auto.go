package tenancy

import (
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// AutoRule lets one command that runs tests start without approval in one place.
type AutoRule struct {
	Type   ActionType `json:"type"`             // test_run
	Argv   []string   `json:"argv"`             // the words of the command
	Source string     `json:"source,omitempty"` // name of a source in the settings; empty: conversations without one
	Place  string     `json:"place"`            // Slack's id of a channel or of direct messages
	// Changed says that the rule also holds once the files are no longer the source's, or attachments lie beside them.
	// Until then what the test reads as its configuration is what the repository's people wrote. A rule without a source
	// never holds beside attachments: what anybody in the conversation attaches would run.
	Changed bool `json:"changed,omitempty"`
}

// AutoScope is what rules know of a conversation.
type AutoScope struct {
	Source   string // name of its source, if the settings still list that for it; empty: it has none
	Sourced  bool   // it began from a source, also if that is not listed any more
	Place    string // Slack's id of the channel
	Changed  bool   // its files are not the source's any more
	Attached bool   // what people attached lies beside its files, and nobody has approved that
}

// holds reports whether the rule is about such a conversation.
func (r AutoRule) holds(w AutoScope) bool {
	switch {
	case w.Attached && !r.Changed:
		return false
	case r.Source == "":
		return r.Place == w.Place && !w.Sourced
	}
	return r.Source == w.Source && r.Place == w.Place && (r.Changed || !w.Changed)
}

var placeForm = language.Regexp{Text: `^[CDG][A-Z0-9]{1,40}$`}

// Problems returns everything that is wrong with the rule.
func (r AutoRule) Problems() (all aggregate.Problems) {
	all.Unless(r.Type == TestRun, "type", "auto_type")
	odd := func(word string) bool { return word == "" || len(word) > 200 || strings.Contains(word, "*") }
	all.Unless(len(r.Argv) > 0 && len(r.Argv) <= 32 && !slices.ContainsFunc(r.Argv, odd), "argv", "auto_argv")
	all.Unless(r.Source == "" || nameForm.Get().MatchString(r.Source), "source", "auto_source")
	all.Unless(placeForm.Get().MatchString(r.Place), "place", "auto_place")
	all.Unless(!r.Changed || r.Source != "", "changed", "auto_changed")
	return all
}

// Allows reports whether the rule lets a command start: it is the rule's, word by word. A rule with a problem allows
// nothing.
func (r AutoRule) Allows(t ActionType, argv []string, w AutoScope) bool {
	return len(r.Problems()) == 0 && t == TestRun && r.holds(w) && slices.Equal(r.Argv, argv)
}

// AutoApproved returns the index of the first rule that lets the command start, or -1.
func AutoApproved(rules []AutoRule, t ActionType, argv []string, w AutoScope) int {
	return slices.IndexFunc(rules, func(r AutoRule) bool { return r.Allows(t, argv, w) })
}

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

var versionForm = language.Regexp{Text: `^[0-9a-f]{64}$`}

// Problems returns everything that is wrong with the entry.
func (r ListedRead) Problems() (all aggregate.Problems) {
	all.Unless(idForm.Get().MatchString(r.Agent), "agent", "agent_id")
	all.Unless(r.Tool != "" && len(r.Tool) <= maxListedTool, "tool", "listed_tool")
	all.Unless(versionForm.Get().MatchString(r.Version), "version", "listed_version")
	wrong := func(id string) bool { return !aggregate.UserForm.Get().MatchString(id) }
	n := len(r.People)
	all.Unless(n > 0 && n <= maxListedPeople && !slices.ContainsFunc(r.People, wrong), "people", "listed_people")
	return all
}

// ListedReadFor returns the index of the first entry that lists this version of a tool for an agent and everybody in
// people, or -1. An entry with a fault lists nothing, and no entry is for nobody.
func ListedReadFor(list []ListedRead, agent, tool, version string, people []string) int {
	if len(people) == 0 {
		return -1
	}
	return slices.IndexFunc(list, func(r ListedRead) bool {
		unlisted := func(id string) bool { return !slices.Contains(r.People, id) }
		return len(r.Problems()) == 0 && r.Agent == agent && r.Tool == tool && r.Version == version &&
			!slices.ContainsFunc(people, unlisted)
	})
}
