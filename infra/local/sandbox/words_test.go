package sandbox_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// The panel must have a word in both languages for every status of rows and runs.
func TestThePanelHasAWordForEveryStatus(t *testing.T) {
	text := expect.Value(os.ReadFile("ui/i18n.js"))(t)
	_, words, _ := strings.Cut(string(text), "const statusWords = {")
	words, _, _ = strings.Cut(words, "\n};")
	all := []string{string(task.TaskAnswered), string(task.TaskRefused), aggregate.Superseded().Outcome, "asked", "parked", "waiting"}
	for s := range task.TaskMoves {
		all = append(all, string(s))
	}
	for s := range aggregate.GateMoves {
		all = append(all, string(s))
	}
	for s := range task.ExecutionMoves {
		all = append(all, string(s))
	}
	for s := range task.StepMoves {
		all = append(all, string(s))
	}
	for _, s := range all {
		n := len(regexp.MustCompile(`[{ ]`+s+`: "[^"]`).FindAllString(words, -1))
		expect.That(t, n == 2, "%s has %d words, want one in each language", s, n)
	}
}

// The panel must have a name in both languages for every type of row.
func TestThePanelHasAWordForEveryRow(t *testing.T) {
	named, words := string(expect.Value(os.ReadFile("ui/rows.js"))(t)), string(expect.Value(os.ReadFile("ui/i18n.js"))(t))
	for _, kind := range store.Kinds() {
		types := slices.Collect(maps.Keys(kind.Rows))
		for shared := range reflect.TypeFor[aggregate.Shared]().Fields() {
			row := shared.Type.Elem()
			if row.Kind() == reflect.Pointer {
				row = row.Elem()
			}
			types = append(types, reflect.New(row).Interface().(aggregate.Row).Type())
		}
		for _, typ := range types {
			word := regexp.MustCompile(`case "` + strings.ToUpper(typ) + `": return (?:n \? )?t\("(\w+)"`).FindStringSubmatch(named)
			if word == nil {
				t.Errorf("the panel does not name rows of the type %s: add a case to subject in infra/local/sandbox/ui/rows.js", typ)
			} else if n := len(regexp.MustCompile(`[{ ]`+word[1]+`: "[^"]`).FindAllString(words, -1)); n != 2 {
				t.Errorf("%s, for rows of the type %s, has %d words in infra/local/sandbox/ui/i18n.js, want one in each language", word[1], typ, n)
			}
		}
	}
}
