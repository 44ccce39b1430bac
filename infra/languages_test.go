package infra_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// byLetters are the files that may name languages: those that recognize them by their letters, and the demo model,
// which understands two.
var byLetters = []string{
	"shared/words/language/language.go", "shared/words/language/of.go", "infra/contest/exec.go",
	"shared/model/demo/",
}

// If a text is in a map by locale, or behind a comparison with one, nobody notices that a new language lacks it. Calls
// of language.InEach don't compile until they have the new language.
func TestNothingAsksForOneLanguage(t *testing.T) {
	files := textsBelow(t, []string{".go"}, "../shared", "../functions", "connect", "contest")
	expect.Must(t, len(files) >= 500, "only %d files", len(files))
	for path, text := range files {
		name := filepath.Join("infra", path)
		if slices.ContainsFunc(byLetters, func(known string) bool { return strings.HasPrefix(name, known) }) {
			continue
		}
		set := token.NewFileSet()
		file := expect.Value(parser.ParseFile(set, path, text, parser.SkipObjectResolution))(t)
		for _, at := range languagesIn(file, strings.HasSuffix(path, "_test.go")) {
			t.Errorf("%s:%d names one language: use language.InEach, language.All or language.English", name, set.Position(at).Line)
		}
	}
}

// A missing prompt would else only be noticed when a model is asked in that language.
func TestEachPromptIsInEachLanguage(t *testing.T) {
	prompts := textsBelow(t, []string{".md"}, "../shared")
	maps.DeleteFunc(prompts, func(path, _ string) bool { return filepath.Base(filepath.Dir(path)) != "prompts" })
	expect.Must(t, len(prompts) >= 2*len(language.All), "only %d prompts", len(prompts))
	for path := range prompts {
		purpose := strings.TrimSuffix(path, ".md")
		purpose = strings.TrimSuffix(purpose, filepath.Ext(purpose))
		for _, locale := range language.All {
			expect.That(t, prompts[purpose+"."+locale+".md"] != "", "%s.%s.md is missing", purpose, locale)
		}
	}
}

func TestAnAskedLanguageIsSeen(t *testing.T) {
	for code, want := range map[string]int{
		`if locale == "en" { return 1 }`:                 1,
		`switch locale { case "ja": return 1 }`:          1,
		`if locale == language.English { return 1 }`:     1,
		`_ = map[string]string{"ja": "はい", "en": "yes"}`: 2,
		`_ = say("en")`: 1,
		`_ = words{Locale: "en", Types: agent.Called("en")}`:     0,
		`_ = say(language.English)`:                              0,
		`for _, l := range []string{"ja", "en"} { println(l) }`:  2,
		`_ = strings.HasPrefix(tag, "enter")`:                    0,
		`_ = language.InEach("はい", "yes").In(locale)`:            0,
		`_ = words{Is: func() bool { return locale == "en" }()}`: 1,
	} {
		file := expect.Value(parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() int { "+code+"; return 0 }", 0))(t)
		expect.Is(t, len(languagesIn(file, false)), want, "%s", code)
	}
	test := `package p; func f() { for _, l := range []string{"ja", "en"} { f(l) }; g("ja"); _ = map[string]string{"en": "yes"} }`
	file := expect.Value(parser.ParseFile(token.NewFileSet(), "", test, 0))(t)
	expect.Is(t, len(languagesIn(file, true)), 1, "a test's list of languages")
}

// languagesIn returns the places of a file that name a language, except for structs of one language's words, which have
// a field for it. A test may name languages one by one, but has to use language.All for a list of all.
func languagesIn(file *ast.File, test bool) (found []token.Pos) {
	var above []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		switch {
		case test:
			if list, ok := n.(*ast.CompositeLit); ok && len(list.Elts) > 1 && !slices.ContainsFunc(list.Elts, func(e ast.Expr) bool { return !isLocale(e) }) {
				found = append(found, n.Pos())
			}
		case isLocale(n) && !ofWords(above, n), isEnglish(n) && compared(above):
			found = append(found, n.Pos())
		}
		above = append(above, n)
		return true
	})
	return found
}

func isLocale(n ast.Node) bool {
	text, ok := n.(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return false
	}
	said, err := strconv.Unquote(text.Value)
	return err == nil && slices.Contains(language.All, said)
}

// isEnglish reports whether a node is language.English.
func isEnglish(n ast.Node) bool {
	name, ok := n.(*ast.SelectorExpr)
	return ok && name.Sel.Name == "English"
}

// ofWords reports whether a locale is the value of a field.
func ofWords(above []ast.Node, n ast.Node) bool {
	for i := len(above) - 1; i >= 0 && !compared(above[:i+1]); i-- {
		if field, ok := above[i].(*ast.KeyValueExpr); ok {
			return field.Key != n
		}
	}
	return false
}

// compared reports whether the last of these nodes compares its children.
func compared(above []ast.Node) bool {
	switch x := above[len(above)-1].(type) {
	case *ast.BinaryExpr:
		return x.Op == token.EQL || x.Op == token.NEQ
	case *ast.CaseClause:
		return true
	}
	return false
}
