package language_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/shared/runtime/expect"
)

// observed is a test whose errors are recorded.
type observed struct {
	*testing.T
	errors []string
}

func (o *observed) Errorf(format string, args ...any) {
	o.errors = append(o.errors, fmt.Sprintf(format, args...))
}

func TestWhatAFileLacks(t *testing.T) {
	type words struct {
		Yes  string
		More map[string]string
		Days [2]string
		Deep struct{ No string }
	}
	for about, tt := range map[string]struct {
		change func(w *words)
		want   []string
	}{
		"nothing":             {func(*words) {}, nil},
		"a text":              {func(w *words) { w.Yes = "" }, []string{".Yes"}},
		"a placeholder":       {func(w *words) { w.Yes = "yes" }, []string{"{name} in .Yes"}},
		"a text further down": {func(w *words) { w.Deep.No = "" }, []string{".Deep.No"}},
		"a key":               {func(w *words) { delete(w.More, "b") }, []string{".More.b"}},
		"a key's text":        {func(w *words) { w.More["b"] = "" }, []string{".More.b"}},
		"all keys":            {func(w *words) { w.More = nil }, []string{".More", ".More.a", ".More.b"}},
		"one of a list":       {func(w *words) { w.Days[1] = "" }, []string{".Days"}},
	} {
		w := words{"yes {name}", map[string]string{"a": "A", "b": "B"}, [2]string{"1", "2"}, struct{ No string }{"no"}}
		whole := expect.Value(json.Marshal(w))(t)
		tt.change(&w)
		o := &observed{T: t}
		expect.Whole[words](o, fstest.MapFS{"texts/ja.json": {Data: whole},
			"texts/en.json": {Data: expect.Value(json.Marshal(w))(t)}}, "texts")
		var got []string
		for _, said := range o.errors {
			lacks, of := strings.CutPrefix(said, "texts/en.json has no ")
			expect.That(t, of, "%s: %s", about, said)
			got = append(got, lacks)
		}
		slices.Sort(got)
		expect.Same(t, tt.want, slices.Compact(got))
	}
}
