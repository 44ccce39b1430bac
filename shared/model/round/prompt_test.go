package round

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// quotedWord matches a word that a prompt quotes.
var quotedWord = regexp.MustCompile("`([a-z_]+)`")

// In every language the prompts name exactly the members of the agents' data.
func TestPromptsNameWhatAgentsAreShown(t *testing.T) {
	full := brief{Request: "x", Team: "x", TeamID: "x", Round: 1, History: []past{{Submission: "x"}}, SecondsLeft: 1}
	data := map[string]any{
		"leader": full, "member": map[string]string{"task": "", "today": ""},
		"evaluator": map[string]any{"metric": "", "request": "", "submission": "", "today": "", "score": 0, "comment": ""},
		"metric":    nil,
	}
	files := expect.Value(fs.Glob(prompts, "prompts/*.md"))(t)
	of := map[string][]string{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "prompts/"), ".md")
		purpose, locale, _ := strings.Cut(name, ".")
		p := expect.Value(promptIn(purpose, locale))(t)
		kind, _, _ := strings.Cut(purpose, "-")
		if hasRules := strings.Contains(p.text, mark); hasRules != (kind != "metric") || strings.Count(p.text, mark) > 1 {
			t.Errorf("%s: a configuration could not take the place of what it says about the agent", name)
		}
		keys := string(expect.Value(json.Marshal(data[kind]))(t))
		for _, w := range quotedWord.FindAllStringSubmatch(p.text, -1) {
			of[purpose+"."+locale] = append(of[purpose+"."+locale], w[1])
			expect.That(t, strings.Contains(keys, `"`+w[1]+`"`) || w[1] == "task", "%s names %s, which is not shown", name, w[1])
		}
	}
	for name, words := range of {
		purpose, _, _ := strings.Cut(name, ".")
		for _, locale := range language.All {
			other := slices.Compact(slices.Sorted(slices.Values(of[purpose+"."+locale])))
			expect.Same(t, slices.Compact(slices.Sorted(slices.Values(words))), other)
		}
	}
	for _, locale := range language.All {
		for _, m := range teamconfig.BuiltIn {
			expect.Value(promptIn("metric-"+m.Name, locale))(t)
		}
		for _, x := range contest.AgentTypes {
			expect.Value(promptIn("member-"+string(x), locale))(t)
		}
	}
}
