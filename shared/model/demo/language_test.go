package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
	"ringi/shared/words/language/languagetest"
)

func hasJapanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
}

// The English words contain no Japanese, except for names in the data.
func TestEnglishWordsAreEnglish(t *testing.T) {
	said := 0
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if said++; hasJapanese(v.String()) {
				t.Error(v.String())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				walk(v.MapIndex(k))
			}
		}
	}
	walk(reflect.ValueOf(*spoken.In("en")))
	expect.That(t, said >= 100, "only %d texts", said)
}

// A request in English is answered in English by every layer, even in a Japanese workspace and with Japanese names.
func TestEnglishIsAnsweredInEnglish(t *testing.T) {
	known := strings.NewReplacer("営業部", "", "人事部", "", "開発部", "", "会議は3時からです", "", "来期計画", "", "佐藤", "", "今期", "")
	var names []map[string]string
	for _, tool := range allowed(t).Tools {
		names = append(names, map[string]string{"name": tool.Name})
	}
	tools := expect.Value(json.Marshal(names))(t)
	steps := `[{"title":"List employees","tool":"list_employees","facts":{"count":3}},{"title":"Calculate overtime","tool":"calculate_overtime","facts":{"total_overtime_hours":3,"over_45h":0,"over_80h":0,"over_100h":0,"months":1,"note":"複数月の平均は判定できません"}},
		{"title":"Write to the sheet","tool":"write_rows_to_google_sheet","facts":{"updated_rows":3,"url":"https://example.com"}},{"title":"Notify on completion","tool":"send_slack_dm","facts":{}}]`
	messages := []string{
		"Check overtime of 営業部 for last month", "Attendance of the sales department for July to September, no DM", "List the employees of hr and write them to the sheet “来期計画”",
		"Send “会議は3時からです” to <@U0SANDSUZU>", "Book a meeting room for tomorrow at 10", "help", "What can you do?", "Buy a printer for 営業部, please",
		"Every month, send me the attendance", "Overtime of 佐藤さん", "Cancel the request for 今期", "Show me pay of the sales department", "attendance of October 1 to 15 and validate it", "demo: human check employees list for last month",
	}
	for _, l := range allLists() {
		messages = append(messages, l.Demo.Request["en"])
		steps = strings.Replace(steps, "[", fmt.Sprintf(`[{"title":%q,"tool":%q,"facts":{"count":3}},`, l.Title["en"], l.Name), 1)
	}
	for _, message := range messages {
		for _, reason := range []string{"", "Also for 人事部, and without the sheet", "Make it shorter", "step 2 is not needed", "use xyzzy"} {
			earlier, policy := "[]", ""
			if reason != "" {
				earlier = fmt.Sprintf(`[{"reason":%q,"steps":[]}]`, reason)
			}
			for _, purpose := range []string{"extract", "draft", "plan", "summarize"} {
				did := "[]"
				if purpose == "summarize" {
					did = steps
				}
				text := fmt.Sprintf(`<data>{"message":%q,"now":%q,"locale":"ja","requester":"U0SANDSATO","rejected_versions":%s,"policy":%s,"tools":%s,"server_tools":["rooms.list_rooms"],"steps":%s}</data>`,
					message, written, earlier, expect.Value(json.Marshal(policy))(t), tools, did)
				answer := expect.Value(Answer(Question{Purpose: purpose, Try: 2, Text: text}))(t)
				expect.That(t, answer != "" && !hasJapanese(known.Replace(strings.ReplaceAll(answer, "さん", ""))),
					"%s, %q: %s: %s", message, reason, purpose, answer)
				if purpose == "draft" {
					var drafted struct{ Policy string }
					expect.NoError(t, json.Unmarshal([]byte(answer), &drafted))
					policy = drafted.Policy
				}
			}
		}
	}
}

// A word that is missing in one language would otherwise be noticed only when the demo needs it.
func TestEachLanguageHasAllWords(t *testing.T) {
	languagetest.Whole[words](t, files, "words")
	for _, locale := range language.All {
		for _, l := range allLists() {
			for form := range l.Demo.Words[locale].Forms {
				expect.That(t, spoken.In(locale).List[form] != "",
					"%s has a form %q in %s, and the demo has none of that name", l.Name, form, locale)
			}
		}
	}
}

// Words are looked up by name: each name in the code is one that each language has.
func TestTheCodeNamesOnlyWordsThatThereAre(t *testing.T) {
	named := regexp.MustCompile(`(Steps|Topics|words|w)\["(\w+)"\](?:\["(\w+)"\])?|` +
		`(say|Say)\("(\w+)"|(?:\.Form|words, )\(?"(\w+)"`)
	found := 0
	for _, path := range expect.Value(filepath.Glob("*.go"))(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(string(expect.Value(os.ReadFile(path))(t)), -1) {
			found++
			for _, locale := range language.All {
				w, known := spoken.In(locale), false
				switch {
				case m[4] != "":
					known = w.Say[m[5]] != ""
				case m[1] == "Steps":
					known = w.Steps[m[2]].Title != ""
				case m[1] == "Topics":
					known = w.Topics[m[2]] != nil && (m[3] == "" || w.Topics[m[2]][m[3]] != "")
				case m[1] == "words", m[1] == "w":
					known = w.Agent[m[2]] != ""
				default:
					known = w.List[m[6]] != "" || w.Topics["meeting"][m[6]] != "" || w.Topics["purchase"][m[6]] != ""
				}
				expect.That(t, known, "%s: %s in %s", path, m[0], locale)
			}
		}
	}
	expect.That(t, found > 30, "only %d names", found)
}

// A policy or summary whose template fails would show the error's text to people.
func TestEachTemplateCanBeFilledIn(t *testing.T) {
	for _, name := range language.All {
		for _, x := range requests(t, name) {
			w := understood(t, x[0])
			for _, is := range []map[string]bool{w.Is, {"brief": true, "check": true, "validate": true, "nodm": true},
				{"nosheet": true, "notools": true}} {
				w.Is = is
				said := draft(w)
				expect.That(t, !strings.Contains(said, "template:") && !strings.Contains(said, "<no value>") && !strings.Contains(said, "{"),
					"%s: %s", x[0], said)
			}
		}
		for _, of := range []string{"calculate_overtime", "write_rows_to_google_sheet", bookRoom, placeOrder,
			"send_slack_dm"} {
			said := spoken.In(name).text("sum", object{"tool": of, "topic": "overtime", "f": map[string]any{}})
			expect.That(t, said != "" && !strings.Contains(said, "template:"), "%s in %s: %q", of, name, said)
		}
	}
}
