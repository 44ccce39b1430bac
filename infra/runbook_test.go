package infra_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

// Who is woken at night finds the alarm's name as a heading, and below it what
// it means, where to look and what to do.
func TestRunbookKnowsEveryAlarm(t *testing.T) {
	b := expect.Value(os.ReadFile(filepath.Join(repository, "infra/runbook.md")))(t)
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	alarms := s.of("AWS::CloudWatch::Alarm")
	sections := map[string]string{}
	for _, section := range regexp.MustCompile(`(?m)^#{2,3} `).Split(string(b), -1)[1:] {
		title, body, _ := strings.Cut(section, "\n")
		if sections[title] != "" {
			t.Errorf("%s has two sections", title)
		}
		sections[title] = body
	}
	for _, id := range alarms {
		body, ok := sections[id]
		if !ok {
			t.Errorf("%s has no section", id)
			continue
		}
		for _, part := range []string{"Means", "See", "Do"} {
			if !regexp.MustCompile(`(?m)^\*\*` + part + `\.\*\* \S.{20,}`).MatchString(body) {
				t.Errorf("%s: **%s.** is missing", id, part)
			}
		}
	}
	for title := range sections {
		if strings.HasSuffix(title, "Alarm") && !slices.Contains(alarms, title) {
			t.Errorf("%s is in the runbook and not in the template", title)
		}
	}
	// What the text refers to exists.
	for _, m := range regexp.MustCompile("`([A-Za-z]+Alarm)`").FindAllStringSubmatch(string(b), -1) {
		if !slices.Contains(alarms, m[1]) {
			t.Errorf("the text names %s, which is no alarm", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`see \*([^*]+)\*|then \*([^*]+)\*`).FindAllStringSubmatch(string(b), -1) {
		if name := strings.Join(strings.Fields(m[1]+m[2]), " "); sections[name] == "" {
			t.Errorf("the text names the procedure %s, which has no section", name)
		}
	}
	// A command's <Word> is an output, but for what the text explains.
	for _, m := range regexp.MustCompile(`<([A-Z][A-Za-z]+)>`).FindAllStringSubmatch(string(b), -1) {
		if !strings.Contains(s.text, "\n  "+m[1]+":\n    Value:") && !strings.Contains(s.text, "\n  "+m[1]+":\n    Description:") && m[1] != "RestoredTable" {
			t.Errorf("<%s> is no output", m[1])
		}
	}
}

// Who pastes the secret replaces all of it: what a text leaves out is lost, such as with what people sign in.
func TestTheSlackSecretIsPastedWhole(t *testing.T) {
	for _, name := range []string{"README.md", "infra/runbook.md"} {
		text := string(expect.Value(os.ReadFile(filepath.Join(repository, name)))(t))
		pasted := regexp.MustCompile("```json\\s+(\\{\"signing_secret\".*\\})").FindStringSubmatch(text)
		if pasted == nil {
			t.Errorf("%s pastes no Slack secret", name)
			continue
		}
		var members map[string]string
		expect.NoError(t, json.Unmarshal([]byte(pasted[1]), &members))
		for f := range reflect.TypeFor[secret.SlackSecret]().Fields() {
			member := f.Tag.Get("json")
			if _, ok := members[member]; !ok && member != "" && member != "api_url" {
				t.Errorf("%s leaves out %s", name, member)
			}
		}
	}
}

// What stands on a command line is kept by the shell's history and shown to everybody by ps.
func TestNoSecretStandsOnACommandLine(t *testing.T) {
	given := regexp.MustCompile(`--secret-string\s+['"{]|\b[A-Z_]*(KEY|SECRET|TOKEN)[A-Z_]*=…|Bearer (xox|sk-|…)`)
	var pages int
	err := filepath.WalkDir(repository, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != ".." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		pages++
		b, err := os.ReadFile(path)
		for n, line := range strings.Split(string(b), "\n") {
			if found := given.FindString(line); found != "" {
				t.Errorf("%s:%d gives a secret on a command line: %s", path, n+1, found)
			}
		}
		return err
	})
	if err != nil || pages < 10 {
		t.Errorf("%d pages were read: %v", pages, err)
	}
}
