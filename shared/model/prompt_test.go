package model_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

var update = flag.Bool("update", false, "write the sums of the prompts as they are")

// A logged version must identify the wording of a prompt, so each change of the wording needs a new version. The file
// has a line for each version with the hash of its wording.
func TestAChangedPromptHasAnotherVersion(t *testing.T) {
	const kept = "testdata/prompts.txt"
	names, err := filepath.Glob("prompts/*.md")
	expect.Must(t, err == nil && len(names) != 0, "%d prompts, %v", len(names), err)
	before := map[string]string{} // hashes by name and version
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

// The prompts name these members of the data, in each language.
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

// All that are shown files are told what read-file writes into their texts. One ~ is no mark there: 9:00~12:00 is a
// span.
func TestPromptsNameTheMarksOfFiles(t *testing.T) {
	for _, prompt := range []string{"prompts/extract", "prompts/draft", "prompts/plan", "turn/prompts/chat"} {
		for _, locale := range language.All {
			text := string(expect.Value(os.ReadFile(prompt + "." + locale + ".md"))(t))
			for _, mark := range []string{"`~~`", "`[invisible: …]`", "`hidden`", "`shown`", "`not shown`",
				"`covered by merged cells`", "`=SUM(B2:B3) [saved: 0]`", "`remarks`", "`" + string(isolated.HasPictures) + "`",
				"`" + string(isolated.HasColors) + "`"} {
				expect.Has(t, text, mark, "%s.%s does not speak of %s", prompt, locale, mark)
			}
			expect.That(t, !strings.Contains(text, "`~` または") && !strings.Contains(text, "`~` or"),
				"%s.%s takes a single ~ in a file for a mark", prompt, locale)
		}
	}
}

func mentioning(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<@U0PERSON%03d>、<@U0PERSON%03d>、", i, i)
	}
	text, _ := json.Marshal(map[string]string{"policy": "完了したら、" + b.String() + "に知らせます。"})
	return string(text)
}

// If a policy mentions too many people, the model is asked again with the limit. After the second such policy people
// are told how many there were.
func TestAPolicyMentionsOnlySoMany(t *testing.T) {
	in := model.DraftInput{Task: task.Task{Title: "t", Description: "d"}, Request: "r", Locale: "ja", Now: now()}
	g := says(mentioning(21), mentioning(20))
	if policy, _, err := model.Draft(t.Context(), g, in); err != nil || !strings.Contains(policy, "U0PERSON019") {
		t.Errorf("%q, %v", policy, err)
	}
	if again := told(t, g.asked[1]); !strings.Contains(again, "mentions 21 people") || !strings.Contains(again, "the limit is 20") {
		t.Errorf("the model is told %s", again)
	}
	_, _, err := model.Draft(t.Context(), says(mentioning(30), mentioning(100)), in)
	if f := model.Failure(err); f.Reason != task.ReasonTooManyPeople || f.Detail != "100/20" {
		t.Errorf("%+v", f)
	}
	_, _, err = model.Draft(t.Context(), says(mentioning(30), `{"policy":""}`), in)
	if f := model.Failure(err); f.Reason != task.ReasonModelBadOutput || !errors.As(err, new(*model.OutputError)) {
		t.Errorf("%+v", f)
	}
}

// The demo model itself refuses a request that names too many people.
func TestTheDemoTellsOnlySoMany(t *testing.T) {
	request := "今月の勤怠をまとめて、"
	for i := range 11 {
		request += fmt.Sprintf("<@U0PERSON%03d>、", i)
	}
	got, _, err := model.Extract(t.Context(), demo.Layers{},
		model.ExtractInput{Text: strings.TrimSuffix(request, "、") + "に知らせて", Locale: "ja", Now: now()})
	expect.That(t, err == nil && got.Kind == "unsupported" && strings.Contains(got.Sentence, "10 人まで"),
		"%+v, %v", got, err)
}

// If a policy is too long for a card, people are told that, and not that the answer was unusable.
func TestPeopleAreToldOfAPolicyThatNoCardShowsWhole(t *testing.T) {
	long := `{"policy":"` + strings.Repeat("勤怠", model.MaxPolicy) + `"}`
	for name, answers := range map[string][2]string{"what does not fit": {`{"policy":"目的"}`, `{"policy":"目的"}`}, "more than there may": {long, long}} {
		in := model.DraftInput{Locale: "ja", Now: now(), Try: 1, Fits: func(string) bool { return false }}
		_, _, err := model.Draft(t.Context(), says(answers[0], answers[1]), in)
		expect.Is(t, model.Failure(err).Reason, task.ReasonPolicyTooLong, "%s: %v", name, err)
		for _, other := range []string{`{"policy":""}`, "目的", `{"plan":"目的"}`} {
			_, _, err = model.Draft(t.Context(), says(answers[0], other), in)
			expect.Is(t, model.Failure(err).Reason, task.ReasonModelBadOutput, "%s, then %s: %v", name, other, err)
		}
	}
}
