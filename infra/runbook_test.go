package infra_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

// The runbook has each alarm's name in a heading, and below it what the alarm means, where to look and what to do. What
// it refers to exists: alarms, procedures, and outputs of the stack.
func TestRunbookKnowsEveryAlarm(t *testing.T) {
	runbook := textOf(t, "runbook.md")
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	alarms := s.of("AWS::CloudWatch::Alarm")
	sections := map[string]string{}
	for _, section := range regexp.MustCompile(`(?m)^#{2,3} `).Split(runbook, -1)[1:] {
		title, body, _ := strings.Cut(section, "\n")
		for name := range strings.SplitSeq(title, ", ") {
			sections[name] = body
			expect.That(t, !strings.HasSuffix(name, "Alarm") || slices.Contains(alarms, name), "%s is no alarm", name)
		}
		sections[title] = body
	}
	for _, id := range alarms {
		for _, part := range []string{"Means", "See", "Do"} {
			expect.That(t, strings.Contains(sections[id], "\n**"+part+".** "), "%s: **%s.** is missing", id, part)
		}
	}
	for _, m := range regexp.MustCompile("`([A-Za-z]+Alarm)`").FindAllStringSubmatch(runbook, -1) {
		expect.That(t, slices.Contains(alarms, m[1]), "the text names %s, which is no alarm", m[1])
	}
	for _, m := range regexp.MustCompile(`(?:see|then|See)\s+\*([^*]+)\*`).FindAllStringSubmatch(runbook, -1) {
		name := strings.Join(strings.Fields(m[1]), " ")
		expect.That(t, sections[name] != "", "the text names the procedure %s, which has no section", name)
	}
	for _, m := range regexp.MustCompile(`<([A-Z][A-Za-z]+)>`).FindAllStringSubmatch(runbook, -1) {
		expect.That(t, strings.Contains(s.text, "\n  "+m[1]+":\n    Value:") ||
			strings.Contains(s.text, "\n  "+m[1]+":\n    Description:") || m[1] == "RestoredTable", "<%s> is no output", m[1])
	}
}

// Pasting the secret replaces all of it. Members that a page leaves out, such as those for signing in, would be lost.
func TestTheSlackSecretIsPastedWhole(t *testing.T) {
	for _, name := range []string{"../README.md", "runbook.md"} {
		text := textOf(t, name)
		pasted := regexp.MustCompile("```json\\s+(\\{\"signing_secret\".*\\})").FindStringSubmatch(text)
		if pasted == nil {
			t.Errorf("%s pastes no Slack secret", name)
			continue
		}
		var members map[string]string
		expect.NoError(t, json.Unmarshal([]byte(pasted[1]), &members))
		for f := range reflect.TypeFor[secret.SlackSecret]().Fields() {
			member := f.Tag.Get("json")
			_, ok := members[member]
			expect.That(t, ok || member == "" || member == "api_url", "%s leaves out %s", name, member)
		}
	}
}

// The shell's history keeps command lines, and ps shows them to everybody.
func TestNoSecretStandsOnACommandLine(t *testing.T) {
	given := regexp.MustCompile(`--secret-string\s+['"{]|\b[A-Z_]*(KEY|SECRET|TOKEN)[A-Z_]*=…|Bearer (xox|sk-|…)`)
	pages := textsBelow(t, []string{".md"}, repository)
	expect.That(t, len(pages) >= 10, "%d pages were read", len(pages))
	for path, text := range pages {
		for n, line := range strings.Split(text, "\n") {
			expect.Is(t, given.FindString(line), "", "%s:%d gives a secret on a command line", path, n+1)
		}
	}
}
