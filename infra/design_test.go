package infra_test

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// design.md names each function, state and field of the head, and all code that it names exists.
func TestTheDesignIsOfThisCode(t *testing.T) {
	design := textOf(t, "design.md")
	names := func(what string, all []string) {
		t.Helper()
		expect.That(t, len(all) != 0, "there is no %s", what)
		for _, name := range all {
			expect.That(t, regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(design),
				"design.md does not name the %s %s", what, name)
		}
	}
	var functions, states []string
	for _, main := range expect.Value(filepath.Glob("../functions/*/main.go"))(t) {
		functions = append(functions, filepath.Base(filepath.Dir(main)))
	}
	names("function", functions)
	for name := range expect.Value(read(t.TempDir(), files(t)))(t).states() {
		states = append(states, name)
	}
	names("state", states)
	names("member of the head", slices.DeleteFunc(columns(reflect.TypeFor[task.Head]()),
		func(name string) bool { return slices.Contains(ofEveryRow, name) }))

	code := joined(files(t)) + joined(textsBelow(t, []string{".go", ".yaml", ".json"}, "../shared", "../functions", "local"))
	for _, quoted := range regexp.MustCompile("`([A-Za-z_]{4,}[#A-Za-z_]*)`").FindAllStringSubmatch(design, -1) {
		expect.That(t, strings.Contains(code, quoted[1]), "design.md names %s, which is nowhere in the code", quoted[1])
	}
	texts := strings.Join(regexp.MustCompile("`[^`]*`|\"[^\"\n]*\"").FindAllString(
		joined(codeBelow(t, "../shared", "../functions")), -1), "\n")
	named, keys := prefixes(design), prefixes(texts)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		expect.That(t, named[key], "design.md does not name the rows %s#", key)
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		expect.That(t, keys[key] || strings.Contains(texts, "#"+key), "design.md names rows %s#, and the code has none", key)
	}
}

// One drawing shows the way of a draft from the order to the stamped text: on one screen, with each commit in its turn.
func TestTheDesignDrawsTheWayOfADraft(t *testing.T) {
	_, after, found := strings.Cut(textOf(t, "design.md"), "The way of a draft,")
	_, drawn, fenced := strings.Cut(after, "```\n")
	drawn, _, closed := strings.Cut(drawn, "```")
	expect.Must(t, found && fenced && closed, "it is not drawn")
	lines := strings.Split(drawn, "\n")
	expect.That(t, len(lines) <= 40, "%d lines are more than a screen", len(lines))
	for _, l := range lines {
		expect.That(t, utf8.RuneCountInString(l) <= 120, "too wide: %s", l)
	}
	code := joined(codeBelow(t, "../shared", "../functions"))
	rest := drawn
	for _, step := range []string{
		"BeginPrompt", "SkipContest", "AskContest", "AwaitContest", "Begin", "contestMade", "PlayTeams", "Enter", "SaveRound", "JudgeRound", "TakeBest", "Withdraw",
		"Settle", "ContestEnded", "FinishContest", "FinishPrompt", "Approve", "PickDraft", "Reject",
	} {
		_, next, in := strings.Cut(rest, step)
		expect.Must(t, in, "%s is not drawn in its turn", step)
		rest = next
		if step != "AwaitContest" && step != "PlayTeams" { // states
			expect.That(t, strings.Contains(code, ") "+step+"("), "%s is drawn and no code has it", step)
		}
	}
	for _, state := range []string{"PROMPT#0001", "CONTEST#", "ROUND#01", "SUMMARY", "pending_approval"} {
		expect.Has(t, drawn, state)
	}
}

// prefixes returns the beginnings of keys that a text names, without their #.
func prefixes(text string) map[string]bool {
	out := map[string]bool{}
	for _, key := range regexp.MustCompile(`\b([A-Z]{2,})#`).FindAllStringSubmatch(text, -1) {
		out[key[1]] = true
	}
	return out
}

// ofEveryRow are attributes that every row has.
var ofEveryRow = []string{"tenant_id", "task_id", "requester", "created_at", "changed_at"}
