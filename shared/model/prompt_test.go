package model_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

var update = flag.Bool("update", false, "write the sums of the prompts as they are")

// Whoever reads a log must know which words were asked with: a prompt whose words
// change gets another version. The file has one line for each, with the sum of its words.
func TestAChangedPromptHasAnotherVersion(t *testing.T) {
	const kept = "testdata/prompts.txt"
	names, err := filepath.Glob("prompts/*.md")
	expect.Must(t, err == nil && len(names) != 0, "%d prompts, %v", len(names), err)
	before := map[string]string{} // by name and version
	old, err := os.ReadFile(kept)
	expect.Must(t, err == nil || *update, "%v", err)
	for line := range strings.Lines(string(old)) {
		name, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		before[name] = sum
	}
	var now []string
	for _, name := range names {
		text := expect.Value(os.ReadFile(name))(t)
		first, words, _ := strings.Cut(string(text), "\n")
		id := strings.TrimSuffix(filepath.Base(name), ".md") + "." + strings.TrimPrefix(first, "version: ")
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.TrimSpace(words))))[:16]
		was, known := before[id]
		expect.That(t, !known || was == sum, "%s has other words than version %s: raise its first line", name, id)
		now = append(now, id+" "+sum)
	}
	slices.Sort(now)
	text := strings.Join(now, "\n") + "\n"
	if *update && !t.Failed() {
		expect.NoError(t, os.WriteFile(kept, []byte(text), 0o644))
		return
	}
	expect.Is(t, cmp.Diff(string(old), text), "", "run this test with -update")
}

// What the prompts promise must be what the data holds, in both languages.
func TestPromptsNameTheData(t *testing.T) {
	for purpose, names := range map[string][]string{
		"extract":   {"message", "thread", "more_tools", "now", "kind", "sentence", "title", "description", "priority", "task_type"},
		"draft":     {"task", "message", "now", "rejected_versions", "forbidden", "constraints", "server_tools", "spreadsheet_ids", "recipients", "departments", "max_rows"},
		"plan":      {"policy", "task", "message", "tools", "effect", "rejected_versions", "toolInput", "input", "output", "requester", "stepId", "order", "title", "description", "expectedOutput", "requiresHumanCheck"},
		"summarize": {"facts", "steps"},
		"execute":   {"facts", "steps", "message", "order", "tool", "arguments", "done"},
	} {
		for _, locale := range language.All {
			text := expect.Value(os.ReadFile("prompts/" + purpose + "." + locale + ".md"))(t)
			for _, name := range append(names, "<data>") {
				expect.Has(t, string(text), "`"+name+"`", "%s.%s does not speak of `%s`", purpose, locale, name)
			}
		}
	}
}
