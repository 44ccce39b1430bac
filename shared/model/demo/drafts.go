package demo

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"ringi/shared/words/language"
)

//go:embed drafts/*.json
var draftFiles embed.FS

// Drafts are the texts that the demo writes without a model, in one language. Views are points of view; Policy has a
// line to each, for policies.
type Drafts struct {
	Views, Policy []string
	General       Draft
	Topics        []Draft
}

// Draft is a text on one topic: rules, one line for each point of view, and what each further round adds. Found is what
// somebody who was asked about the topic answers.
type Draft struct {
	Asks, Title, Aim string
	Rules, Views     []string
	Rounds           [][]string
	Found            string
}

var allDrafts = language.Catalog[Drafts]{Files: &draftFiles, Folder: "drafts"}

// knows returns the draft on the topic that a text names.
func (d Drafts) knows(text string) (Draft, bool) {
	for _, t := range d.Topics {
		if regexp.MustCompile(`(?i)` + t.Asks).MatchString(text) { // a test reads every topic
			return t, true
		}
	}
	return Draft{}, false
}

// on returns the draft on the topic that a text names, or else a general one with the text in its title.
func (d Drafts) on(text string) Draft {
	if t, ok := d.knows(text); ok {
		return t
	}
	t := d.General
	t.Title = fmt.Sprintf(t.Title, oneLine(text))
	return t
}

// text is the draft from one point of view after so many rounds. The first has two thirds of the rules.
func (d Draft) text(view, rounds int) []string {
	lines := []string{d.Title, d.Aim}
	rules := d.Rules
	if rounds == 0 {
		rules = rules[:len(rules)*2/3]
	}
	rules = append(rules[:len(rules):len(rules)], d.Views[view%len(d.Views)])
	for _, more := range d.Rounds[:min(rounds, len(d.Rounds))] {
		rules = append(rules, more...)
	}
	return append(lines, strings.Split("- "+strings.Join(rules, "\n- "), "\n")...)
}
