package infra_test

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

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
