package explain

import (
	"cmp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// FitDetail makes a reason's detail fit to be shown, with person if it is an account. That of a rule's refusal keeps
// its lines, which Ended reads.
func FitDetail(r aggregate.Reason, detail string, fit, person func(string) string) string {
	if r == task.ReasonNoRowWords {
		return person(detail)
	}
	if x, is := lackOf(r, detail); is && len(x) == lackLines {
		of := ""
		if x[2] != "" {
			of = person(x[2])
		}
		return strings.Join([]string{fit(x[0]), x[1], of, fit(x[3])}, "\n")
	}
	rule, said, ruled := strings.Cut(detail, "\n")
	if !ruled || r != task.ReasonRuleRefuses && r != task.ReasonStepRefused {
		return fit(detail)
	}
	return fit(rule) + "\n" + fit(said)
}

// byRule says of a refusal by a rule which rule refuses, and what it says; "" if the detail doesn't have that.
func (w endWords) byRule(r aggregate.Reason, detail string) string {
	rule, said, ruled := strings.Cut(detail, "\n")
	switch {
	case !ruled:
		return ""
	case r == task.ReasonRuleRefuses:
		return strings.TrimSpace(language.Fill(w.RuleRefuses, "rule", rule, "text", said))
	case r == task.ReasonStepRefused:
		return strings.TrimSpace(language.Fill(w.RuleStops, "rule", rule, "text", said))
	}
	return ""
}

// lackLines has the detail of a stage that finds nobody: its name, why, an account above whom nobody is found, and the
// rule's name.
const lackLines = 4

// lackOf returns the lines of the detail of a stage that finds nobody. A list may have only their beginning.
func lackOf(r aggregate.Reason, detail string) (lines []string, is bool) {
	is = r == task.ReasonNoRoute || r == task.ReasonStepNoRoute || r == task.ReasonUnknownPost
	return strings.Split(detail, "\n"), is
}

// lacks says why a stage finds nobody, and what to do.
func (w endWords) lacks(lines []string) string {
	why, of, rule := "", "", ""
	if len(lines) == lackLines {
		why, of, rule = lines[1], lines[2], lines[3]
	}
	if of != "" {
		why += "_of"
	}
	return language.Fill(cmp.Or(w.Lacks[why], w.Lacks[""]), "who", of, "rule", rule)
}

// unrouted returns what happened where a stage with these lines has no route: of one that finds people, who aren't
// those that the rule needs, it isn't said that nobody is found.
func (w endWords) unrouted(r aggregate.Reason, lines []string) string {
	if len(lines) > 1 {
		if text := w.Unmet[r]; text != "" && slices.Contains([]string{rules.LeftPeople, rules.LeftMany, rules.LeftChannel,
			rules.LeftAlone}, lines[1]) {
			return text
		}
	}
	return w.Sentences[r]
}
