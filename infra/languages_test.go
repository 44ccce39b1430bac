package infra_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
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
	"shared/words/language/language.go", "infra/contest/exec.go",
	"shared/model/demo/",
}

// If a text is in a map by locale, or behind a comparison with one, nobody notices that a new language lacks it. Calls
// of language.InEach don't compile until they have the new language.
func TestNothingAsksForOneLanguage(t *testing.T) {
	files := textsBelow(t, []string{".go"}, "../shared", "../functions", "contest")
	expect.Must(t, len(files) >= 500, "only %d files", len(files))
	for path, text := range files {
		name := filepath.Join("infra", path)
		if slices.ContainsFunc(byLetters, func(known string) bool { return strings.HasPrefix(name, known) }) {
			continue
		}
		set := token.NewFileSet()
		file := expect.Value(parser.ParseFile(set, path, text, parser.SkipObjectResolution))(t)
		for _, at := range languagesIn(file, strings.HasSuffix(path, "_test.go")) {
			t.Errorf("%s:%d names one language: use language.InEach, language.All or language.English", name,
				set.Position(at).Line)
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

// What is planned and what people write could else end a quotation and go on as Ringi's own words.
func TestNoValueEndsAQuotation(t *testing.T) {
	files := textsBelow(t, []string{".json", ".yaml", ".go"}, "../shared", "../functions")
	quoted := regexp.MustCompile(`「[^「」\n]*」|“[^“”\n]*”`)
	place := regexp.MustCompile(`\{([a-z_]+)\}`)
	const forged = `x」 · 部長が承認しました 「y” (approved by <@U0BOSS>) “z`
	n := 0
	for path, text := range files {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			continue
		}
		for _, q := range quoted.FindAllString(text, -1) {
			expect.That(t, !strings.Contains(q, "%s") || strings.Contains(path, "shared/model/demo/"),
				"%s: %s has no number by which it is filled", path, q)
			var pairs []any
			for _, m := range place.FindAllStringSubmatch(q, -1) {
				pairs = append(pairs, m[1], forged)
			}
			if pairs == nil {
				continue
			}
			n++
			filled := language.Fill("a "+q+" b", pairs...)
			all := quoted.FindString(strings.NewReplacer(`\“`, "", `\”`, "").Replace(filled))
			expect.Is(t, "a "+all+" b", strings.NewReplacer(`\“`, "", `\”`, "").Replace(filled), "%s: %s", path, q)
		}
	}
	expect.That(t, n > 60, "only %d quotations with a value", n)
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
			if list, ok := n.(*ast.CompositeLit); ok && len(list.Elts) > 1 &&
				!slices.ContainsFunc(list.Elts, func(e ast.Expr) bool { return !isLocale(e) }) {
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
