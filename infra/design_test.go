package infra

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// What design.md names exists: each function, state, member of the head and word of code.
func TestTheDesignIsOfThisCode(t *testing.T) {
	b := expect.Value(os.ReadFile("design.md"))(t)
	design := string(b)
	names := func(what string, all []string) {
		t.Helper()
		if len(all) == 0 {
			t.Errorf("there is no %s", what)
		}
		for _, name := range all {
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(design) {
				t.Errorf("design.md does not name the %s %s", what, name)
			}
		}
	}
	names("function", folders(t, "../functions"))
	names("state", states(t))
	names("member of the head", members(reflect.TypeFor[task.Head]()))

	code := sources(t)
	for _, quoted := range regexp.MustCompile("`([A-Za-z_]{4,}[#A-Za-z_]*)`").FindAllStringSubmatch(design, -1) {
		if !strings.Contains(code, quoted[1]) {
			t.Errorf("design.md names %s, which is nowhere in the code", quoted[1])
		}
	}
	texts := strings.Join(regexp.MustCompile("`[^`]*`|\"[^\"\n]*\"").FindAllString(product(t), -1), "\n")
	named, keys := prefixes(design), prefixes(texts)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !named[key] {
			t.Errorf("design.md does not name the rows %s#", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if !keys[key] && !strings.Contains(texts, "#"+key) {
			t.Errorf("design.md names rows %s#, and the code has none", key)
		}
	}
}

// prefixes are the beginnings of keys that a text names, without their #.
func prefixes(text string) map[string]bool {
	out := map[string]bool{}
	for _, key := range regexp.MustCompile(`\b([A-Z]{2,})#`).FindAllStringSubmatch(text, -1) {
		out[key[1]] = true
	}
	return out
}

// product is the code of shared and functions without its tests, as one text.
func product(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range []string{"../shared", "../functions"} {
		expect.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		}))
	}
	return all.String()
}

func folders(t *testing.T, in string) (out []string) {
	t.Helper()
	entries := expect.Value(os.ReadDir(in))(t)
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

func states(t *testing.T) (out []string) {
	t.Helper()
	for _, name := range machines(t) {
		b := expect.Value(os.ReadFile(name))(t)
		var m nested
		expect.NoError(t, json.Unmarshal(b, &m))
		out = append(out, m.names()...)
	}
	return out
}

// nested is a state machine, or the one that a Map holds.
type nested struct {
	States map[string]struct{ ItemProcessor *nested }
}

func (m nested) names() (out []string) {
	for name, s := range m.States {
		out = append(out, name)
		if s.ItemProcessor != nil {
			out = append(out, s.ItemProcessor.names()...)
		}
	}
	return out
}

// machines are the files of all state machines.
func machines(t *testing.T) []string {
	t.Helper()
	return expect.Value(filepath.Glob("*.asl.json"))(t)
}

// members are the attributes of a row, but for those that every row has.
func members(row reflect.Type) (out []string) {
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("json"), ",")
		switch name {
		case "tenant_id", "task_id", "requester", "created_at", "changed_at":
		default:
			out = append(out, name)
		}
	}
	return out
}

// sources are all that the product is made of, as one text.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range append(machines(t), "../shared", "../functions", "../template.yaml", "../infra/local") {
		expect.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch filepath.Ext(path) {
			case ".go", ".yaml", ".json":
			default:
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		}))
	}
	return all.String()
}
