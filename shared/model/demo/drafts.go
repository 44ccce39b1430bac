package demo

import (
	"regexp"
	"strings"

	"ringi/shared/words/language"
)

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

var allDrafts = language.Catalog[Drafts]{Files: &files, Folder: "drafts"}

// on returns the draft on the topic that a text names, or else a general one with the text in its title.
func (d Drafts) on(text string) (t Draft, known bool) {
	for _, t := range d.Topics {
		if regexp.MustCompile(`(?i)` + t.Asks).MatchString(text) { // a test reads every topic
			return t, true
		}
	}
	t = d.General
	t.Title = strings.Replace(t.Title, "%s", oneLine(text), 1)
	return t, false
}

// text is the draft from one point of view after so many rounds. The first has two thirds of the rules.
func (d Draft) text(view, rounds int) []string {
	rules := d.Rules
	if rounds == 0 {
		rules = rules[:len(rules)*2/3]
	}
	lines := []string{d.Title, d.Aim}
	for _, more := range append([][]string{rules, {d.Views[view%len(d.Views)]}}, d.Rounds[:min(rounds, len(d.Rounds))]...) {
		for _, rule := range more {
			lines = append(lines, "- "+rule)
		}
	}
	return lines
}
