package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/model"
	"ringi/shared/words/language"
)

// ended answers after a result: it says who joined, how an action ended, or repeats the first line.
func (t talk) ended(result string) model.Response {
	if said := t.counted(result); said != "" {
		return t.say(said)
	}
	if said := t.did(result); said != "" {
		return t.say(said)
	}
	// in the other language the person reads the result only on the card; what was refused at once has none
	first, _, _ := strings.Cut(result, "\n")
	if language.Of(first, language.All[0]) == t.locale || !strings.Contains(first, "#") {
		return t.say(t.words["result"], "\n", first)
	}
	return t.say(t.words["card"])
}

// counted says who joined in the month that the person asked for; empty if the result has no employees.
func (t talk) counted(result string) string {
	_, data, _ := strings.Cut(result, "{")
	var got struct {
		Employees []struct {
			Name   string `json:"display_name"`
			Joined string `json:"entry_date"`
		}
	}
	if json.NewDecoder(strings.NewReader("{"+data)).Decode(&got) != nil || got.Employees == nil {
		return ""
	}
	month := 0
	if m := agentForm("-month").FindStringSubmatch(t.asked.text); m != nil {
		if month = number(m[1]) + monthNamed(m[2]); month > 12 {
			month = 0
		}
	}
	var names []string
	for _, e := range got.Employees {
		if day, err := time.Parse(time.DateOnly, e.Joined); err == nil && (month == 0 || int(day.Month()) == month) {
			names = append(names, "\n"+e.Name+" ("+e.Joined+")")
		}
	}
	slices.Sort(names)
	return fmt.Sprintf(t.words["counted"], len(got.Employees), len(names)) + strings.Join(names, "")
}

// maxShown is the most lines of output that an answer repeats.
const maxShown = 8

// did says how an action ended: the exit code, tests, changed files, or the last lines of the output. It is empty if the
// action was not carried out.
func (t talk) did(result string) string {
	m, w := agentForm("-ended").FindStringSubmatch(result), t.words
	if m == nil {
		return ""
	}
	told, output := result, ""
	if at := agentForm("-output").FindStringSubmatchIndex(result); at != nil {
		told, output = result[:at[0]], agentForm("-number").ReplaceAllString(result[at[2]:at[3]], "")
	}
	var facts []string
	fact := func(word string, values ...any) {
		said := fmt.Sprintf(w[word], values...)
		if strings.HasPrefix(said, "1 ") {
			said = strings.NewReplacer("files ", "file ", "tests ", "test ").Replace(said)
		}
		facts = append(facts, said)
	}
	if x := agentForm("-exit").FindStringSubmatch(told); x != nil {
		fact("exit", x[1])
	}
	var codes []string
	for _, x := range agentForm("-ran").FindAllStringSubmatch(told, -1) {
		codes = append(codes, cmp.Or(x[1], "–"))
	}
	if len(codes) > 0 {
		fact("codes", len(codes), strings.Join(codes, ", "))
	}
	passed, failed, ran := tests(output)
	if ran {
		fact("passed", passed)
	}
	if failed > 0 {
		facts[len(facts)-1] += fmt.Sprintf(w["broken"], failed)
	}
	if x := agentForm("-changed").FindStringSubmatch(told); x != nil {
		fact("changed", x[1], x[2], x[3])
	}
	if x := agentForm("-pulled").FindStringSubmatch(told); x != nil {
		fact("draft", x[1])
	}
	text := w["failed"]
	if m[1]+m[2] != "" {
		text = w["done"]
	}
	if len(facts) > 0 {
		text += w["colon"] + strings.Join(facts, w["comma"])
	}
	text += w["stop"]
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(output, "```", "` ` `"), "\n"), "\n")
	if last := strings.Trim(strings.Join(lines[max(0, len(lines)-maxShown):], "\n"), "\n"); last != "" && !ran {
		text += "\n```\n" + last + "\n```"
	}
	return text
}

// tests counts the tests in the output of Node's or Python's own runner.
func tests(output string) (passed, failed int, ran bool) {
	for _, m := range agentForm("-node").FindAllStringSubmatch(output, -1) {
		if ran = true; m[1] == "pass" {
			passed += number(m[2])
		} else {
			failed += number(m[2])
		}
	}
	if m := agentForm("-unittest").FindStringSubmatch(output); m != nil {
		if b := agentForm("-broken").FindStringSubmatch(output); b != nil {
			failed += number(b[1]) + number(b[2])
		}
		passed, ran = passed+number(m[1])-failed, true
	}
	return passed, failed, ran
}
