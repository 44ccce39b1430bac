package expect

import (
	"reflect"
	"slices"
	"testing"
)

func TestWhatAFileLacks(t *testing.T) {
	type words struct {
		Yes  string
		More map[string]string
		Days [2]string
		Deep struct{ No string }
	}
	whole := words{"yes", map[string]string{"a": "A", "b": "B"}, [2]string{"1", "2"}, struct{ No string }{"no"}}
	for about, tt := range map[string]struct {
		change func(w *words)
		want   []string
	}{
		"nothing":             {func(*words) {}, nil},
		"a text":              {func(w *words) { w.Yes = "" }, []string{".Yes"}},
		"a text further down": {func(w *words) { w.Deep.No = "" }, []string{".Deep.No"}},
		"a key":               {func(w *words) { w.More = map[string]string{"a": "A"} }, []string{".More.b"}},
		"a key's text":        {func(w *words) { w.More = map[string]string{"a": "A", "b": ""} }, []string{".More.b"}},
		"all keys":            {func(w *words) { w.More = nil }, []string{".More.a", ".More.b", ".More"}},
		"one of a list":       {func(w *words) { w.Days[1] = "" }, []string{".Days"}},
	} {
		w := whole
		tt.change(&w)
		got := lacks("", reflect.ValueOf(w), reflect.ValueOf(whole))
		slices.Sort(got)
		slices.Sort(tt.want)
		That(t, slices.Equal(got, tt.want), "%s: %q, want %q", about, got, tt.want)
	}
}
