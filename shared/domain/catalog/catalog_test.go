package catalog_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Each file has every text in every language, and mentions nothing that the tool does not have.
func TestEachFileIsWhole(t *testing.T) {
	named := regexp.MustCompile(`\{(\w+)\}`)
	for _, f := range expect.Value(catalog.Files())(t) {
		var input struct{ Properties map[string]any }
		expect.NoError(t, json.Unmarshal(f.Input, &input))
		texts := map[string]language.Texts{"title": f.Title, "about": f.About}
		if f.Line != nil {
			texts["line"] = f.Line
		}
		for name, a := range f.Arguments {
			own := map[string]language.Texts{"other": a.Other, "null": a.Null, "absent": a.Absent}
			for value, words := range a.Is {
				own["is "+value] = words
			}
			for of, words := range own {
				if words != nil {
					texts[name+" "+of] = words
				}
				for _, is := range named.FindAllStringSubmatch(words.In("ja")+words.In("en"), -1) {
					expect.That(t, is[1] == name, "%s: %s speaks of {%s}", f.Name, name, is[1])
				}
			}
		}
		whatIsShown(t, f, input.Properties)
		if f.Demo != nil {
			texts["request of demo"] = f.Demo.Request
			for _, locale := range language.All {
				if w := f.Demo.Words[locale]; w.From == "" || w.Things == "" || w.Tab == "" || w.Handled == "" ||
					slices.ContainsFunc(f.Demo.Columns, func(key string) bool { return w.Columns[key] == "" }) {
					t.Errorf("%s: the demo lacks words in %s: %+v", f.Name, locale, w)
				}
			}
			_, err := regexp.Compile(f.Demo.Asks)
			expect.That(t, err == nil && f.Demo.Asks != "", "%s: asks: %q, %v", f.Name, f.Demo.Asks, err)
		}
		for what, text := range texts {
			for _, locale := range language.All {
				said, ok := text[locale]
				expect.That(t, ok && (said != "" || strings.HasSuffix(what, " absent")),
					"%s has no %s in %s: write it into shared/domain/catalog/%s.json", f.Name, what, locale, f.Name)
				for _, is := range named.FindAllStringSubmatch(said, -1) {
					expect.That(t, input.Properties[is[1]] != nil, "%s: %s speaks of {%s}, which is no argument", f.Name, what, is[1])
				}
			}
		}
		for name := range input.Properties {
			for _, locale := range language.All {
				expect.That(t, f.Line == nil || strings.Contains(f.Line[locale], "{"+name+"}"),
					"%s: its line in %s does not say {%s}", f.Name, locale, name)
			}
		}
	}
}

// whatIsShown checks that each argument of a tool that is told by its act has a name that people can read.
func whatIsShown(t *testing.T, f catalog.File, arguments map[string]any) {
	t.Helper()
	for _, locale := range language.All {
		for name := range arguments {
			called := f.Shown.Names["/"+name][locale]
			expect.That(t, f.Shown.Act == "" || rules.IsName(called, rules.MaxNamed),
				"%s has no name for %s in %s: %q", f.Name, name, locale, called)
		}
	}
}
